/**
 * The suite: what Holdfast costs beside the least that any loop must do, as `docs/benchmarks.md` shows it.
 *   npm run bench -- [--only true,whole,...] [--rounds 11] [--lengths 1,20,100,1000] [--peers] [--holdfast PROGRAM] [--seed 1]
 *                    [--results docs/benchmarks.json] [--page docs/benchmarks.md] [--quick]
 * A group that is measured replaces its rows of the page; the others stay. All groups take about an hour on a quiet machine.
 * `--peers` also runs other programs, from npm, in a folder outside the repository. `--quick` runs everything once and
 * small: it shows that the suite works, its figures mean nothing.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { readNumber, readOptions, refuse } from "./options.ts";
import { checkpointCost } from "./suite/checkpoint-figures.ts";
import { digestCost } from "./suite/digest-figures.ts";
import type { Field } from "./suite/field.ts";
import { openField } from "./suite/field.ts";
import { confinement, deltas, manySessions, opening, output, parallel, retries, waiting } from "./suite/other-figures.ts";
import type { Results } from "./suite/page.ts";
import { pageOf } from "./suite/page.ts";
import { installPeers } from "./suite/peers.ts";
import type { Row } from "./suite/row.ts";
import { growth, largeRepository, stepCost, wholeRuns } from "./suite/step-figures.ts";

const repository = join(import.meta.dirname, "../../..");
const usage = `usage: npm run bench -- [--only true,whole,…] [--rounds 11] [--lengths 1,20,100,1000] [--peers] [--peers-folder DIR]
       [--holdfast PROGRAM] [--seed 1] [--results FILE] [--page FILE] [--quick]`;
const { values } = readOptions(usage, {
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "100" },
    lengths: { type: "string" },
    peers: { type: "boolean", default: false },
    "peers-folder": { type: "string", default: join(tmpdir(), "holdfast-bench-peers") },
    holdfast: { type: "string", default: join(repository, "node_modules/holdfast/bin/holdfast") },
    seed: { type: "string", default: "1" },
    results: { type: "string", default: join(repository, "docs/benchmarks.json") },
    page: { type: "string", default: join(repository, "docs/benchmarks.md") },
    quick: { type: "boolean", default: false },
  },
});
const isQuick = values.quick;
const lengths =
  values.lengths?.split(",").map((text) => readNumber(usage, "lengths", text, { min: 1 })) ?? (isQuick ? [2] : [1, 20, 100, 1_000]);
const seed = readNumber(usage, "seed", values.seed, { min: 0 });
const mostRounds = readNumber(usage, "rounds", values.rounds, { min: 1 });
const largeFiles = isQuick ? 200 : 50_000;

interface Figures {
  readonly title: string;
  readonly measure: (field: Field) => Promise<Row[]>;
}
const groups: Readonly<Record<string, Figures>> = {
  true: { title: "A step that runs `true`", measure: (field) => stepCost(field, "true", lengths) },
  write: { title: "A step whose command writes a file", measure: (field) => stepCost(field, "write", lengths) },
  edit: { title: "A step that edits a file", measure: (field) => stepCost(field, "edit", lengths) },
  read: { title: "A step that reads a file", measure: (field) => stepCost(field, "read", lengths) },
  output: { title: "Steps of 20 kB of output", measure: (field) => stepCost(field, "output", [isQuick ? 2 : 10]) },
  growth: { title: "Long sessions", measure: (field) => growth(field, isQuick ? [8] : [1_000, 10_000]) },
  whole: { title: "Whole runs: start, time, processor, memory", measure: wholeRuns },
  large: { title: `A repository of ${largeFiles.toLocaleString("en-US")} files, every feature at its default`, measure: largeRepository },
  checkpoint: { title: "A checkpoint before a command", measure: (field) => checkpointCost(field, largeFiles) },
  digest: { title: "The digest of a workspace of which little changed", measure: (field) => digestCost(field, largeFiles) },
  parallel: { title: "Calls side by side", measure: parallel },
  confined: { title: "The sandbox of a command", measure: confinement },
  retry: { title: "The first retry", measure: retries },
  deltas: { title: "Streaming", measure: deltas },
  much: { title: "Much output", measure: output },
  open: {
    title: "Opening a session",
    measure: (field) => opening(field, isQuick ? [1_000] : [100, 1_000, 10_000, 100_000, 1_000_000]),
  },
  many: { title: "Many sessions in one process", measure: manySessions },
  waiting: { title: "Waiting sessions", measure: waiting },
};

const wanted = values.only === undefined ? Object.keys(groups) : values.only.split(",");
const unknown = wanted.filter((name) => groups[name] === undefined);
if (unknown.length > 0) refuse(usage, `there is no group ${unknown.join(", ")}: ${Object.keys(groups).join(", ")}`);

let results = existsSync(values.results) ? (JSON.parse(readFileSync(values.results, "utf8")) as Results) : {};
const field = openField({
  program: values.holdfast,
  peers: values.peers ? installPeers(values["peers-folder"]) : [],
  isQuick,
  seed,
  largeFiles,
  mostRounds,
});
try {
  for (const name of wanted) {
    const { title, measure } = groups[name] as Figures;
    const before = loadavg()[0] ?? 0;
    const rows = await measure(field);
    const load = (before + (loadavg()[0] ?? 0)) / 2 / availableParallelism();
    const command = `npm run bench -- --only ${name}${given("rounds", name)}${given("lengths", name)}${values.peers ? " --peers" : ""}`;
    const known = { ...results, [name]: { title, command, setting: setting(), load, rows } };
    results = Object.fromEntries(Object.keys(groups).flatMap((one) => (known[one] === undefined ? [] : [[one, known[one]]])));
    writeFileSync(values.results, `${JSON.stringify(results, null, 2)}\n`);
    writeFileSync(values.page, pageOf(results));
    for (const row of rows)
      console.log(`${row.figure}: ${row.value}${row.goal === null ? "" : ` (goal ${row.goal}: ${row.isMet ? "met" : "missed"})`}`);
  }
} finally {
  field.close();
}
console.error(`written: ${relative(process.cwd(), values.page)}`);

/** The option as it was given, where the group depends on it. */
function given(option: "rounds" | "lengths", group: string): string {
  if (option === "rounds") return values.rounds === "100" ? "" : ` --rounds ${values.rounds}`;
  return values.lengths === undefined || !["true", "write", "edit", "read"].includes(group) ? "" : ` --lengths ${values.lengths}`;
}

function setting(): string {
  const day = new Date().toISOString().slice(0, 10);
  const commit = git("rev-parse", "--short", "HEAD");
  const cpu = /^model name\s*:\s*(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? process.arch;
  return `${day} · ${availableParallelism()} cores of ${cpu} · Node ${process.versions.node} · commit ${commit}`;
}

function git(...args: string[]): string {
  try {
    return execFileSync("git", args, { cwd: repository, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "unknown";
  }
}
