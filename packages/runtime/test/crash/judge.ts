import type { Item } from "@holdfast/protocol";
import type { EffectType, SessionView } from "../../src/index.ts";
import { readSession } from "../../src/index.ts";
import { faultsOfLaw, faultsOfPairing } from "../laws.ts";
import type { Run } from "./run.ts";

/** What became of a call. `once`: as if nothing had happened. */
export const ends = {
  once: "carried out once, its result recorded",
  again: "carried out again",
  answered: "asked again with the same key; the target answered from its record",
  found: "found to have happened by looking, and settled",
  "in doubt": "not repeated: told to be in doubt",
} as const;
export type End = keyof typeof ends;

export interface Judged {
  readonly call: End;
  /** Other effects that were carried out once more. */
  readonly again: readonly EffectType[];
  /** What must never be. */
  readonly faults: readonly string[];
}

/** Judges a run by what the world has seen and what the log says, beside the same scenario without a fault. */
export async function judge(run: Run, clean: Run): Promise<Judged> {
  const view = await readSession(run, run.session);
  const counts = (type: string): number => (run.outside.done.get(type) ?? 0) - (clean.outside.done.get(type) ?? 0);
  const others = ["sample", "baseline", "check", "output"] as const;
  return {
    call: endOf(run, view),
    again: others.filter((type) => counts(type) > 0),
    faults: [
      ...(await faultsOfLaw(run.log, run.session)),
      ...faultsOfPairing(view.items),
      ...faultsOfLoss(run, view),
      ...faultsOfCalls(run, view),
      ...(await faultsOfDoubt(run, view)),
      ...(await faultsOfStore(run)),
      ...faultsOfEnd(view, await readSession(clean, clean.session)),
    ],
  };
}

function endOf({ outside }: Run, view: SessionView): End {
  if (view.inDoubt.length > 0) return "in doubt";
  if ([...outside.acts.values()].some((times) => times > 1)) return "again";
  if ([...outside.acts.keys()].some((callId) => (outside.attempts.get(callId) ?? 0) > 1)) return "answered";
  return outside.found.size > 0 ? "found" : "once";
}

function faultsOfLoss({ acknowledged }: Run, view: SessionView): string[] {
  const kept = new Set(view.events.map(({ seq, type }) => `${seq} ${type}`));
  return acknowledged.filter((line) => !kept.has(line)).map((line) => `event ${line} was acknowledged and is lost`);
}

/** Each call has one settlement, and what it says is what the target saw. */
function faultsOfCalls({ scenario, outside }: Run, view: SessionView): string[] {
  const settled = view.events.flatMap((event) => (event.type === "call.settled" ? [event.payload] : []));
  const proposed = view.items.flatMap((item) => (item.kind === "tool_call" ? [item.callId] : []));
  const sum = [...outside.acts.values()].reduce((all, times) => all + times, 0);
  const intended = settled.filter(({ outcome }) => outcome.status === "completed" && outcome.text.startsWith("acted"));
  return [
    ...proposed.flatMap((callId) => {
      const times = settled.filter((one) => one.callId === callId).length;
      return times === 1 ? [] : [`call ${callId} was settled ${times} times`];
    }),
    ...intended.flatMap(({ callId }) => (outside.acts.has(callId) ? [] : [`call ${callId} is said to be done and was not`])),
    ...[...outside.acts].flatMap(([callId, times]) => {
      const status = settled.find((one) => one.callId === callId)?.outcome.status;
      return [
        ...(times > 1 && scenario.replay !== "safe" ? [`call ${callId} was done ${times} times`] : []),
        ...(status === undefined && scenario.replay !== "safe" ? [`call ${callId} was done and the log has forgotten it`] : []),
        ...(status === "failed" || status === "denied" ? [`call ${callId} was done and is said to be ${status}`] : []),
      ];
    }),
    // A call proposed anew after its first proposal was lost has another id.
    ...(scenario.replay !== "safe" && sum > 1 ? [`what one call was to do was done ${sum} times`] : []),
  ];
}

/** In doubt is told to the model, to a person, and kept so that a repeat of the call is reviewed. */
async function faultsOfDoubt({ log, session }: Run, view: SessionView): Promise<string[]> {
  const registers = (await log.load(session))?.registers ?? [];
  const isTold = (item: Item, callId: string): boolean =>
    item.kind === "tool_result" && item.callId === callId && /may have happened.*look at/.test(item.text);
  return view.events.flatMap((event) => {
    if (event.type !== "call.settled" || event.payload.outcome.status !== "in_doubt") return [];
    const { callId } = event.payload;
    return [
      ...(view.items.some((item) => isTold(item, callId)) ? [] : [`the model is not told that call ${callId} is in doubt`]),
      ...(view.inDoubt.some((one) => one.callId === callId) ? [] : [`a person is not told that call ${callId} is in doubt`]),
      ...(registers.some(({ kind, value }) => kind === "doubt" && value?.includes(callId))
        ? []
        : [`a repeat of call ${callId} would not be known`]),
    ];
  });
}

async function faultsOfStore({ log, blobs, session }: Run): Promise<string[]> {
  const missing: string[] = [];
  for (const blob of await log.referencedBlobs()) if (/^[0-9a-f]{64}$/.test(blob) && !(await blobs.has(blob))) missing.push(blob);
  const waiting = await log.inbox(session);
  return [
    ...missing.map((blob) => `blob ${blob} is referred to and missing`),
    ...(waiting.length === 0 ? [] : [`${waiting.length} messages were never taken`]),
    ...((await log.takeOutbox(1)).length === 0 ? [] : ["a message was never sent"]),
  ];
}

/** The conversation and its outcomes are those of the run without a fault. */
function faultsOfEnd(view: SessionView, clean: SessionView): string[] {
  const [found, wanted] = [summary(view), summary(clean)];
  return found === wanted ? [] : [`it ended as ${found} instead of ${wanted}`];
}

function summary(view: SessionView): string {
  return JSON.stringify({
    turns: view.turns.map(({ outcome }) => outcome),
    items: view.items.flatMap((item) => (item.kind === "notice" ? [] : [item.kind])),
    title: view.row.title,
    checks: view.checks.length,
    network: view.settings.network,
  });
}
