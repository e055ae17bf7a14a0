import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "./results.ts";
import type { Tally } from "./tally.ts";
import { classes, killsInFlight, points, shortOf, sum, zeros } from "./tally.ts";

const page = join(import.meta.dirname, "../../../../docs/durability.md");
const [opening, closing] = ["<!-- begin: chaos, made by npm run chaos -- --sum --page FILE… -->\n\n", "\n\n<!-- end: chaos -->"];

/** Writes what several runs have counted into docs/durability.md. */
export function writePage(runs: readonly Results[], tally: Tally): void {
  const text = readFileSync(page, "utf8");
  const [start, end] = [text.indexOf(opening) + opening.length, text.indexOf(closing)];
  if (start < opening.length || end < start) throw new Error(`${page} has no part chaos`);
  writeFileSync(page, text.slice(0, start) + render(runs, tally) + text.slice(end));
}

/** The report of a full run as Markdown. */
export function render(runs: readonly Results[], tally: Tally): string {
  const days = [...new Set(runs.map(({ startedAt }) => startedAt.slice(0, 10)))].toSorted();
  const commits = [...new Set(runs.map(({ commit }) => commit))];
  const short = shortOf(tally);
  return [
    `${days.join(", ")}, at ${commits.join(", ")}: **${count(tally.kills.count)} kills** in ${runs.length} runs (seeds ${runs.map(({ seed }) => seed).join(", ")}), ${count(tally.sessions.ended)} sessions ended, ${count(sum(tally.effects))} effects counted from outside, ${count(sum(tally.inDoubt))} of them told to be in doubt.`,
    "",
    "| must be none | found |",
    "|---|---|",
    ...zeros(tally).map(({ what, found }) => `| ${what} | ${found} |`),
    `| faults in all, of whatever kind | ${tally.faults.length} |`,
    "",
    "Kills between the intent of an effect and its settlement:",
    "",
    `| class | kills | of them |`,
    "|---|---|---|",
    ...classes.map((name) => `| \`${name}\` | ${count(killsInFlight(tally, name))} | ${toolsOf(tally, name)} |`),
    "",
    "How they were killed:",
    "",
    "| | times |",
    "|---|---|",
    ...Object.entries(tally.manners)
      .toSorted()
      .map(([manner, n]) => `| ${manner} | ${count(n)} |`),
    "",
    "Kills at each named point:",
    "",
    "| point | before | after |",
    "|---|---|---|",
    ...boundariesOf().map(
      (boundary) => `| ${boundary} | ${tally.points[`before ${boundary}`] ?? 0} | ${tally.points[`after ${boundary}`] ?? 0} |`,
    ),
    "",
    short.length === 0
      ? "Each class saw at least 200 kills in flight, and each named point at least 50."
      : `Short of 200 kills in flight of each class and 50 at each named point: ${short.join(", ")}.`,
  ].join("\n");
}

function boundariesOf(): string[] {
  return points.filter((point) => point.startsWith("before ")).map((point) => point.slice("before ".length));
}

function toolsOf({ windows }: Tally, name: string): string {
  return Object.entries(windows)
    .filter(([what]) => what.startsWith(`${name} `))
    .toSorted(([, one], [, other]) => other - one)
    .map(([what, n]) => `${what.slice(name.length + 1)} ${count(n)}`)
    .join(", ");
}

function count(n: number): string {
  return n.toLocaleString("en");
}
