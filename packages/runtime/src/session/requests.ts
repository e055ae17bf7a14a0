import type { CompactedEntry, Item, SessionEvent, ShedPart, ToolSpec, Usage, WorldSection } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { apply } from "../kernel/apply.ts";
import { compactedItems } from "../kernel/compacted.ts";
import { itemsOf } from "../kernel/copies.ts";
import { createRegisters, emptyHead, type Head, type MutableRegisters } from "../kernel/state.ts";
import { createWindow } from "../kernel/window.ts";
import type { Director, Log, RecordedEvent } from "../ports/index.ts";
import { readShown } from "./shown.ts";
import { loadState, newer } from "./stored.ts";

/** Where an item of a request came from. `request`: the number of the one that it answers; null for what no model said. */
export interface ItemOrigin {
  readonly seq: number;
  readonly turn: number;
  readonly request: number | null;
  readonly isErased: boolean;
}

/** A request as it was built, or as the next attempt of an open one would be, derived from the log. */
export interface RequestAsked {
  /** Of all samplings of the session, from 1. A retry is the same request again. */
  readonly number: number;
  readonly turn: number;
  readonly step: number;
  /** The event that closed it; of an open one the log's last. */
  readonly seq: number;
  readonly at: number;
  readonly model: string;
  readonly status: "answered" | "failed" | "abandoned" | "open";
  readonly world: readonly WorldSection[];
  /** Null: they are written down with the answer, and there is none yet. */
  readonly tools: readonly ToolSpec[] | null;
  readonly items: readonly Item[];
  readonly origins: ReadonlyMap<string, ItemOrigin>;
  /** What the window begins with, where the conversation was shortened: the notice's id, and its entries. */
  readonly state: { readonly id: string; readonly entries: readonly CompactedEntry[]; readonly number: number } | null;
  /** The message that the turn works on. */
  readonly goal: string | null;
  /** What was kept out of the session's requests so far, as it was seen last. */
  readonly shed: readonly ShedPart[];
  readonly usage: Usage | null;
  readonly cost: number | null;
  /** The last answer in this window before it whose request the provider counted: its event, and input tokens. */
  readonly counted: { readonly seq: number; readonly tokens: number } | null;
}

export interface RequestsAsked {
  /** How many there are. */
  readonly count: number;
  readonly found: readonly RequestAsked[];
}

/**
 * Requests of a session by their numbers; without any the last one. Only reads. Throws `session_not_found`, `session_newer`,
 * `session_corrupt`, and `usage` for a number that there is no request of.
 */
export async function requestsOf(
  { log, director }: { readonly log: Pick<Log, "load" | "read">; readonly director: Pick<Director, "behaviour"> },
  session: string,
  numbers: readonly number[] = [],
): Promise<RequestsAsked> {
  const { row, head } = await loadState(log, session);
  if (head.behaviour > director.behaviour) throw newer(`session ${session}`);
  const stored = await log.read(session, 1, row.seq);
  const events = readShown(stored);
  const erased = new Set(stored.flatMap(({ seq, payload }) => (payload === null ? [seq] : [])));
  for (const event of events) {
    if (event.type !== "item.erased" && event.type !== "session.forked") continue;
    for (const { seq } of event.payload.kept) erased.add(seq);
  }
  const count = events.filter(({ type }) => type === "sampling.intended").length;
  if (count === 0)
    throw new HoldfastError("usage", `session ${session} has made no request yet`, { hint: "holdfast sessions show says how it stands" });
  const wanted = numbers.length === 0 ? [count] : numbers;
  for (const number of wanted) {
    if (number > count) throw new HoldfastError("usage", `there is no request ${number} of session ${session}: it has made ${count}`);
  }
  const found = new Map<number, RequestAsked>();
  const reader = createReader(erased);
  for (const event of events) {
    const ended = reader.take(event, wanted);
    if (ended !== null) found.set(ended.number, ended);
    if (wanted.every((number) => found.has(number))) break;
  }
  const open = reader.open();
  if (open !== null && wanted.includes(open.number)) found.set(open.number, open);
  return { count, found: wanted.flatMap((number) => found.get(number) ?? []) };
}

function createReader(erased: ReadonlySet<number>) {
  let head: Head = emptyHead;
  const registers: MutableRegisters = createRegisters();
  const window = createWindow(false, true);
  const origins = new Map<string, ItemOrigin>();
  let [number, step, compactions] = [0, 0, 0];
  let isOpen = false;
  let tools: readonly ToolSpec[] | null = null;
  let goal: string | null = null;
  let state: RequestAsked["state"] = null;
  let shed: readonly ShedPart[] = [];
  let counted: RequestAsked["counted"] = null;
  let last = { seq: 0, at: 0 };

  const asked = (
    status: RequestAsked["status"],
    usage: Usage | null,
    cost: number | null,
    event: { seq: number; at: number },
  ): RequestAsked => ({
    number,
    turn: head.turns,
    step,
    seq: event.seq,
    at: event.at,
    model: registers.get("settings", "")?.model ?? "",
    status,
    world: registers.entries("world").map(([, section]) => section),
    tools,
    items: [...window.items],
    origins: new Map(origins),
    state,
    goal,
    shed,
    usage,
    cost,
    counted,
  });

  /** The sampling that an event ends, as its request stood. */
  function endedBy(event: RecordedEvent): RequestAsked | null {
    switch (event.type) {
      case "sampling.settled":
        return asked("answered", event.payload.usage, event.payload.cost, event);
      case "sampling.failed":
        return event.payload.retryAt === null ? asked("failed", event.payload.usage, event.payload.cost ?? null, event) : null;
      case "sampling.abandoned":
        return asked("abandoned", event.payload.usage, event.payload.cost ?? null, event);
      default:
        return null;
    }
  }

  function note(event: SessionEvent, seq: number): void {
    const request = event.type === "sampling.settled" ? number : null;
    const items = event.type === "window.compacted" ? compactedItems(event.payload) : itemsOf(event);
    const isErased = erased.has(seq);
    // What a new window takes over from the one before stays where it came from, and whose answer it was.
    const earlier = event.type === "window.compacted" ? new Map(origins) : origins;
    if (event.type === "window.compacted") origins.clear();
    for (const { id } of items) {
      const known = earlier.get(id);
      if (known === undefined) origins.set(id, { seq, turn: head.turns, request, isErased });
      else if (earlier !== origins) origins.set(id, { ...known, isErased: known.isErased || isErased });
    }
  }

  return {
    take(event: RecordedEvent, wanted: readonly number[]): RequestAsked | null {
      last = event;
      if (event.type === "sampling.intended") {
        number += 1;
        ({ step } = event.payload);
        isOpen = true;
      }
      if (event.type === "sampling.settled" && event.payload.tools !== undefined) ({ tools } = event.payload);
      const ended = isOpen && wanted.includes(number) ? endedBy(event) : null;
      if (event.type === "sampling.settled" || event.type === "sampling.abandoned") isOpen = false;
      if (event.type === "sampling.failed" && event.payload.retryAt === null) isOpen = false;
      if (event.type === "window.compacted") {
        compactions += 1;
        state = { id: event.payload.id, entries: event.payload.entries, number: compactions };
        counted = null;
      }
      if (event.type === "world.observed") shed = event.payload.shed ?? (event.payload.sections.length > 0 ? [] : shed);
      const applied = apply(head, registers, event, event.at);
      head = { ...applied.head, seq: event.seq };
      registers.put(applied.puts);
      if (event.type === "turn.started") goal = event.payload.message.id;
      note(event, event.seq);
      window.add(event);
      if (event.type === "sampling.settled" && event.payload.usage.estimated !== true) {
        counted = { seq: event.seq, tokens: event.payload.usage.inputTokens };
      }
      return ended;
    },
    open: (): RequestAsked | null => (isOpen ? asked("open", null, null, last) : null),
  };
}
