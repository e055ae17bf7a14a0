import type { Row } from "./row.ts";

/** What one run of a group of figures found. */
export interface Group {
  readonly title: string;
  readonly command: string;
  /** Day, machine, versions. */
  readonly setting: string;
  /** Load of the machine over its cores while it ran: above 1, other work was going on as well. */
  readonly load: number;
  readonly rows: readonly Row[];
}

export type Results = Readonly<Record<string, Group>>;

const intro = `# Benchmarks

What a step of Holdfast costs beside the least that any loop must do. This page is written by \`npm run bench\`; nothing in it was typed by hand.

- **The floors.** The *bare loop* sends the request with \`fetch\`, starts each command with \`spawn\`, and does nothing else. *With fsync* it also appends each answer and each result to a file and flushes it, which is the least that a durable log costs. Holdfast runs with its log on, at its default durability.
- **The model** is a script on loopback that answers at once. A step lasts from the last byte of an answer to the last byte of the next request.
- **Figures.** All contestants run in turn, each round in another order. A ratio is taken round by round, and the median of the ratios is shown; differences are taken step by step, at the same length of history. The spread is the least and the most of the rounds.
- **Trust.** A row says *not steady* where the middle half of its rounds lies further apart than a third of the median, or where there were fewer than three: such a figure shows an order of magnitude and proves nothing. The load of the machine stands above each table: above 1, other work had a part of the processors, and everything that starts many processes looks worse than it is.
`;

export function pageOf(results: Results): string {
  return `${[intro, ...Object.values(results).map(groupText)].join("\n").trimEnd()}\n`;
}

function groupText({ title, command, setting, load, rows }: Group): string {
  const lines = rows.map((row) => `| ${[row.figure, row.value, row.goal ?? "", verdictOf(row), row.spread].join(" | ")} |`);
  const table = ["| figure | value | goal | | spread |", "| --- | --- | --- | --- | --- |", ...lines].join("\n");
  return `## ${title}\n\n\`${command}\` · ${setting} · load ${load.toFixed(1)}\n\n${table}\n`;
}

function verdictOf({ isMet, isSteady }: Row): string {
  const verdict = isMet === null ? "" : isMet ? "met" : "missed";
  return isSteady ? verdict : [verdict, "not steady"].filter((word) => word !== "").join(", ");
}
