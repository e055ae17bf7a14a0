import type { CallOutcome, CallPlan } from "@holdfast/protocol";
import { canonical } from "../canonical.ts";
import { sha256 } from "../hash.ts";
import { plain } from "./identity.ts";

/** A settled call as far as it is compared with others: digests of what was asked, and of that with what came back. */
interface Seen {
  readonly what: string;
  readonly call: string;
  readonly result: string;
}

/**
 * How the calls of a turn repeat themselves. At index p - 1 of `calls` stands how many calls in a row equal the one p before
 * them, for cycles of p = 1, 2 and 3 calls; `results` counts those that also had the same result.
 */
export interface Repeats {
  /** The latest first. */
  readonly last: readonly Seen[];
  readonly calls: readonly number[];
  readonly results: readonly number[];
  /** Calls since one that itself waited for something; null where none did. */
  readonly sinceWait: number | null;
  /** Calls in a row that failed or were refused. */
  readonly failures: number;
  /** True once the model was told of the loop that stands. */
  readonly isTold: boolean;
}

const longestCycle = 3;
export const noRepeats: Repeats = { last: [], calls: [0, 0, 0], results: [0, 0, 0], sinceWait: null, failures: 0, isTold: false };

/** A call that took so long waited for the world, as polling does; one that comes back at once only asks again. */
const waitedMs = 1_000;

const longestWhat = 60;

/** Counts a settled call in. One that was never decided (no such tool, no valid input) is known by what it was told. */
export function repeated(before: Repeats, name: string, plan: CallPlan | null, outcome: CallOutcome, runsOn: boolean): Repeats {
  const asked = sha256(`${name}\n${plan === null ? outcome.text : canonical(plain(plan.input))}`).slice(0, 16);
  const what = plan === null || plan.summary.startsWith(name) ? (plan?.summary ?? name) : `${name} ${plan.summary}`;
  const now: Seen = {
    what: what.length > longestWhat ? `${what.slice(0, longestWhat - 1)}…` : what,
    call: asked,
    result: sha256(`${asked}\n${outcome.status}\n${outcome.text}`).slice(0, 16),
  };
  const count = (runs: readonly number[], key: "call" | "result"): number[] =>
    runs.map((run, index) => (before.last[index]?.[key] === now[key] ? run + 1 : 0));
  const hasFailed = outcome.status === "failed" || outcome.status === "denied";
  const hasWaited = runsOn || (outcome.durationMs ?? 0) >= waitedMs;
  const after: Repeats = {
    last: [now, ...before.last].slice(0, longestCycle),
    calls: count(before.calls, "call"),
    results: count(before.results, "result"),
    sinceWait: hasWaited ? 0 : before.sinceWait === null ? null : before.sinceWait + 1,
    failures: hasFailed ? before.failures + 1 : 0,
    isTold: before.isTold,
  };
  const goesOn = after.calls.some((run) => run > 0) || after.failures > 1;
  return goesOn ? after : { ...after, isTold: false };
}

/** A loop that a turn is in. `isNear`: the model is to be told; `isReached`: the turn ends. */
export interface Loop {
  readonly limit: "sameCallSameResult" | "cycle" | "retryStorm";
  readonly value: number;
  readonly max: number;
  readonly isNear: boolean;
  readonly isReached: boolean;
  /** What goes round, as it follows "in a row: ". */
  readonly text: string;
}

/**
 * The loop nearest to its end, null where there is none. `most`: rounds of the same calls with the same results. Where they
 * bring back something new each time three times as many are let through, and five times as many where a call of the round
 * waits itself (polling): then with the same results; something new after a wait is progress. A call that fails each time is
 * let through twice as often, however long it takes; as many as five times calls of any kind may fail in a row.
 */
export function loopOf(repeats: Repeats, most: number): Loop | null {
  const loops: Loop[] = [];
  for (let cycle = 1; cycle <= longestCycle; cycle += 1) {
    const names = repeats.last.slice(0, cycle).map(({ what }) => what);
    const kind = cycle === 1 ? "sameCallSameResult" : "cycle";
    const waits = repeats.sinceWait !== null && repeats.sinceWait < cycle;
    const going = `${names.toReversed().join(" → ")}${waits ? " (waiting in between)" : ""}`;
    loops.push(loop(kind, rounds(repeats.results, cycle), waits ? 5 * most : most, `the same result from ${going}`));
    const asked = rounds(repeats.calls, cycle);
    const fails = cycle === 1 && repeats.failures >= asked;
    // What comes back otherwise after a wait is progress, unless it is another failure.
    if (waits && !fails) continue;
    if (fails) loops.push(loop("retryStorm", asked, 2 * most, `${going} failed`));
    else loops.push(loop(kind, asked, 3 * most, `the same call again, ${going}`));
  }
  loops.push(loop("retryStorm", repeats.failures, 5 * most, `every call failed, the last of them ${repeats.last[0]?.what ?? ""}`));
  const counted = loops.filter(({ isNear }) => isNear);
  return counted.find(({ isReached }) => isReached) ?? counted[0] ?? null;
}

/** Whole rounds of a cycle, the first included. */
function rounds(runs: readonly number[], cycle: number): number {
  const run = runs[cycle - 1] ?? 0;
  return run === 0 ? 0 : Math.floor(run / cycle) + 1;
}

function loop(limit: Loop["limit"], value: number, max: number, text: string): Loop {
  const near = Math.max(1, Math.min(max - 1, Math.ceil(max * 0.75)));
  return { limit, value, max, isNear: value >= near, isReached: value >= max, text };
}

/** For a person: which loop it is, and what goes round. */
export function describeLoop({ limit, value, text }: Loop): string {
  switch (limit) {
    case "sameCallSameResult":
      return `${text}, ${value} times in a row`;
    case "cycle":
      return `a cycle of calls, ${value} times round: ${text}`;
    case "retryStorm":
      return `a retry storm, ${value} times in a row: ${text}`;
  }
}
