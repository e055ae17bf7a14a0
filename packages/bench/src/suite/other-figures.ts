import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Field } from "./field.ts";
import type { Answer } from "./model-server.ts";
import { startModelServer } from "./model-server.ts";
import type { Goal, Row } from "./row.ts";
import { countOf, number, rowOf } from "./row.ts";
import { median, quantile, ratios } from "./statistics.ts";
import { failing, megabytes, parallelSleeps, stepsOf, streamed } from "./workloads.ts";

/** Four commands of a second each in one answer. */
export async function parallel(field: Field): Promise<Row[]> {
  const runs = await field.inTurn([field.floor, field.unconfined, field.confined], parallelSleeps(4), field.rounds(5));
  const of = (name: string): number[] => (runs.get(name) ?? []).map(({ steps }) => (steps[0] ?? Number.NaN) / 1_000);
  return [field.unconfined, field.confined].map(({ name, title }) =>
    rowOf(
      `four \`sleep 1\` in one answer, ${title}`,
      of(name),
      " s",
      { text: "≤ 1.05 s", most: 1.05 },
      `bare loop ${number(median(of(field.floor.name)))} s`,
    ),
  );
}

/** The first request fails: how long until the next. */
export async function retries(field: Field): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [fault, title] of [
    ["cut", "a stream that is cut"],
    ["error", "HTTP 500"],
  ] as const) {
    const runs = await field.inTurn([field.unconfined], failing(fault), field.rounds(9));
    const pauses = (runs.get(field.unconfined.name) ?? []).map(({ steps }) => (steps[0] ?? Number.NaN) / 1_000);
    rows.push(
      rowOf(`first retry after ${title}`, pauses, " s", { text: "≤ 0.3 s", most: 0.3 }, "a random pause of 0.15 to 0.3 s is part of it"),
    );
  }
  return rows;
}

/** What 2,000 deltas take beside one. */
export async function deltas(field: Field): Promise<Row[]> {
  const count = field.isQuick ? 50 : 2_000;
  const contestants = [field.floor, field.unconfined];
  const rounds = field.rounds(9);
  const one = await field.inTurn(contestants, streamed(1), rounds);
  const many = await field.inTurn(contestants, streamed(count), rounds);
  const cpu = (name: string): number[] =>
    (many.get(name) ?? []).map(({ cpuMs }, round) => cpuMs - (one.get(name)?.[round]?.cpuMs ?? Number.NaN));
  const wall = (name: string): number[] =>
    (many.get(name) ?? []).map(({ wallMs }, round) => wallMs - (one.get(name)?.[round]?.wallMs ?? Number.NaN));
  const title = `${number(count).replace(/\.0+$/, "")} deltas in one answer`;
  const { name } = field.unconfined;
  return [
    rowOf(title, wall(name), " ms longer than one delta", undefined, `bare loop ${number(median(wall(field.floor.name)))} ms`),
    rowOf(
      `${title}, processor time`,
      cpu(name),
      " ms more than for one",
      undefined,
      `bare loop ${number(median(cpu(field.floor.name)))} ms`,
    ),
  ];
}

/** Commands that say much: the time, and what of it is held in memory. */
export async function output(field: Field): Promise<Row[]> {
  const rows: Row[] = [];
  const rounds = field.rounds(3);
  const idle = await field.inTurn([field.unconfined], stepsOf("true", 1), rounds);
  const idleMb = (idle.get(field.unconfined.name) ?? []).map(({ peakMb }) => peakMb);
  for (const count of field.isQuick ? [2] : [100, 1_000]) {
    const runs = await field.inTurn([field.floor, field.unconfined], megabytes(count), rounds);
    const ours = runs.get(field.unconfined.name) ?? [];
    const took = ours.map(({ steps }) => steps[0] ?? Number.NaN);
    const bare = (runs.get(field.floor.name) ?? []).map(({ steps }) => steps[0] ?? Number.NaN);
    const isCapped = count > 268;
    const title = `a command that says ${number(count).replace(/\.0+$/, "")} MB`;
    if (!isCapped)
      rows.push(rowOf(title, ratios(took, bare), " × the bare loop, which keeps only the start", undefined, `${number(median(took))} ms`));
    rows.push(
      rowOf(
        `${title}${isCapped ? " (ended at the cap of 256 MB)" : ""}, memory over idle`,
        ours.map(({ peakMb }, round) => peakMb - (idleMb[round] ?? Number.NaN)),
        " MB",
        { text: "≤ 30 MB", most: 30 },
      ),
    );
  }
  return rows;
}

const inside = join(import.meta.dirname, "../inside");

async function told<T>(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(inside, program), ...args], {
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout) as T;
}

const windowEvents = 400;

/** Sessions of several ages, from the store to the first plan. */
export async function opening(field: Field, ages: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  const medians = new Map<number, number>();
  for (const events of ages) {
    const folder = field.folder("long");
    mkdirSync(join(folder, "workspace"), { recursive: true });
    process.stderr.write(`a session of ${events} events\n`);
    await promisify(execFile)(process.execPath, [join(inside, "long-session.ts"), "make", folder, String(events), String(windowEvents)]);
    const times: number[] = [];
    for (let round = 0; round < field.rounds(9); round += 1) {
      times.push((await told<{ readonly ms: number }>("long-session.ts", ["open", folder])).ms);
    }
    rmSync(folder, { recursive: true, force: true });
    medians.set(events, median(times));
    rows.push(
      rowOf(
        `open of a session of ${number(events).replace(/\.0+$/, "")} events`,
        times,
        " ms",
        { text: "≤ 50 ms", most: 50 },
        `its window holds the last ${windowEvents}`,
      ),
    );
  }
  const [first, last] = [medians.get(1_000), medians.get(ages.at(-1) ?? 0)];
  if (first !== undefined && last !== undefined) {
    const ratio = last / first;
    rows.push({
      ...rowOf(`the oldest over that of 1,000 events`, [ratio], "", { text: "flat (≤ 1.5)", most: 1.5 }),
      isSteady: true,
      spread: "",
    });
  }
  return rows;
}

/** Many sessions in one process, and what a step commits. */
export async function manySessions(field: Field): Promise<Row[]> {
  const count = field.isQuick ? 4 : 100;
  const steps = 5;
  const times: number[] = [];
  const each: number[] = [];
  let ended = 0;
  for (let round = 0; round < field.rounds(3); round += 1) {
    const found = await driven(field, count, stepsOfReads(steps));
    times.push((count * steps * 1_000) / found.ms);
    each.push(found.mbEach);
    ended += found.ended;
  }
  const [five, ten] = [await driven(field, 1, stepsOfReads(5)), await driven(field, 1, stepsOfReads(10))];
  const [once, twice] = [await driven(field, 1, stepsOfReads(4, 4)), await driven(field, 1, stepsOfReads(8, 4))];
  const title = `${count} sessions of ${steps} steps at once`;
  const single = (ten.commits - five.commits) / 5;
  const together = (twice.commits - once.commits) / 4;
  return [
    countOf(`${title}, ended well`, String(ended), `${count * times.length}`, ended === count * times.length),
    rowOf(title, times, " steps a second"),
    rowOf(`${title}, memory`, each, " MB a session"),
    countOf("commits a step with one call", number(single), "2", single === 2),
    countOf("commits a step with four calls in one answer", number(together), "≤ 1 + 4", together <= 5),
  ];
}

/** Reads of the n-th step: none is like another, or the turn would end as one that makes no way. */
function reads(n: number, count: number): Answer {
  const callOf = (index: number) => ({ tool: "path", input: { path: "notes.txt", offset: 1 + n * count + index } }) as const;
  return { type: "calls", calls: Array.from({ length: count }, (_, index) => callOf(index)) };
}

/** So many steps of so many calls; a request's number is that of the results it holds. */
function stepsOfReads(steps: number, count = 1): (n: number) => Answer | null {
  return (n) => (n < steps * count ? reads(n / count, count) : null);
}

async function driven(field: Field, count: number, script: (n: number) => Answer | null) {
  const server = await startModelServer(script, true);
  const folder = field.folder("many");
  try {
    const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: "bench" };
    return await told<{ readonly ended: number; readonly ms: number; readonly commits: number; readonly mbEach: number }>(
      "many-sessions.ts",
      [folder, String(count)],
      env,
    );
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the sandbox adds to a command that does nothing. */
export async function confinement(field: Field): Promise<Row[]> {
  const [rounds, pairs] = [field.rounds(9), field.isQuick ? 3 : 60];
  const found: Readonly<Record<"bare" | "direct" | "off" | "on", number>>[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const folder = field.folder("confined");
    mkdirSync(folder, { recursive: true });
    found.push(await told("confined.ts", [folder, String(pairs)]));
    rmSync(folder, { recursive: true, force: true });
  }
  const over = (way: "direct" | "off" | "on", floor: "bare" | "off") => found.map((all) => all.map((one) => one[way] - one[floor]));
  const row = (figure: string, differences: readonly number[][], goal?: Goal) => {
    const low = number(quantile(differences.flat(), 0.25));
    return rowOf(figure, differences.map(median), " ms", goal, `lower quartile of ${pairs * rounds} pairs ${low} ms`);
  };
  const bare = number(median(found.flat().map((one) => one.bare)));
  return [
    row("bubblewrap with a session's view, over a bare spawn", over("direct", "bare"), { text: "≤ 8 ms", most: 8 }),
    row("a sandboxed command by the runtime, over an unconfined one", over("on", "off")),
    row(`an unconfined command by the runtime, over a bare spawn of ${bare} ms`, over("off", "bare")),
  ];
}

/** Sessions that wait. */
export async function waiting(field: Field): Promise<Row[]> {
  const count = field.isQuick ? 50 : 10_000;
  const found: { readonly handed: number; readonly handedPerSecond: number; readonly ringsPerSecond: number; readonly handles: number }[] =
    [];
  for (let round = 0; round < field.rounds(5); round += 1) {
    const folder = field.folder("waiting");
    mkdirSync(folder, { recursive: true });
    found.push(await told("waiting.ts", [folder, String(count)]));
    rmSync(folder, { recursive: true, force: true });
  }
  const title = number(count).replace(/\.0+$/, "");
  const goal = { text: "≥ 10,000 a second", least: field.isQuick ? 0 : 10_000 };
  return [
    rowOf(
      `${title} waiting sessions that are due, found and handed to a worker`,
      found.map(({ handedPerSecond }) => handedPerSecond),
      " a second",
      goal,
    ),
    rowOf(
      "rings that reach a listening driver",
      found.map(({ ringsPerSecond }) => ringsPerSecond),
      " a second",
      goal,
    ),
    countOf(
      `timers and handles for ${title} waiting sessions`,
      String(found[0]?.handles),
      "0",
      found.every(({ handles }) => handles === 0),
    ),
  ];
}
