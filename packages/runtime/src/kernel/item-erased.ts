import type { EventPayload, Json, Task } from "@holdfast/protocol";
import { callsOf } from "./answered.ts";
import { erasedText } from "./erased.ts";
import type { Head, RegisterKind, RegisterPut, Registers } from "./state.ts";

/** Takes out of the state what came from the item; there is no open turn. */
export function itemErased(
  head: Head,
  registers: Registers,
  payload: EventPayload<"item.erased">,
): { readonly head: Head; readonly puts: readonly RegisterPut[] } {
  const { itemId, callId, kept, windowChars, title, runs, seen, blobs, outputOf } = payload;
  const about = registers.get("session", "");
  const recorded = registers.get("runs", "");
  const ofCall = <T>(entries: readonly T[]): readonly T[] => (callId === null ? [] : entries);
  return {
    head: { ...head, windowChars: head.windowChars - windowChars },
    puts: [
      put("erasing", itemId, { seqs: kept.map(({ seq }) => seq), blobs, title, outputOf }),
      ...(title === null || about === null ? [] : [put("session", "", { ...about, title })]),
      ...(recorded === null || runs.length === 0
        ? []
        : [
            put(
              "runs",
              "",
              recorded.map((run, index) => (runs.includes(index) ? { ...run, command: erasedText } : run)),
            ),
          ]),
      ...seenPaths(registers).flatMap((path, index) => (seen.includes(index) ? [put("seen", path, null)] : [])),
      ...ofCall(registers.entries("approval")).flatMap(([id, { approval }]) =>
        callsOf(approval).includes(callId ?? "") ? [put("approval", id, null)] : [],
      ),
      ...ofCall(registers.entries("grant")).flatMap(([id, grant]) =>
        grant.callId === callId || callsOf(registers.get("approval", id)?.approval ?? grant).includes(callId ?? "")
          ? [put("grant", id, null)]
          : [],
      ),
      ...ofCall(registers.entries("question")).flatMap(([id, { question }]) =>
        question.callId === callId ? [put("question", id, null)] : [],
      ),
      ...registers
        .entries("check")
        .flatMap(([id, { from }]) =>
          from !== undefined && (from === itemId || from === callId || from === outputOf) ? [put("check", id, null)] : [],
        ),
      // A plan's question holds the whole plan.
      ...registers.entries("question").flatMap(([id, { question }]) => (question.plan === itemId ? [put("question", id, null)] : [])),
      ...registers.entries("plan").flatMap(([key, plan]) => (plan.callId === (callId ?? outputOf) ? [put("plan", key, null)] : [])),
      ...ofCall(registers.entries("doubt")).flatMap(([key, doubt]) => (doubt.callId === callId ? [put("doubt", key, null)] : [])),
      ...registers.entries("output").flatMap(([handle, { callId: from }]) => (from === outputOf ? [put("output", handle, null)] : [])),
      ...registers.entries("inspected").flatMap(([id]) => (id === callId || id === outputOf ? [put("inspected", id, null)] : [])),
      ...ofCall(registers.entries("task")).flatMap(([id, task]) =>
        task.callId === callId
          ? [put("task", id, { ...withoutNeed(task), title: erasedText, ...(task.command === undefined ? {} : { command: erasedText }) })]
          : [],
      ),
    ],
  };
}

function withoutNeed(task: Task): Task {
  const { needed: _, ...rest } = task;
  return rest;
}

/** In an order that is the same wherever it is asked for. */
export function seenPaths(registers: Registers): string[] {
  return registers
    .entries("seen")
    .map(([path]) => path)
    .sort();
}

function put(kind: RegisterKind, key: string, value: unknown): RegisterPut {
  return { kind, key, value: value as Json | null };
}
