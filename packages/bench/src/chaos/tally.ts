import { boundaries } from "@holdfast/runtime/ports/boundaries";

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
  /** Sessions with something in doubt, and those of them that don't show it to who looks. */
  readonly doubtful: { shown: number; silent: number };
  readonly kills: { count: number };
  readonly left: { processes: number };
  /** A sentence each. */
  readonly faults: string[];
}

/** Kills that decide where the next ones should go: those counted, and those of runs before. */
export type Seen = Pick<Tally, "points" | "windows">;

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
    doubtful: { shown: 0, silent: 0 },
    kills: { count: 0 },
    left: { processes: 0 },
    faults: [],
  };
}

export function count(record: Record<string, number>, name: string, times = 1): void {
  record[name] = (record[name] ?? 0) + times;
}

/** Adds what another run has counted. */
export function add(tally: Tally, { faults, ...counted }: Tally): void {
  tally.faults.push(...faults);
  for (const [name, record] of Object.entries(counted)) {
    const sums = tally[name as keyof typeof counted] as Record<string, number>;
    for (const [what, n] of Object.entries(record as Record<string, number>)) count(sums, what, n);
  }
}

/** Writes of the stores that are no commit, by the names that docs/durability.md has for them. */
export const storeWrites = [
  "log post",
  "log lock",
  "log unlock",
  "log erase",
  "log delete",
  "log settleOutbox",
  "blobs put",
  "blobs delete",
] as const;

/** Every point that there is: before and after each of the runtime's boundaries, and each other write of the stores. */
export const points: readonly string[] = [...boundaries.filter(isPassed), ...storeWrites].flatMap((boundary) => [
  `before ${boundary}`,
  `after ${boundary}`,
]);

/** Commands of the program run on this machine: their sandbox has no end that comes nearer. */
function isPassed(boundary: string): boolean {
  return boundary !== "commit sandbox.expiring";
}

export const classes = ["safe", "keyed", "probe", "never"] as const;
export type ReplayName = (typeof classes)[number];

/** Kills between intent and settlement of a class. */
export function killsInFlight({ windows }: Seen, name: ReplayName): number {
  return sum(windows, `${name} `);
}

/** What a run at full length must reach: kills of each class between intent and settlement, and at each named point. */
export const enough = { inFlight: 200, atPoint: 50 };

/** The 95 % upper bound of a rate of which none was seen in `n` trials: the rule of three. */
function bound(found: number, n: number): string {
  if (found > 0 || n === 0) return `${found} of ${n}`;
  return `0 of ${n} (below ${((300 / n) | 0) > 9 ? Math.round(300 / n) : (300 / n).toPrecision(2)} %)`;
}

export function sum(record: Readonly<Record<string, number>>, prefix = ""): number {
  return Object.entries(record).reduce((total, [name, n]) => total + (name.startsWith(prefix) ? n : 0), 0);
}

/** What is short of a run at full length, a line each. */
export function shortOf(tally: Tally): string[] {
  return [
    ...classes.flatMap((name) => lacks(`${name} in flight`, killsInFlight(tally, name), enough.inFlight)),
    ...points.flatMap((point) => lacks(point, tally.points[point] ?? 0, enough.atPoint)),
  ];
}

function lacks(what: string, n: number, wanted: number): string[] {
  return n >= wanted ? [] : [`${what}: ${n} of ${wanted}`];
}

/** Each zero that a run has to show, with what it was found in. */
export function zeros(tally: Tally): readonly { readonly what: string; readonly found: string; readonly isZero: boolean }[] {
  const zero = (what: string, found: number, n: number, of: string) => ({
    what,
    found: `${bound(found, n)} ${of}`,
    isZero: found === 0,
  });
  const doubtful = tally.doubtful.shown + tally.doubtful.silent;
  return [
    zero("acknowledged events lost", tally.events.lost, tally.events.acknowledged, "events"),
    ...classes
      .slice(1)
      .map((name) =>
        zero(`\`${name}\` effects done more than once`, tally.duplicates[name] ?? 0, killsInFlight(tally, name), "kills in flight"),
      ),
    zero("effects told otherwise than they were", sum(tally.untold), sum(tally.effects), "effects"),
    zero("in doubt and not shown", tally.doubtful.silent, doubtful, "sessions with something in doubt"),
    zero("sessions that came to no end", tally.sessions.stuck, tally.sessions.ended + tally.sessions.stuck, "sessions"),
    zero("processes left", tally.left.processes, tally.sessions.ended, "sessions"),
  ];
}

/** What a person reads at the end. */
export function report(tally: Tally): string {
  const rows = (record: Readonly<Record<string, number>>): string[] =>
    Object.entries(record)
      .toSorted()
      .map(([name, n]) => `  ${name}: ${n}`);
  const reached = points.filter((point) => (tally.points[point] ?? 0) > 0);
  const short = shortOf(tally);
  return [
    `kills: ${tally.kills.count}`,
    ...rows(tally.manners),
    "between intent and settlement",
    ...classes.map((name) => `  ${name}: ${killsInFlight(tally, name)}`),
    ...rows(tally.windows).map((row) => `  ${row}`),
    `named points: ${points.length}, of which ${reached.length} saw kills`,
    ...points.map((point) => `  ${point}: ${tally.points[point] ?? 0}`),
    `sessions ended: ${tally.sessions.ended}, logs verified: ${tally.sessions.verified}`,
    `told in doubt: ${sum(tally.inDoubt)}`,
    ...rows(tally.inDoubt),
    ...rows(tally.untold).map((row) => `  told otherwise:${row}`),
    ...zeros(tally).map(({ what, found }) => `${what}: ${found}`),
    short.length === 0 ? "enough kills in every window and at every point" : `short of a run at full length: ${short.join(", ")}`,
    tally.kills.count === 0
      ? "without kills, nothing is shown"
      : tally.faults.length === 0
        ? "nothing lost, doubled, left behind or kept quiet"
        : `${tally.faults.length} faults:`,
    ...tally.faults.map((fault) => `  ${fault}`),
  ].join("\n");
}
