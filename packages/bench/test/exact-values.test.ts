import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { evaluate } from "../src/eval/exact-values.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-values-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A small corpus of our own in the form of the shared one: sixty values in logs, each of a component. */
const generator = `
export const rng = (seed) => { let n = seed.length; return { next: () => (n = (n * 48271 + 11) % 2147483647) }; };
export const KINDS = [
  { kind: "ticket", noun: "ticket", make: (r) => "TCK-" + r.next() },
  { kind: "colour", noun: "colour", make: (r) => "#" + (r.next() % 16777215).toString(16).padStart(6, "0") },
];
export function generate({ seed, perKind, kinds }) {
  const r = rng(seed + "xyz"), outputs = [], values = [], decoys = [];
  for (let i = 0; i < perKind; i++) {
    const lines = [];
    for (const k of kinds) {
      const entity = "unit-" + k.kind + "-" + i, value = k.make(r), decoy = k.make(r);
      lines.push("10:00 INFO [" + entity + "] the " + k.noun + " is " + value, "10:01 INFO [other-" + i + "-x] the " + k.noun + " is " + decoy);
      values.push({ id: "v" + values.length, kind: k.kind, value, forms: [value], output: "o" + i, entity, question: "Which " + k.noun + " did " + entity + " log?" });
      decoys.push({ value: decoy });
    }
    outputs.push({ id: "o" + i, tool: "bash", call: "tail", text: lines.concat(Array(30).fill("10:02 DEBUG [pool] heartbeat")).join("\\n") });
  }
  return { outputs, values, decoys };
}`;

test("values come back through compactions whatever a summariser says, and what binds stays in the window", async () => {
  await writeFile(join(folder, "generate.mjs"), generator);
  const { figures, misses } = await evaluate({ data: folder, count: 60, rest: ["--rounds=3"] });
  expect(misses).toEqual([]);
  const value = (start: string) => figures.find(({ name }) => name.startsWith(start))?.value;
  expect(value("values in the window")).toBe(1);
  expect(value("decoys or superseded")).toBe(0);
  expect(value("answers that have their own question")).toBe(0);
  expect(value("constraints")).toBe(1);
  expect(value("approvals")).toBe(1);
  expect(value("compactions")).toBe(3);
});
