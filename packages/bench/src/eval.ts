/**
 * Holdfast held against data: each evaluation has goals, and the command fails when one falls short.
 *   npm run eval -- NAME [--data DIR] [--count N] [--seed S] [--json]
 * `--json` writes {name, figures, misses} to standard output; without it a table is written.
 */
import { parseArgs } from "node:util";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Evaluate, Figure } from "./eval/evaluation.ts";
import { answerHelp, readNumber, refuse } from "./options.ts";

/** Loaded by name, so that one evaluation needs nothing of another. */
const evaluations: Readonly<Record<string, () => Promise<{ readonly evaluate: Evaluate }>>> = {
  "command-policy": () => import("./eval/command-policy.ts"),
  dojo: () => import("./eval/dojo.ts"),
  lies: () => import("./eval/lies.ts"),
  "exact-values": () => import("./eval/exact-values.ts"),
  undo: () => import("./eval/undo.ts"),
  "tool-search": () => import("./eval/tool-search.ts"),
  "context-cost": () => import("./eval/context-cost.ts"),
  prefix: () => import("./eval/prefix.ts"),
};

const usage = `usage: npm run eval -- NAME [--data DIR] [--count N] [--seed S] [--json]
NAME is one of: ${Object.keys(evaluations).join(", ")}`;
answerHelp(usage);
const { values, positionals, tokens } = parseArgs({
  allowPositionals: true,
  strict: false,
  tokens: true,
  options: { data: { type: "string" }, count: { type: "string" }, seed: { type: "string" }, json: { type: "boolean" } },
});
const known = new Set(["data", "count", "seed", "json"]);
// An option of an evaluation's own takes the word after it as its value.
const rest = tokens.flatMap((token, index) => {
  if (token.kind !== "option" || known.has(token.name)) return [];
  const next = tokens[index + 1];
  const value = token.value ?? (next?.kind === "positional" ? next.value : undefined);
  return [token.rawName, ...(value === undefined ? [] : [value])];
});
const [name] = positionals;
const load = name === undefined ? undefined : evaluations[name];
if (name === undefined || load === undefined) refuse(usage, name === undefined ? "which one?" : `there is no evaluation ${name}`);
const count = values.count === undefined ? undefined : readNumber(usage, "count", String(values.count), { min: 1 });
const { evaluate } = await load();
const { figures, misses } = await evaluate({
  ...(typeof values.data === "string" && { data: values.data }),
  ...(count !== undefined && { count }),
  ...(typeof values.seed === "string" && { seed: values.seed }),
  rest,
}).catch((error: unknown) => {
  const problem = problemOf(error);
  if (problem === null) throw error;
  console.error(problem);
  process.exit(2);
});
if (values.json === true) console.log(JSON.stringify({ name, figures, misses }, null, 2));
else {
  for (const figure of figures) console.log(line(figure));
  for (const miss of misses.slice(0, 20)) console.log(`  ${JSON.stringify(miss)}`);
  if (misses.length > 20) console.log(`  … and ${misses.length - 20} more; --json shows all`);
}
process.exitCode = figures.some((figure) => figure.isMet === false) ? 1 : 0;

function line({ name: title, value, goal, isMet, n, interval }: Figure): string {
  const mark = isMet === undefined ? " " : isMet ? "✓" : "✗";
  return `${mark} ${title.padEnd(56)} ${String(Number(value.toFixed(4))).padStart(8)}${n === undefined ? "" : ` of n = ${n}`}${interval === undefined ? "" : ` (${interval.map((end) => end.toFixed(3)).join(" to ")})`}${goal === undefined ? "" : `   goal: ${goal}`}`;
}

/** What whoever started it can mend: data that isn't there, or a wrong option. Null of anything else. */
function problemOf(error: unknown): string | null {
  if (isHoldfastError(error, "usage")) return [error.message, ...(error.hint === undefined ? [] : [error.hint])].join(" ");
  const { code, path, syscall = "" } = error as NodeJS.ErrnoException;
  const isMissing = (code === "ENOENT" || code === "ENOTDIR") && ["open", "scandir"].includes(syscall);
  if (!isMissing || path === undefined) return null;
  return `Its cases can't be read: there is no ${path}. Name the folder that holds them with --data DIR.`;
}
