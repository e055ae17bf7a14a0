import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommandRecord, VerifierContext } from "@holdfast/runtime";
import { commandCheck } from "../src/index.ts";
import { definitionDigest } from "../src/definition.ts";
import { makePlace, pausesOf, type Place } from "./place.ts";

let place: Place;
/** What the records say of each run, by the call that started it. */
let records: Record<string, CommandRecord>;
beforeEach(() => {
  place = makePlace();
  records = { served: { type: "running", pid: 1 } };
  const none: CommandRecord = { type: "none", sameBoot: true };
  Object.assign(place.processes, { record: async (_session: string, id: string) => records[id] ?? none });
  place.write("a.txt", "a\n");
  place.commit();
});
afterEach(() => place.end());

const never = (): AbortSignal => new AbortController().signal;
const check = { ...commandCheck("true"), needs: ["npm run dev"] };

async function look(known: NonNullable<VerifierContext["needed"]>) {
  const baseline = await place.baseline(check);
  const context = { ...place.context(), runningTasks: ["r1", "r2"], needed: known };
  const evidence = await place.verifier.check(check, baseline, context, never());
  const given = { checks: [check], baseline, evidence: [evidence], changes: [], changesKnown: true, message: "done" };
  return { baseline, evidence, verdict: place.verifier.judge({ ...given, subject: await place.verifier.subject(baseline) }) };
}

const served = async (line: string) => {
  const baseline = await place.verifier.baseline([check], false, place.context(), never());
  return { ref: "r1", line, callId: "served", attempt: 1, subject: await place.verifier.subject(baseline) };
};

test("what a check needs goes on while it runs, all else stands still, and its evidence says so", async () => {
  const { baseline, evidence, verdict } = await look([await served("npm run dev")]);
  expect(baseline.evidence).toEqual([]);
  expect(evidence).toMatchObject({ run: { passed: true }, weaknesses: [], notes: ["while `npm run dev` ran"] });
  expect(pausesOf(place)).toEqual(["pause r2", "continue r2"]);
  expect(verdict).toMatchObject({ verdict: "pass", isLacking: false });
});

test("where it does not run, has ended, or another line runs in its place, the check is not run and nothing is refuted", async () => {
  const gone = { ...(await served("npm run dev")), callId: "gone" };
  for (const known of [[], [gone], [await served("npm run dev; node other.js")]]) {
    const { evidence, verdict } = await look(known);
    expect(evidence).toMatchObject({ run: { passed: false, output: "" }, weaknesses: [{ kind: "needs_unmet" }] });
    expect(verdict).toMatchObject({ verdict: "weak", isLacking: true, report: { criteria: [{ now: "not run", baseline: "not taken" }] } });
    expect(verdict.report.reasons).toEqual(["it was not run: it needs `npm run dev` running in the session, in the folder of the checks"]);
    expect(verdict.forModel).toContain("`npm run dev`");
  }
  expect(pausesOf(place)).toEqual([]);
});

test("what began before the last change may serve what was there before, however the files' times read", async () => {
  const known = await served("npm run dev");
  place.write("a.txt", "b\n");
  const { evidence, verdict } = await look([known]);
  const why = "it was not run: `npm run dev` was started before files last changed, and may not serve what they are now";
  expect(evidence.weaknesses).toEqual([{ kind: "needs_unmet", detail: why }]);
  expect(pausesOf(place)).toEqual([]);
  expect(verdict).toMatchObject({ verdict: "weak", isLacking: true });
  expect((await look([await served("npm run dev")])).verdict.verdict).toBe("pass");
});

test("what a check needs is part of its definition; one that needs nothing has the digest that it had", () => {
  const { needs: _, ...plain } = check;
  expect(definitionDigest({ ...plain, needs: [] })).toBe(definitionDigest(plain));
  expect(definitionDigest(check)).not.toBe(definitionDigest(plain));
});
