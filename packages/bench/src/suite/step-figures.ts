import type { Field } from "./field.ts";
import type { Goal, Row } from "./row.ts";
import { number, rowOf } from "./row.ts";
import type { Run } from "./run-once.ts";
import { differences, median, ratios, windowsOf } from "./statistics.ts";
import type { StepKind } from "./workloads.ts";
import { stepsOf } from "./workloads.ts";

const titles: Readonly<Record<StepKind, string>> = {
  true: "`true`",
  write: "a command that writes",
  edit: "an edit",
  read: "a read",
  output: "20 kB of output",
};

const stepMs = (run: Run): number => median(run.steps);

/** What a step costs, of one kind and in sessions of several lengths. */
export async function stepCost(field: Field, kind: StepKind, lengths: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  const isCommand = kind === "true" || kind === "write" || kind === "output";
  // Tools that start no process have no sandbox.
  const contestants = [field.floor, field.floorSynced, ...(isCommand ? [field.unconfined, field.confined] : [field.confined])];
  const peers = kind === "true" ? field.peers : [];
  for (const steps of lengths) {
    const runs = await field.inTurn([...contestants, ...(steps <= 100 ? peers : [])], stepsOf(kind, steps), field.rounds(roundsFor(steps)));
    const of = (name: string): number[] => (runs.get(name) ?? []).map(stepMs);
    const bare = of(field.floorSynced.name);
    const floors = `bare ${number(median(of(field.floor.name)))} ms, with fsync ${number(median(bare))} ms`;
    for (const { name, title } of [...contestants.slice(2), ...(steps <= 100 ? peers : [])]) {
      const own = of(name);
      const against = ratios(own, bare);
      const what = `${titles[kind]}, ${number(steps).replace(/\.0+$/, "")} steps, ${title}`;
      rows.push(rowOf(what, against, " × bare with fsync", goalOf(kind, name, field), `${number(median(own))} ms a step; ${floors}`));
    }
  }
  return rows;
}

function goalOf(kind: StepKind, name: string, field: Field): Goal | undefined {
  if (name === field.unconfined.name && kind === "true") return { text: "≤ 1.5 ×", most: 1.5 };
  if (name === field.confined.name && kind === "true") return { text: "≤ 3 ×", most: 3 };
  if (name === field.confined.name && (kind === "write" || kind === "edit")) return { text: "≤ 2 ×", most: 2 };
  return undefined;
}

function roundsFor(steps: number): number {
  return steps <= 100 ? 7 : steps <= 1_000 ? 3 : 1;
}

/** Whether our own part of a step grows with the session: its difference from the bare loop's, late over early. */
export async function growth(field: Field, lengths: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const steps of lengths) {
    const runs = await field.inTurn([field.floorSynced, field.unconfined], stepsOf("true", steps), field.rounds(steps > 2_000 ? 1 : 3));
    const floors = runs.get(field.floorSynced.name) ?? [];
    const own = (runs.get(field.unconfined.name) ?? []).map(({ steps: ours }, round) => {
      const { early, late } = windowsOf(steps);
      const rest = differences(ours, floors[round]?.steps ?? []);
      return { early: median(rest.slice(...early)), late: median(rest.slice(...late)) };
    });
    const note = `${number(median(own.map(({ early }) => early)))} ms early, ${number(median(own.map(({ late }) => late)))} ms late`;
    const title = `our step minus the bare loop's, late ÷ early in ${number(steps).replace(/\.0+$/, "")} steps`;
    rows.push(
      rowOf(
        title,
        own.map(({ early, late }) => late / early),
        "",
        { text: "≤ 1.2", most: 1.2 },
        note,
      ),
    );
  }
  return rows;
}

/** The same steps with every feature at its default, in a small repository and in a large one. */
export async function largeRepository(field: Field): Promise<Row[]> {
  const rows: Row[] = [];
  const steps = field.isQuick ? 2 : 20;
  for (const kind of ["write", "edit", "read"] as const) {
    const small: Run[] = [];
    const large: Run[] = [];
    for (let round = 0; round < field.rounds(5); round += 1) {
      small.push(await field.run(field.confined, stepsOf(kind, steps)));
      large.push(await field.run(field.confined, stepsOf(kind, steps), "large"));
    }
    const [few, many] = [small.map(stepMs), large.map(stepMs)];
    rows.push(
      rowOf(
        `${titles[kind]}, the large repository`,
        ratios(many, few),
        " × the small one",
        { text: "≤ 1.5 ×", most: 1.5 },
        `${number(median(many))} ms a step against ${number(median(few))} ms`,
      ),
    );
  }
  return rows;
}

/** What a whole run takes beside its steps: time to the first request, processor time, memory. */
export async function wholeRuns(field: Field): Promise<Row[]> {
  const [short, long, longer] = field.isQuick ? [1, 4, 8] : [1, 100, 300];
  const contestants = [field.floor, field.floorSynced, field.unconfined, ...field.peers];
  const all = new Map<number, ReadonlyMap<string, readonly Run[]>>();
  for (const steps of [short, long, longer]) {
    all.set(steps, await field.inTurn(contestants, stepsOf("true", steps), field.rounds(steps === short ? 11 : steps === long ? 5 : 3)));
  }
  const of = (steps: number, name: string, value: (run: Run) => number): number[] => (all.get(steps)?.get(name) ?? []).map(value);
  const rows: Row[] = [];
  const sdk = field.peers.find(({ name }) => name === "ai-sdk");
  const pi = field.peers.find(({ name }) => name === "pi");
  for (const { name, title } of contestants.slice(2)) {
    const isOurs = name === field.unconfined.name;
    const start = of(short, name, ({ startMs }) => startMs);
    rows.push(
      rowOf(
        `start to first request, ${title}`,
        start,
        " ms",
        undefined,
        `bare loop ${number(median(of(short, field.floor.name, ({ startMs }) => startMs)))} ms`,
      ),
    );
    if (isOurs && sdk !== undefined) {
      rows.push(
        rowOf(
          `start to first request, ${title}`,
          ratios(
            start,
            of(short, sdk.name, ({ startMs }) => startMs),
          ),
          " × the AI SDK script",
          { text: "≤ 1.0 ×", most: 1 },
        ),
      );
    }
    const wall = of(long, name, ({ wallMs }) => wallMs);
    rows.push(
      rowOf(
        `whole run, ${long} steps, ${title}`,
        wall.map((ms) => ms / 1_000),
        " s",
      ),
    );
    if (isOurs && pi !== undefined) {
      rows.push(
        rowOf(
          `whole run, ${long} steps, ${title}`,
          ratios(
            wall,
            of(long, pi.name, ({ wallMs }) => wallMs),
          ),
          " × pi",
          { text: "≤ 0.7 ×", most: 0.7 },
        ),
      );
    }
    const cpu = (who: string): number[] =>
      of(long, who, ({ cpuMs }) => cpuMs).map(
        (ms, round) => (ms - (of(short, who, ({ cpuMs }) => cpuMs)[round] ?? Number.NaN)) / (long - short),
      );
    rows.push(
      rowOf(
        `processor time a step, ${title}`,
        ratios(cpu(name), cpu(field.floor.name)),
        " × the bare loop",
        isOurs ? { text: "≤ 2 ×", most: 2 } : undefined,
        `${number(median(cpu(name)))} ms against ${number(median(cpu(field.floor.name)))} ms`,
      ),
    );
    for (const steps of [long, longer])
      rows.push(
        rowOf(
          `peak memory, ${steps} steps, ${title}`,
          of(steps, name, ({ peakMb }) => peakMb),
          " MB",
        ),
      );
    if (isOurs) {
      rows.push(
        rowOf(
          `peak memory, ${longer} steps over ${long} steps, ${title}`,
          ratios(
            of(longer, name, ({ peakMb }) => peakMb),
            of(long, name, ({ peakMb }) => peakMb),
          ),
          "",
          { text: "flat (≤ 1.1)", most: 1.1 },
        ),
      );
      if (sdk !== undefined) {
        rows.push(
          rowOf(
            `peak memory, ${longer} steps, ${title}`,
            ratios(
              of(longer, name, ({ peakMb }) => peakMb),
              of(longer, sdk.name, ({ peakMb }) => peakMb),
            ),
            " × the AI SDK script",
            { text: "≤ 1.0 ×", most: 1 },
          ),
        );
      }
    }
  }
  return rows;
}
