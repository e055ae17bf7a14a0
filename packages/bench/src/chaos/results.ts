import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Tally } from "./tally.ts";
import { add, newTally } from "./tally.ts";

/** One run, as it is kept: also what was counted until it was ended on the way. */
export interface Results {
  readonly seed: number;
  /** The commit of the code that ran, with "+" where the tree differed from it. */
  readonly commit: string;
  readonly startedAt: string;
  readonly seconds: number;
  readonly tally: Tally;
}

export function commitOf(root: string): string {
  const git = (...args: string[]): string => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();
  return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+"}`;
}

/** Replaces the file in one step. */
export function save(path: string, results: Results): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(results, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/** Several runs as one. */
export function addUp(paths: readonly string[]): { readonly runs: readonly Results[]; readonly tally: Tally } {
  const runs = paths.map((path) => JSON.parse(readFileSync(path, "utf8")) as Results);
  const tally = newTally();
  for (const run of runs) add(tally, run.tally);
  return { runs, tally };
}
