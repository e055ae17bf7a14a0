import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Results } from "../src/suite/page.ts";

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "holdfast-bench-test-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const program = join(import.meta.dirname, "../src/bench.ts");

/** Groups that between them use every way of measuring. */
const groups = ["true", "confined", "retry", "open", "many", "waiting"];

test("the suite runs: each group gives rows with numbers, the counts are right, and the page shows them", () => {
  const [results, page] = [join(folder, "results.json"), join(folder, "page.md")];
  const args = ["--quick", "--seed", "7", "--only", groups.join(","), "--results", results, "--page", page];
  execFileSync(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const found = JSON.parse(readFileSync(results, "utf8")) as Results;
  expect(Object.keys(found)).toEqual(groups);
  const rows = Object.values(found).flatMap((group) => group.rows);
  for (const { value } of rows) expect(value).toMatch(/^-?[\d,]+(\.\d+)?/);
  const counts = rows.filter(({ spread, figure }) => spread === "" && !figure.startsWith("the oldest"));
  expect(counts.map(({ figure, isMet }) => [figure, isMet])).toEqual([
    ["4 sessions of 5 steps at once, ended well", true],
    ["commits a step with one call", true],
    ["commits a step with four calls in one answer", true],
    ["timers and handles for 50 waiting sessions", true],
  ]);
  const text = readFileSync(page, "utf8");
  for (const { figure } of rows) expect(text).toContain(figure);
}, 120_000);

test("a group that doesn't exist is named, and nothing is written", () => {
  const page = join(folder, "page.md");
  const run = () => execFileSync(process.execPath, [program, "--only", "speed", "--page", page], { stdio: "pipe", encoding: "utf8" });
  expect(run).toThrow(/there is no group speed: true, write/);
});
