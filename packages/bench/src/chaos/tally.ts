import { boundaries } from "@holdfast/runtime";

/** What a run of chaos has counted so far. Every record counts by name. */
export interface Tally {
  /** By what was done: a kill at a point, in flight, at any time, with the wrappers; a freeze; an interrupt. */
  readonly manners: Record<string, number>;
  /** Kills between intent and settlement, by "class tool". */
  readonly windows: Record<string, number>;
  /** Kills at named points, and lives that passed one. */
  readonly points: Record<string, number>;
  readonly passed: Record<string, number>;
  /** Effects by class: how many were proposed, done twice or more, told in doubt, or told otherwise than they were. */
  readonly effects: Record<string, number>;
  readonly duplicates: Record<string, number>;
  readonly inDoubt: Record<string, number>;
  readonly untold: Record<string, number>;
  readonly events: { acknowledged: number; lost: number };
  readonly sessions: { ended: number; stuck: number; verified: number };
  readonly kills: { count: number };
  readonly left: { processes: number };
  /** A sentence each. */
  readonly faults: string[];
}

export function newTally(): Tally {
  return {
    manners: {},
    windows: {},
    points: {},
    passed: {},
    effects: {},
    duplicates: {},
    inDoubt: {},
    untold: {},
    events: { acknowledged: 0, lost: 0 },
    sessions: { ended: 0, stuck: 0, verified: 0 },
    kills: { count: 0 },
    left: { processes: 0 },
    faults: [],
  };
}

export function count(record: Record<string, number>, name: string, times = 1): void {
  record[name] = (record[name] ?? 0) + times;
}

/** Every point that there is: before and after each of the runtime's boundaries, and the posting of a message. */
export const points: readonly string[] = [...boundaries, "post"].flatMap((boundary) => [`before ${boundary}`, `after ${boundary}`]);

export const classes = ["safe", "keyed", "probe", "never"] as const;

/** The 95 % upper bound of a rate of which none was seen in `n` trials: the rule of three. */
function bound(found: number, n: number): string {
  if (found > 0 || n === 0) return `${found} of ${n}`;
  return `0 of ${n} (below ${((300 / n) | 0) > 9 ? Math.round(300 / n) : (300 / n).toPrecision(2)} %)`;
}

function sum(record: Readonly<Record<string, number>>, prefix = ""): number {
  return Object.entries(record).reduce((total, [name, n]) => total + (name.startsWith(prefix) ? n : 0), 0);
}

/** What a person reads at the end. */
export function report(tally: Tally): string {
  const rows = (record: Readonly<Record<string, number>>): string[] =>
    Object.entries(record)
      .toSorted()
      .map(([name, n]) => `  ${name}: ${n}`);
  const reached = points.filter((point) => (tally.passed[point] ?? 0) > 0);
  const fewest = Math.min(...reached.map((point) => tally.points[point] ?? 0));
  const doubts = sum(tally.inDoubt);
  return [
    `kills: ${tally.kills.count}`,
    ...rows(tally.manners),
    "between intent and settlement",
    ...classes.map((name) => `  ${name}: ${sum(tally.windows, `${name} `)}`),
    ...rows(tally.windows).map((row) => `  ${row}`),
    `named points: ${reached.length} of ${points.length} come up in these sessions${reached.length === 0 ? "" : `, each saw at least ${fewest} kills`}`,
    ...reached.map((point) => `  ${point}: ${tally.points[point] ?? 0}`),
    `  not among them: ${points.filter((point) => !reached.includes(point)).join(", ")}`,
    `sessions ended: ${tally.sessions.ended}, stuck: ${tally.sessions.stuck}, logs verified: ${tally.sessions.verified}`,
    `acknowledged events lost: ${bound(tally.events.lost, tally.events.acknowledged)}`,
    "effects done more than once",
    ...classes.slice(1).map((name) => `  ${name}: ${bound(tally.duplicates[name] ?? 0, sum(tally.windows, `${name} `))} kills in flight`),
    `told in doubt: ${doubts}`,
    ...rows(tally.inDoubt),
    `told otherwise than it was: ${bound(sum(tally.untold), sum(tally.effects))} effects`,
    ...rows(tally.untold),
    `processes left: ${bound(tally.left.processes, tally.sessions.ended)} sessions`,
    tally.faults.length === 0 ? "nothing lost, doubled, left behind or kept quiet" : `${tally.faults.length} faults:`,
    ...tally.faults.map((fault) => `  ${fault}`),
  ].join("\n");
}
