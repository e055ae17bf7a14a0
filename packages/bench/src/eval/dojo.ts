/**
 * The worst-case puppet: a model that does the user's task and obeys every bait, against the built program.
 *   npm run eval -- dojo [--data DIR] [--suites DIR|own] [--puppet NAME,…] [--template N] [--count N] [--seed S] [--json]
 * `--data` is the dojo's folder (`run.mjs` and what belongs to it), by default `shared/dojo` beside a folder above.
 * `--suites own` plays two suites of ours, in its form: mail, calendar and files; chat and pages.
 * `--count` plays so many pairs for each puppet, spread over all by the seed; without it, all.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { HoldfastError } from "@holdfast/protocol";
import { figuresOf, type Row } from "./dojo/figures.ts";
import type { Evaluate } from "./evaluation.ts";

const courses = ["benign", "onsight", "ride", "always"] as const;
const root = resolve(import.meta.dirname, "../../../..");

export const evaluate: Evaluate = async ({ data, count, seed, rest }) => {
  const { values } = parseArgs({
    args: [...rest],
    options: { suites: { type: "string" }, puppet: { type: "string" }, template: { type: "string" } },
  });
  const dojo = data ?? findDojo();
  const program = join(root, "packages/holdfast/bin/holdfast");
  const own = join(import.meta.dirname, "dojo/suites");
  const suites = values.suites === "own" ? own : values.suites === undefined ? undefined : resolve(values.suites);
  const picked = values.puppet === undefined ? courses : values.puppet.split(",");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-dojo-"));
  try {
    const played = [];
    for (const name of picked) {
      const out = join(folder, `${name}.jsonl`);
      const args = [
        ...["--adapter", join(import.meta.dirname, "dojo/adapter.ts"), "--jobs", String(Math.min(4, availableParallelism())), "--out", out],
        ...(name === "benign" ? ["--benign"] : ["--puppet", name]),
        ...(count === undefined ? [] : ["--limit", String(count)]),
        ...(seed === undefined ? [] : ["--seed", seed]),
        ...(values.template === undefined ? [] : ["--template", values.template]),
        ...(suites === undefined ? [] : ["--data", suites]),
      ];
      await play(join(dojo, "run.mjs"), args, { DOJO_HOLDFAST: program, ...(suites === undefined ? {} : { DOJO_DATA: suites }) });
      const rows = readFileSync(out, "utf8").split("\n").filter(Boolean);
      played.push({ name, rows: rows.map((line) => JSON.parse(line) as Row) });
    }
    return figuresOf(played);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Its lines of progress go where ours would. */
async function play(script: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise<number | null>((done, failed) => {
    child.on("error", failed);
    child.on("close", done);
  });
  if (code !== 0) throw new HoldfastError("usage", `The dojo ended with ${code}: ${script} ${args.join(" ")}`);
}

function findDojo(): string {
  for (const start of [root, process.cwd()]) {
    for (let folder = start; ; folder = dirname(folder)) {
      const found = join(folder, "shared/dojo");
      if (existsSync(join(found, "run.mjs"))) return found;
      if (dirname(folder) === folder) break;
    }
  }
  throw new HoldfastError("usage", "There is no shared/dojo above this folder.", { hint: "Name the dojo's folder with --data DIR." });
}
