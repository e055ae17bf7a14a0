import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "../src/long.ts");

test("a long session ends as verified over many windows, with what only earlier ones showed; its summariser says nothing, lies or gives orders", () => {
  const out = execFileSync(process.execPath, [program, "--steps", "90", "--windows", "5", "--json"], { encoding: "utf8" });
  const found = JSON.parse(out) as { outcome: string; windows: number; judgements: number; flags: number; problems: string[] };
  expect(found.problems).toEqual([]);
  expect(found).toMatchObject({ outcome: "verified" });
  expect(found.windows).toBeGreaterThanOrEqual(5);
  expect(found.judgements).toBe(found.windows - 1);
  expect(found.flags).toBeGreaterThan(2);
}, 60_000);
