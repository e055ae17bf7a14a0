import type { Doubt, EventPayload, Json } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol/usage";
import { doubtKey, doubtOf } from "./doubt.ts";
import type { Head, RegisterKind, RegisterPut, Registers, Turn } from "./state.ts";

/** What belongs to the session that went on, not to its fork: what runs, what was asked and allowed, the open turn's records. */
const leftBehind: readonly RegisterKind[] = ["call", "approval", "grant", "question", "denied", "task", "evidence", "snapshot"];

/** A fork begins where nothing is in flight. */
export function isStepEnd(turn: Turn | null): boolean {
  return turn === null || (turn.sampling === null && turn.open.length === 0);
}

/**
 * Calls that may have happened by what the other session knows now, and that its fork would not know of: those in flight that
 * can't simply be run again, and those in doubt since the fork's beginning.
 */
export function doubtsBeyond(shared: Registers, now: Registers): Doubt[] {
  const inFlight = now
    .entries("call")
    .flatMap(([callId, { name, plan, inputDigest, intent }]) =>
      intent === null || intent.replay === "safe" ? [] : [{ tool: name, identity: plan.identity ?? inputDigest, callId }],
    );
  const inDoubt = now.entries("doubt").map(([key, { callId }]) => ({ ...doubtOf(key), callId }));
  return [...inDoubt, ...inFlight].filter(({ tool, identity }) => shared.get("doubt", doubtKey(tool, identity)) === null);
}

/** A session of its own begins: the same history, no open turn, nothing spent yet. */
export function forked(
  head: Head,
  registers: Registers,
  { from, title, doubts = [] }: EventPayload<"session.forked">,
): { readonly head: Head; readonly puts: readonly RegisterPut[] } {
  const about = registers.get("session", "");
  const { hasUnknownCost: _, ...kept } = head;
  return {
    head: {
      ...kept,
      turn: null,
      usage: noUsage,
      cost: null,
      baseline: head.baseline.isRecorded ? head.baseline : { attempt: 0, isRecorded: false },
    },
    puts: [
      ...(about === null
        ? []
        : [
            {
              kind: "session" as const,
              key: "",
              value: { ...about, title, ancestors: [from, ...(about.ancestors ?? [])] } as unknown as Json,
            },
          ]),
      ...leftBehind.flatMap((kind) => registers.entries(kind).map(([key]) => ({ kind, key, value: null }))),
      ...doubts.map(({ tool, identity, callId }) => ({ kind: "doubt" as const, key: doubtKey(tool, identity), value: { callId } })),
    ],
  };
}
