import type { EventPayload, Json } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol/usage";
import type { Head, RegisterKind, RegisterPut, Registers, Turn } from "./state.ts";

/** What belongs to the session that went on, not to its fork: what runs, what was asked and allowed, the open turn's records. */
const leftBehind: readonly RegisterKind[] = ["call", "approval", "grant", "question", "denied", "task", "evidence", "snapshot"];

/** A fork begins where nothing is in flight. */
export function isStepEnd(turn: Turn | null): boolean {
  return turn === null || (turn.sampling === null && turn.open.length === 0);
}

/** A session of its own begins: the same history, no open turn, nothing spent yet. */
export function forked(
  head: Head,
  registers: Registers,
  { from, title }: EventPayload<"session.forked">,
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
    ],
  };
}
