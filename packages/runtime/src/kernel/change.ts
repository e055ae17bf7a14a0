import type { Item, Json } from "@holdfast/protocol";
import type { Head, OpenCall, RegisterKind, RegisterPut, Registers, Turn } from "./state.ts";

export interface Applied {
  readonly head: Head;
  readonly puts: readonly RegisterPut[];
}

export function turn(head: Head, patch: Partial<Turn> | ((turn: Turn) => Partial<Turn>)): Head {
  if (head.turn === null) return head;
  return { ...head, turn: { ...head.turn, ...(typeof patch === "function" ? patch(head.turn) : patch) } };
}

export function openCall(head: Head, id: string, patch: Partial<OpenCall>): Head {
  return turn(head, (t) => ({ open: t.open.map((call) => (call.id === id ? { ...call, ...patch } : call)) }));
}

export function put<K extends RegisterKind>(kind: K, key: string, value: unknown): RegisterPut {
  return { kind, key, value: value as Json | null };
}

export function drop(registers: Registers, kind: RegisterKind): RegisterPut[] {
  return registers.entries(kind).map(([key]) => put(kind, key, null));
}

export function amendCall(registers: Registers, callId: string, patch: object): RegisterPut[] {
  const call = registers.get("call", callId);
  return call === null ? [] : [put("call", callId, { ...call, ...patch })];
}

/** Characters that an item adds to a request: an estimate, good to a few percent of its JSON. */
export function itemChars(item: Item): number {
  switch (item.kind) {
    case "user_message":
      return item.parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 4_000), 60);
    case "assistant_message":
    case "notice":
      return item.text.length + 60;
    case "reasoning":
      return item.text.length + (item.opaque === undefined ? 0 : JSON.stringify(item.opaque.payload).length) + 60;
    case "tool_call":
      return item.name.length + item.input.length + 120;
    case "tool_result":
      return item.text.length + 100 + 4_000 * (item.images?.length ?? 0);
  }
}

export function grow(head: Head, items: readonly Item[]): Head {
  return { ...head, windowChars: items.reduce((sum, item) => sum + itemChars(item), head.windowChars) };
}
