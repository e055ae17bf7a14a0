import type { CallOutcome, CallPlan, Json } from "@holdfast/protocol";
import { lowestTrust } from "@holdfast/protocol/trust";
import type { CallContext, Tool } from "@holdfast/runtime";
import { fieldsOf } from "../discovery/fields.ts";
import type { HistoryEntry, Recorded } from "./entries.ts";
import { entriesOf } from "./entries.ts";
import { createGiveWay } from "./give-way.ts";
import type { HistoryIndex } from "./search.ts";

const mostFound = 8;
const snippetChars = 500;
/** Characters that one reading gives: about 2,000 tokens. */
const readChars = 8_000;
/** Sessions whose index is kept. Each costs memory with its session's text. */
const mostKept = 2;
/** Events that are taken in before anything else has its turn. */
const takenAtOnce = 20;

/** `history_search`: what a session's log holds about some words, also from before the conversation was shortened. */
export function historySearchTool(): Tool {
  const kept = new Map<string, Promise<HistoryIndex>>();
  return {
    isDeferred: true,
    isUnnamed: true,
    spec: {
      name: "history_search",
      description:
        "Find by words what was said, called and given back earlier in this session, also from before the conversation was shortened. Gives excerpts with the numbers of their events; history_read gives them whole.",
      schema: {
        type: "object",
        properties: { query: { type: "string" }, from: { type: "integer", minimum: 1 }, to: { type: "integer", minimum: 1 } },
        required: ["query"],
      },
    },
    async plan(input) {
      const { query, from = 1, to = Number.MAX_SAFE_INTEGER } = fieldsOf(input);
      if (typeof query !== "string" || query.trim() === "" || !isEvent(from) || !isEvent(to)) {
        return {
          type: "refused",
          text: "history_search takes {query, from?, to?}: words, and the numbers of the first and last event to look at.",
        };
      }
      return planOf({ query, from, to }, `Search this session's history: ${query}`);
    },
    async run({ plan }, context) {
      const { query, from, to } = fieldsOf(plan.input) as { query: string; from: number; to: number };
      const { createHistoryIndex, snippetOf } = await import("./search.ts");
      const index = await indexOf(kept, context, createHistoryIndex);
      const found = index.find(query, mostFound, from, to);
      if (found.length === 0) return { status: "completed", text: "Nothing in this session's history has these words.", trust: "system" };
      const shown = found.map(({ entry }) => `${headOf(entry)}\n${indent(snippetOf(entry.text, query, snippetChars))}`);
      const trust = lowestTrust(...found.map(({ entry }) => entry.trust));
      return { status: "completed", text: shown.join("\n"), trust };
    },
  };
}

/** Each asking takes in what came since the one before it, one after the other: two at once would take the same events in twice. */
async function indexOf(kept: Map<string, Promise<HistoryIndex>>, context: CallContext, create: () => HistoryIndex): Promise<HistoryIndex> {
  const last = kept.get(context.session);
  const next = (async () => readOn((await last?.catch(() => undefined)) ?? create(), context, create))();
  kept.delete(context.session);
  kept.set(context.session, next);
  if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
  return next;
}

async function readOn(before: HistoryIndex, context: CallContext, create: () => HistoryIndex): Promise<HistoryIndex> {
  let index = before;
  let events = await context.history(index.seq);
  if (index.seq > 0 && events.some(({ type }) => type === "item.erased")) {
    index = create();
    events = await context.history(0);
  }
  const giveWay = createGiveWay();
  for (let at = 0; at < events.length; at += takenAtOnce) {
    index.add(events.slice(at, at + takenAtOnce));
    await giveWay();
  }
  return index;
}

/** `history_read`: events of a session's log, word for word, a bounded part at a time. */
export const historyReadTool: Tool = {
  isDeferred: true,
  isUnnamed: true,
  spec: {
    name: "history_read",
    description:
      "Read this session's history word for word: the events from one number to another, as history_search and the state after a cut name them. Long ones come in parts: offset says where to go on.",
    schema: {
      type: "object",
      properties: {
        from: { type: "integer", minimum: 1 },
        to: { type: "integer", minimum: 1 },
        offset: { type: "integer", minimum: 0, description: "characters of the first event to leave out" },
      },
      required: ["from"],
    },
  },
  async plan(input) {
    const { from, to = from, offset = 0 } = fieldsOf(input);
    if (!isEvent(from) || !isEvent(to) || !Number.isSafeInteger(offset) || (offset as number) < 0) {
      return { type: "refused", text: "history_read takes {from, to?, offset?}: numbers of events, and of characters to leave out." };
    }
    return planOf({ from: from!, to: to!, offset }, `Read events ${String(from)} to ${String(to)} of this session's history`);
  },
  async run({ plan }, context): Promise<CallOutcome> {
    const { from, to, offset } = fieldsOf(plan.input) as { from: number; to: number; offset: number };
    const events = await context.history(0);
    const names = new Map<string, string>();
    const entries = events.filter(({ seq }) => seq <= to).flatMap((event: Recorded) => entriesOf(event, names));
    const wanted = entries.filter(({ seq }) => seq >= from);
    if (wanted.length === 0) {
      const text = `Events ${from} to ${to} say nothing that was before you; this session's history ends at event ${events.at(-1)?.seq ?? 0}.`;
      return { status: "completed", text, trust: "system" };
    }
    const { lines, shown } = readPart(wanted, offset);
    return { status: "completed", text: lines.join("\n"), trust: lowestTrust(...shown.map(({ trust }) => trust)) };
  },
};

/** As many entries as there is room for; the last one may be a part. */
function readPart(entries: readonly HistoryEntry[], offset: number): { readonly lines: string[]; readonly shown: readonly HistoryEntry[] } {
  const lines: string[] = [];
  let left = readChars;
  for (const [place, entry] of entries.entries()) {
    const skipped = place === 0 ? offset : 0;
    const text = entry.text.slice(skipped);
    if (left < 200 && place > 0) {
      lines.push(`[go on with from ${entry.seq}]`);
      return { lines, shown: entries.slice(0, place) };
    }
    const part = text.slice(0, left).toWellFormed();
    lines.push(headOf(entry), part);
    left -= part.length;
    if (part.length === text.length) continue;
    lines.push(`[Cut: go on with from ${entry.seq}, offset ${skipped + part.length} of ${entry.text.length}]`);
    return { lines, shown: entries.slice(0, place + 1) };
  }
  return { lines, shown: entries };
}

function headOf({ seq, what, trust, at }: HistoryEntry): string {
  return `event ${seq}, ${new Date(at).toISOString().slice(0, 19)}Z, ${what} (${trust}):`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}

function isEvent(value: Json | undefined): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function planOf(input: Json, summary: string): CallPlan {
  return { input, summary, reads: [], writes: [], workspace: "none", replay: "safe", changesWorkspace: false };
}
