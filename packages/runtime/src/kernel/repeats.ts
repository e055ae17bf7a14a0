import type { CallOutcome, CallPlan } from "@holdfast/protocol";
import { canonical } from "../canonical.ts";
import { sha256 } from "../hash.ts";
import { plain } from "./identity.ts";

/** A settled call, or step, as far as it is compared with others: digests of what was asked, and of that with what came back. */
interface Seen {
  readonly what: string;
  readonly call: string;
  readonly result: string;
}

/**
 * What is settled of an open step. Calls that run side by side settle in any order, so nothing here depends on that: digests
 * are added up.
 */
interface OpenStep {
  readonly size: number;
  readonly call: number;
  readonly result: number;
  readonly first: Seen;
  /** What all of its calls have in common. */
  readonly same: "result" | "call" | "nothing";
  /** The first few in alphabetical order. */
  readonly names: readonly string[];
  readonly hasFailed: boolean;
  readonly waited: Waited;
}

/** How a call waited for the world: not at all; as one that polls does; so that anything new is progress. */
type Waited = "no" | "polls" | "long";

/**
 * How the calls of a turn repeat themselves. At index p - 1 of `calls` stands how many steps in a row equal the one p before
 * them, for cycles of p = 1, 2 and 3 steps; `results` counts those that also had the same result. A step of one call, and
 * each of a step that is one call several times, stands for itself.
 */
export interface Repeats {
  /** The latest first. */
  readonly last: readonly Seen[];
  readonly calls: readonly number[];
  readonly results: readonly number[];
  /** Steps since one that itself waited for something; null where none did. */
  readonly sinceWait: number | null;
  /** Calls in a row that failed or were refused. */
  readonly failures: number;
  /** True once the model was told of the loop that stands. */
  readonly isTold: boolean;
  /** Missing in a turn of an earlier version: there calls are counted one by one, as they settle. */
  readonly bySteps?: {
    readonly open: OpenStep | null;
    /** Steps in a row of which all calls failed. */
    readonly failed: number;
    /** As `sinceWait`, of waits after which anything new is progress. */
    readonly sinceLong: number | null;
  };
}

const longestCycle = 3;
const noneByCalls: Repeats = { last: [], calls: [0, 0, 0], results: [0, 0, 0], sinceWait: null, failures: 0, isTold: false };
export const noRepeats: Repeats = { ...noneByCalls, bySteps: { open: null, failed: 0, sinceLong: null } };

/** What a turn begins with. `repeatsBy`: as its event says it. */
export function repeatsAtStart(repeatsBy: "steps" | undefined): Repeats {
  return repeatsBy === undefined ? noneByCalls : noRepeats;
}

/** A call that took so long waited for the world, as polling does; one that comes back at once only asks again. */
const waitedMs = 1_000;
/** A failing call may have taken its time to fail: only after so long is another failure news of what it waits for. */
const waitedLongMs = 10_000;

const longestWhat = 60;
const mostNames = 3;

/**
 * Counts a settled call in. One that was never decided (no such tool, no valid input) is known by what it was told. `isLast`:
 * none of its step is open any more.
 */
export function repeated(
  before: Repeats,
  name: string,
  plan: CallPlan | null,
  outcome: CallOutcome,
  { runsOn, isLast }: { readonly runsOn: boolean; readonly isLast: boolean },
): Repeats {
  const asked = sha256(`${name}\n${plan === null ? outcome.text : (plan.repeats ?? canonical(plain(plan.input)))}`).slice(0, 16);
  const what = plan === null || plan.summary.startsWith(name) ? (plan?.summary ?? name) : `${name} ${plan.summary}`;
  const now: Seen = {
    what: what.length > longestWhat ? `${what.slice(0, longestWhat - 1)}…` : what,
    call: asked,
    result: sha256(`${asked}\n${outcome.status}\n${outcome.text}`).slice(0, 16),
  };
  const hasFailed = outcome.status === "failed" || outcome.status === "denied";
  const waited = waitedOf(outcome, hasFailed, runsOn);
  if (before.bySteps === undefined) return counted(before, now, { failures: hasFailed ? 1 : null, waited });
  const open = joined(before.bySteps.open, now, hasFailed, waited);
  const after: Repeats = { ...before, bySteps: { ...before.bySteps, open: isLast ? null : open } };
  return isLast ? stepOver(after, open) : after;
}

function waitedOf({ durationMs = 0 }: CallOutcome, hasFailed: boolean, runsOn: boolean): Waited {
  if (!runsOn && durationMs < waitedMs) return "no";
  return hasFailed && durationMs < waitedLongMs ? "polls" : "long";
}

function joined(step: OpenStep | null, now: Seen, hasFailed: boolean, waited: Waited): OpenStep {
  const { size, call, result, first, same, names } = step ?? { ...noStep, first: now };
  const ranks: readonly Waited[] = ["no", "polls", "long"];
  return {
    size: size + 1,
    call: added(call, now.call),
    result: added(result, now.result),
    first,
    same: same === "nothing" || first.call !== now.call ? "nothing" : first.result === now.result ? same : "call",
    names: [...new Set([...names, now.what])].sort().slice(0, mostNames),
    hasFailed: hasFailed && step?.hasFailed !== false,
    waited: ranks[Math.max(ranks.indexOf(waited), ranks.indexOf(step?.waited ?? "no"))] ?? "no",
  };
}

const noStep = { size: 0, call: 0, result: 0, same: "result" as const, names: [] as readonly string[] };

/** Of whole numbers of 48 bits, which a double holds exactly. */
function added(sum: number, digest: string): number {
  return (sum + Number.parseInt(digest.slice(0, 12), 16)) % 2 ** 48;
}

function stepOver(before: Repeats, { size, call, result, first, same, names, hasFailed, waited }: OpenStep): Repeats {
  const isOne = same !== "nothing";
  const entry = (n: number): Seen => {
    if (same === "result") return first;
    // The one call brought back several things: at the same place of an equal step they are the same.
    if (same === "call") return { ...first, result: `${n}:${result.toString(16)}` };
    return { what: names.join(" + "), call: `${size}:${call.toString(16)}`, result: `${size}:${result.toString(16)}` };
  };
  let after = before;
  for (let n = 0; n < (isOne ? size : 1); n += 1)
    after = counted(after, entry(n), { failures: hasFailed ? (isOne ? 1 : size) : null, waited });
  return after;
}

/** `failures`: calls of it, where all failed. */
function counted(before: Repeats, now: Seen, { failures, waited }: { readonly failures: number | null; readonly waited: Waited }): Repeats {
  const count = (runs: readonly number[], key: "call" | "result"): number[] =>
    runs.map((run, index) => (before.last[index]?.[key] === now[key] ? run + 1 : 0));
  const since = (steps: number | null, isNow: boolean): number | null => (isNow ? 0 : steps === null ? null : steps + 1);
  const after: Repeats = {
    last: [now, ...before.last].slice(0, longestCycle),
    calls: count(before.calls, "call"),
    results: count(before.results, "result"),
    sinceWait: since(before.sinceWait, waited !== "no"),
    failures: failures === null ? 0 : before.failures + failures,
    isTold: before.isTold,
    ...(before.bySteps === undefined
      ? {}
      : {
          bySteps: {
            open: before.bySteps.open,
            failed: failures === null ? 0 : before.bySteps.failed + 1,
            sinceLong: since(before.bySteps.sinceLong, waited === "long"),
          },
        }),
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
 * let through twice as often, unless it takes so long that it waits for something by failing; as many as five times calls of
 * any kind may fail in a row.
 */
export function loopOf(repeats: Repeats, most: number): Loop | null {
  const loops: Loop[] = [];
  const { bySteps } = repeats;
  const within = (since: number | null, cycle: number): boolean => since !== null && since < cycle;
  for (let cycle = 1; cycle <= longestCycle; cycle += 1) {
    const names = repeats.last.slice(0, cycle).map(({ what }) => what);
    const kind = cycle === 1 ? "sameCallSameResult" : "cycle";
    const waits = within(repeats.sinceWait, cycle);
    const going = `${names.toReversed().join(" → ")}${waits ? " (waiting in between)" : ""}`;
    loops.push(loop(kind, rounds(repeats.results, cycle), waits ? 5 * most : most, `the same result from ${going}`));
    const asked = rounds(repeats.calls, cycle);
    const fails = cycle === 1 && (bySteps?.failed ?? repeats.failures) >= asked;
    // What comes back otherwise after a wait is progress, unless it is another failure of a call that takes its time to fail.
    if (bySteps === undefined ? waits && !fails : within(bySteps.sinceLong, cycle)) continue;
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
