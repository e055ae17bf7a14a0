import type { CommandCheck, Evidence } from "@holdfast/protocol";
import { commandCheck } from "../src/index.ts";
import { makePlace, type Place } from "./place.ts";

/** A small project whose tests fail: an adder that subtracts. */
export const npmTest = commandCheck("node --run test");
export const wrong = "export const add = (a, b) => a - b;\n";
export const right = "export const add = (a, b) => a + b;\n";
export const testFile = `import { test } from "node:test";
import assert from "node:assert";
import { add } from "../src/add.js";
test("adds", () => assert.equal(add(1, 2), 3));
test("adds zero", () => assert.equal(add(0, 0), 0));
`;

export function makeAdder(): Place {
  const place = makePlace();
  place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
  place.write("src/add.js", wrong);
  place.write("test/add.test.js", testFile);
  place.write(".gitignore", "node_modules/\ndist/\n");
  place.commit();
  return place;
}

export function kinds(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap((one) => one.weaknesses.map((weakness) => weakness.kind));
}

/** Takes the baseline, does the work, and runs the check as the end of the turn would. */
export async function endingOf(place: Place, work: () => void | Promise<void>, check: CommandCheck = npmTest) {
  const baseline = await place.baseline(check);
  await work();
  const { evidence, verdict } = await place.round(baseline, check);
  return {
    verdict: verdict.verdict,
    heading: verdict.report.heading,
    kinds: kinds(evidence),
    reasons: verdict.report.reasons,
    evidence,
    report: verdict.report,
    forModel: verdict.forModel,
  };
}
