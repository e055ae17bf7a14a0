import type { CompactedEntry } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { isLook, meantBy } from "../discovery/meant.ts";
import type { Change } from "../values/changes.ts";
import { changesOf, lineChange, plainOf, undone } from "../values/changes.ts";
import type { Origin } from "../values/lines.ts";
import type { Said } from "./subject.ts";
import { bareLine, differs, isBare, isTelling, saidBy } from "./subject.ts";
import { cut, textOf } from "./words.ts";

/** Results whose exact values stay in the window as they are the latest. */
const latest = 8;
/** Lines at most, of which those that name what the open work names come first. */
const mostLines = 40;
const longest = 300;
/** The runtime's own words where a result was too long. */
const cutMark = /^\[\d+ (?:bytes|lines|characters) left out/;
/** Of what the open work names, so much is looked for. */
const mostNames = 60;

/** How a line that an edit put in begins where it is told by itself. */
const fieldOfNew = /^new\w*: /gm;
/** So many lines of a text with nothing but values are data, as base64 is: none of them is pinned. */
const mostBare = 3;
/** So many lines of one text that speak of the same are a list: they don't replace each other. */
const mostOfSame = 2;

/** What was said in the window: a result, what a person wrote, or what an edit put in. */
interface Text {
  readonly seq: number;
  readonly lines: readonly string[];
  readonly ids: readonly string[];
  readonly isUntrusted: boolean;
  /** Null where none of it is pinned. */
  readonly result: Origin | null;
}

interface Candidate {
  readonly line: string;
  readonly said: Said;
  readonly place: number;
  readonly at: number;
  readonly isNear: boolean;
}

/**
 * Lines with an exact value, word for word: those of any result of the window that name what the open work names, then those of
 * the latest results, those first that differ most in what they speak of. Where something later has another value, it stands
 * beside the earlier.
 */
export function pinned(events: CompactionInput["events"], openWork: string): CompactedEntry[] {
  const { texts, changes } = readTexts(events);
  const read = rememberSaid();
  const found = candidates(texts, namesIn(openWork), read);
  const turns = new Map<string, number>();
  const ranked = found.toReversed().map((one) => {
    const turn = turns.get(one.said.subject) ?? 0;
    turns.set(one.said.subject, turn + 1);
    return { one, rank: one.isNear ? -1 : turn };
  });
  const kept = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, mostLines);
  return kept.toReversed().map(({ one }) => entryOf(one, texts, changes, read));
}

type Read = (line: string) => Said;

/** Each line is held against many others. */
function rememberSaid(): Read {
  const known = new Map<string, Said>();
  return (line) => {
    const said = known.get(line) ?? saidBy(line);
    known.set(line, said);
    return said;
  };
}

function candidates(texts: readonly Text[], names: readonly string[], read: Read): Candidate[] {
  const results = texts.filter(({ result }) => result !== null);
  const found = new Map<string, Candidate>();
  texts.forEach((text, place) => {
    const isLate = results.indexOf(text) >= results.length - latest;
    if (text.result === null || (!isLate && names.length === 0)) return;
    const own = text.lines.flatMap((line, at): Candidate[] => {
      if (line.length > longest || line === "" || cutMark.test(line)) return [];
      const isNear = names.some((name) => line.includes(name));
      return (isNear || isLate) && isTelling(line) ? [{ line, said: read(bareLine(line)), place, at, isNear }] : [];
    });
    const isData = own.filter(({ said }) => isBare(said)).length > mostBare;
    for (const one of own) {
      if (isData && isBare(one.said)) continue;
      found.delete(one.line);
      found.set(one.line, one);
    }
  });
  return [...found.values()];
}

function entryOf(one: Candidate, texts: readonly Text[], changes: readonly Change[], read: Read): CompactedEntry {
  const { ids, isUntrusted, result } = texts[one.place]!;
  const later = laterThan(one, texts, read);
  if (later !== null) {
    const whose = later.text.isUntrusted && !isUntrusted ? "later, untrusted" : "later";
    const from = [...new Set([...ids, ...later.text.ids])];
    return { section: "exactValues", text: `- ${one.line} (${whose}: ${cut(later.line, longest)})`, from };
  }
  const change = lineChange({ text: one.line, origin: result! }, changes);
  const mark = change === null ? "" : change.isSure ? ` (taken out by event ${change.by})` : ` (event ${change.by} changed the file since)`;
  return { section: "exactValues", text: `- ${one.line}${mark}`, from: [...ids] };
}

/** The last line after it that is of the same thing and has another value; a list's lines are not held against each other. */
function laterThan(
  { said, place, at }: Candidate,
  texts: readonly Text[],
  read: Read,
): { readonly line: string; readonly text: Text } | null {
  const words = said.subject
    .split("#")
    .toSorted((a, b) => b.length - a.length)[0]!
    .trim();
  if (!said.isNamed.includes(true)) return null;
  const alike = (text: Text) =>
    text.lines.flatMap((whole, number) => {
      const line = bareLine(whole);
      if (line.length > longest || !line.includes(words)) return [];
      const other = read(line);
      return other.subject === said.subject ? [{ line, number, other }] : [];
    });
  if (alike(texts[place]!).length > mostOfSame) return null;
  for (let number = texts.length - 1; number >= place; number -= 1) {
    const same = alike(texts[number]!);
    const last = same.at(-1);
    if (last === undefined || same.length > mostOfSame || (number === place && last.number <= at)) continue;
    return differs(said, last.other) ? { line: last.line, text: texts[number]! } : null;
  }
  return null;
}

/** What the window's events say, in order, and what calls changed in files and notes. */
function readTexts(events: CompactionInput["events"]): { readonly texts: readonly Text[]; readonly changes: readonly Change[] } {
  const calls = new Map<string, { readonly id: string; readonly tool: string; readonly input: string; readonly isUntrusted: boolean }>();
  let texts: Text[] = [];
  let changes: Change[] = [];
  const put = (text: string, more: Omit<Text, "lines">): void =>
    void texts.push({ ...more, lines: text.split("\n").map((line) => line.trim()) });
  for (const { seq, at, ...event } of events) {
    if (event.type === "turn.started" || event.type === "input.taken") {
      const { message } = event.payload;
      put(textOf(message), { seq, ids: [message.id], isUntrusted: message.trust === "untrusted", result: null });
    } else if (event.type === "sampling.settled") {
      for (const item of event.payload.items)
        if (item.kind === "tool_call")
          calls.set(item.callId, { ...meantBy(item), id: item.id, isUntrusted: event.payload.trust === "untrusted" });
    } else if (event.type === "edits.undone") {
      const { callIds, since = Infinity } = event.payload;
      // What it put in is said no more.
      texts = texts.filter(({ ids, result }) => result !== null || !ids.some((id) => callIds.includes(id)));
      changes = changes.flatMap((one) => (callIds.includes(one.callId) || one.seq >= since ? undone(one, seq) : [one]));
    } else if (event.type === "call.settled") {
      const { callId, outcome, result } = event.payload;
      const call = calls.get(callId);
      if (call !== undefined && outcome.status === "completed") {
        changes.push(...changesOf(call.tool, call.input, outcome, seq, callId));
        if ((outcome.changed ?? []).length > 0)
          put(plainOf(call.input, true).replaceAll(fieldOfNew, ""), {
            seq,
            ids: [call.id, callId],
            isUntrusted: call.isUntrusted,
            result: null,
          });
      }
      const from = `${call?.tool ?? "a call"} ${call?.input ?? ""}`;
      const of = (outcome.seen ?? []).map(({ path }) => path);
      const origin: Origin = { seq, at, itemId: result.id, speaker: "tool", from, trust: result.trust, of };
      if (!isLook(call?.tool ?? ""))
        put(result.text, { seq, ids: [result.id, callId], isUntrusted: result.trust === "untrusted", result: origin });
    }
  }
  return { texts, changes };
}

/** What has a name of its own in the text of open work: identifiers, paths, what stands in quotes. */
function namesIn(text: string): string[] {
  const found = new Set<string>();
  for (const [, name = ""] of text.matchAll(/(?<![\w./-])((?=[\w./-]*[\d_./-])[\w][\w./-]{3,}\w)(?![\w/-])/g)) {
    if (/[a-z]/i.test(name)) found.add(name);
    if (found.size >= mostNames) break;
  }
  return [...found];
}
