import type { ReplayClass } from "@holdfast/protocol";
import { boundaries } from "../../src/ports/boundaries.ts";
import type { Api } from "./api.ts";
import type { Crossing, Fault, Place } from "./faults.ts";
import { faultNames, faults, storePlaces } from "./faults.ts";
import type { End } from "./judge.ts";
import { ends, judge } from "./judge.ts";
import type { Run, Window } from "./run.ts";
import { play, windows } from "./run.ts";
import type { Scenario } from "./scenarios.ts";
import { scenarios } from "./scenarios.ts";
import type { Durability, TailLog } from "./tail-log.ts";

/** The right end of a call, by how far it had come when everything ended, and its replay class. */
export const rightEnds: Readonly<Record<Window, Readonly<Record<ReplayClass, End>>>> = {
  "not intended": { safe: "once", keyed: "once", probe: "once", never: "once" },
  intended: { safe: "once", keyed: "once", probe: "once", never: "once" },
  // The claim is the last thing before the effect: from then on it may have happened.
  claimed: { safe: "once", keyed: "once", probe: "once", never: "in doubt" },
  acted: { safe: "again", keyed: "answered", probe: "found", never: "in doubt" },
  settled: { safe: "once", keyed: "once", probe: "once", never: "once" },
};

/** What was seen of one fault at one side of a boundary, in one play. */
interface Cell {
  readonly place: Place;
  readonly when: Crossing["when"];
  readonly fault: Fault;
  readonly isTakeover: boolean;
  /** What had to be done about it; empty where the session went on as if nothing had happened, null where nothing met the fault. */
  readonly seen: readonly string[] | null;
}

export interface Table {
  readonly cells: readonly Cell[];
  /** What was not as it must be, each with where it was seen. */
  readonly wrong: readonly string[];
}

/** How many plays go on at once. */
const atOnce = 16;

interface TableOptions {
  readonly played?: readonly Scenario[];
  readonly met?: readonly Fault[];
  /** The runtime to be judged. */
  readonly api?: Api;
  readonly makeLog?: (durability: Durability) => TailLog;
}

/** Plays faults at every crossing that isn't known yet from an earlier play. */
export async function makeTable({ played = scenarios, met = faultNames, ...means }: TableOptions = {}): Promise<Table> {
  const cells: Cell[] = [];
  const wrong: string[] = [];
  const known = new Set<string>();
  const jobs: (() => Promise<void>)[] = [];
  for (const scenario of played) {
    const clean = await play(scenario, null);
    for (const [at, crossing] of clean.crossings.entries()) {
      const sides = crossing.places.map((place) => `${crossing.when} ${place} ${variantOf(scenario, place)}`);
      if (sides.every((side) => known.has(side))) continue;
      for (const side of sides) known.add(side);
      for (const fault of met) jobs.push(() => playCell(scenario, clean, crossing, fault, at));
    }
  }
  await inParallel(jobs, atOnce);
  return { cells, wrong };

  async function playCell(scenario: Scenario, clean: Run, crossing: Crossing, fault: Fault, at: number): Promise<void> {
    const where = `${scenario.name}, ${scenario.replay}: ${fault} ${crossing.when} ${crossing.places.join(" and ")}`;
    try {
      const run = await play(scenario, { fault, at }, means);
      const judged = await judge(run, clean);
      await run.log.close();
      const right = rightEnds[scenario.hasActed === true ? "acted" : run.window][scenario.replay];
      // A safe call's intent may be lost with the tail; what is proposed then is another call.
      const isRight = judged.call === right || (scenario.replay === "safe" && fault === "lost tail, normal");
      wrong.push(
        ...judged.faults.map((one) => `${where}: ${one}`),
        ...(isRight ? [] : [`${where}: the call was ${run.window}, and it was ${judged.call} instead of ${right}`]),
        ...judged.again.flatMap((effect) => (mayRepeat(run, effect) ? [] : [`${where}: ${effect} was carried out again without need`])),
      );
      const seen = run.thrown === null ? null : [...(judged.call === "once" ? [] : [run.window]), ...judged.again];
      const isTakeover = scenario.hasActed !== undefined;
      for (const place of crossing.places) cells.push({ place, when: crossing.when, fault, isTakeover, seen });
    } catch (error) {
      wrong.push(`${where}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
}

/** What makes a boundary another one than in a play before: the call's class, and whether another process had begun. */
function variantOf({ name, replay, hasActed }: Scenario, place: Place): string {
  const isOfCall = / (?:call\..*|driver\.attached|call|taken|revoked|put)$/.test(place);
  return isOfCall ? `${replay} ${hasActed === undefined ? "" : name}` : "";
}

/** An effect may be carried out again where its settlement was not recorded; a round of checks begins anew as a whole. */
function mayRepeat({ unsettled, fault }: Run, effect: string): boolean {
  return fault === "lost tail, normal" || effect === "check" || unsettled.some((one) => one === effect);
}

async function inParallel(jobs: readonly (() => Promise<void>)[], width: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) await job();
  };
  await Promise.all(Array.from({ length: width }, work));
}

const sides = ["before", "after"] as const;
const places: readonly Place[] = [...boundaries, ...storePlaces];

/** Boundaries of the code that no scenario passes. */
export function gapsOf({ cells }: Table): string[] {
  return places.flatMap((place) =>
    sides.flatMap((when) =>
      faultNames.every((fault) => cells.some((cell) => cell.place === place && cell.when === when && cell.fault === fault))
        ? []
        : [`${when} ${place}`],
    ),
  );
}

const words: Readonly<Record<string, string>> = {
  acted: "**acted**",
  claimed: "**claimed**",
  sample: "model",
  baseline: "baseline",
  check: "checks",
  output: "schema",
};

/** The table as Markdown. */
export function renderTable(table: Table): string {
  const classes = ["safe", "keyed", "probe", "never"] as const;
  const legend = Object.entries(ends).map(([end, meaning]) => `- *${end}*: ${meaning}.`);
  const rows = places.flatMap((place) => sides.map((when) => rowOf(table, place, when)));
  return [
    "| how far a call had come | " + classes.map((one) => `\`${one}\``).join(" | ") + " |",
    "|---|" + classes.map(() => "---|").join(""),
    ...windows.map((window) => `| ${window} | ${classes.map((one) => rightEnds[window][one]).join(" | ")} |`),
    "",
    ...legend,
    "",
    "Columns:",
    "",
    ...Object.entries(faults).map(([fault, meaning]) => `- **${fault}**: ${meaning}.`),
    "",
    `| boundary | | ${faultNames.join(" | ")} |`,
    `|---|---|${faultNames.map(() => "---|").join("")}`,
    ...rows,
  ].join("\n");
}

function rowOf({ cells }: Table, place: Place, when: Crossing["when"]): string {
  const here = cells.filter((cell) => cell.place === place && cell.when === when);
  // What a first driver's boundary leads to is told there; a takeover's only where it has none but its own.
  const own = here.some((cell) => !cell.isTakeover) ? here.filter((cell) => !cell.isTakeover) : here;
  const texts = faultNames.map((fault) => {
    const met = own.flatMap((cell) => (cell.fault === fault && cell.seen !== null ? [cell.seen] : []));
    if (met.length === 0) return "–";
    const seen = new Set(met.flat());
    const told = Object.keys(words).filter((word) => seen.has(word));
    return told.length === 0 ? "✓" : told.map((word) => words[word]).join(", ");
  });
  return `| ${place} | ${when} | ${texts.join(" | ")} |`;
}
