import type { Item } from "@holdfast/protocol";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { itemsOf } from "../kernel/copies.ts";
import type { Log, RecordedEvent, SessionRow } from "../ports/index.ts";
import { readEvents } from "./stored.ts";

/** A piece of text in which every term of a search occurs. */
export interface SessionHit {
  readonly in: "title" | "prompt" | "answer" | "call" | "result";
  /** Null for a title. */
  readonly itemId: string | null;
  /** The turn it belongs to, counted from 1; null for a title. */
  readonly turn: number | null;
  readonly at: number;
  /** The text around the first term, on one line: `found` is the term as it stands there. */
  readonly snippet: { readonly before: string; readonly found: string; readonly after: string };
}

/** The hits in one session, newest first; `more` of them are not shown. */
export interface SearchedSession {
  readonly row: SessionRow;
  readonly hits: readonly SessionHit[];
  readonly more: number;
}

export interface SearchResult {
  readonly found: readonly SearchedSession[];
  /** Sessions that may have a hit, but are damaged or of a newer version. */
  readonly unreadable: readonly string[];
}

export interface SearchWish {
  /** Only sessions of these folders. */
  readonly workspaces?: readonly string[];
  /** Most hits of all, and of one session. */
  readonly limit: number;
  readonly perSession: number;
}

const mostTerms = 20;
const longestQuery = 500;
const charsAround = 60;

/**
 * Looks for a text in titles, prompts, answers, calls and results of all sessions, the newest first. A query is words and
 * "quoted phrases", all of which must occur in one of these, in either case and also within words; nothing in it is an
 * operator. What was erased isn't found. What forks share is found once, in the session that changed last.
 * Throws `usage` for an empty or huge query.
 */
export async function searchSessions({ log }: { readonly log: Log }, query: string, wish: SearchWish): Promise<SearchResult> {
  const terms = termsOf(query);
  const told = new Set<string>();
  const found: SearchedSession[] = [];
  const unreadable: string[] = [];
  let left = wish.limit;
  for await (const row of log.search(terms.flatMap(pieceOf), wish.workspaces)) {
    if (left === 0) break;
    const events = await readable(log, row.session);
    if (events === null) unreadable.push(row.session);
    const hits = hitsIn(row, events ?? [], terms, told);
    if (hits.length === 0) continue;
    const shown = hits.slice(0, Math.min(left, wish.perSession));
    left -= shown.length;
    found.push({ row, hits: shown, more: hits.length - shown.length });
  }
  return { found, unreadable };
}

/** Null for a session that can't be read: the others are searched all the same. */
async function readable(log: Log, session: string): Promise<readonly RecordedEvent[] | null> {
  try {
    return readEvents(await log.read(session, 1));
  } catch (error) {
    if (isHoldfastError(error, "session_corrupt") || isHoldfastError(error, "session_newer")) return null;
    throw error;
  }
}

function termsOf(query: string): string[] {
  if (query.length > longestQuery)
    throw new HoldfastError("usage", `a query has at most ${longestQuery} characters; this one has ${query.length}`);
  const terms = [...plain(query).matchAll(/"([^"]*[^"\s][^"]*)"|(\S+)/g)].map((match) => fold((match[1] ?? match[2] ?? "").trim()));
  if (terms.length === 0) throw new HoldfastError("usage", "there is nothing to look for");
  if (terms.length > mostTerms) throw new HoldfastError("usage", `a query has at most ${mostTerms} words; this one has ${terms.length}`);
  return [...new Set(terms)];
}

/** What stands in the stored JSON text wherever the term occurs: its longest run of characters that are never escaped. */
function pieceOf(term: string): string[] {
  const runs = term.match(/[!#-[\]-~]+/g) ?? [];
  const longest = runs.reduce((a, b) => (b.length > a.length ? b : a), "");
  return longest === "" ? [] : [longest];
}

function hitsIn(row: SessionRow, events: readonly RecordedEvent[], terms: readonly string[], told: Set<string>): SessionHit[] {
  const erased = new Set(events.flatMap((event) => (event.type === "item.erased" ? [event.payload.itemId] : [])));
  const hits: SessionHit[] = [];
  let turn = 0;
  for (const event of events) {
    if (event.type === "turn.started") turn += 1;
    for (const item of itemsOf(event)) {
      const searched = textOf(item);
      if (searched === null || erased.has(item.id) || told.has(item.id)) continue;
      const snippet = snippetOf(plain(searched.text), terms);
      if (snippet === null) continue;
      told.add(item.id);
      hits.unshift({ in: searched.in, itemId: item.id, turn, at: event.at, snippet });
    }
  }
  const title = snippetOf(plain(row.title), terms);
  return title === null ? hits : [{ in: "title", itemId: null, turn: null, at: row.updatedAt, snippet: title }, ...hits];
}

function textOf(item: Item): { readonly in: SessionHit["in"]; readonly text: string } | null {
  switch (item.kind) {
    case "user_message":
      return { in: "prompt", text: item.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") };
    case "assistant_message":
      return { in: "answer", text: item.text };
    case "tool_call":
      return { in: "call", text: `${item.name} ${item.input}` };
    case "tool_result":
      return { in: "result", text: item.text };
    case "reasoning":
    case "notice":
      return null;
  }
}

function snippetOf(text: string, terms: readonly string[]): SessionHit["snippet"] | null {
  const folded = fold(text);
  if (!terms.every((term) => folded.includes(term))) return null;
  const [first = ""] = terms;
  const start = folded.indexOf(first);
  const end = start + first.length;
  const from = Math.max(0, start - charsAround);
  const to = Math.min(text.length, end + charsAround);
  return {
    before: `${from > 0 ? "…" : ""}${text.slice(from, start).toWellFormed()}`,
    found: text.slice(start, end),
    after: `${text.slice(end, to).toWellFormed()}${to < text.length ? "…" : ""}`,
  };
}

/**
 * One way to write each character, and blanks for all white space. Four characters that aren't ASCII become ASCII when
 * normalized or lowered: the store, which looks for ASCII as it is written, would not find them.
 */
function plain(text: string): string {
  return text
    .replace(/[\u0130\u037e\u1fef\u212a]/g, "\ufffd")
    .normalize("NFC")
    .replace(/\s+/g, " ");
}

/** Lower case, each character at its place. */
function fold(text: string): string {
  return text.toLowerCase();
}
