import type { Item, SessionEvent, TrustLabel } from "@holdfast/protocol";
import { noteOf } from "../notes/note-write.ts";
import { isLook, isQuestion, meantBy } from "../discovery/meant.ts";
import { createGiveWay } from "../history/give-way.ts";
import type { Archive } from "./archive.ts";
import { createArchive } from "./archive.ts";
import { changesOf, inputOf, parsedInput, plainOf, subjectOf } from "./changes.ts";
import type { ValueKind } from "./kinds.ts";
import type { Origin } from "./lines.ts";

type Recorded = SessionEvent & { readonly seq: number; readonly at: number };

/** What an archive needs of a session: its log, and the whole of outputs that were cut. */
export interface Past {
  history(after: number): Promise<readonly Recorded[]>;
  /** The text of a blob; null where it is gone or no text. */
  whole(blob: string): Promise<string | null>;
}

/** A call as the model wrote it: kept until it is settled, as only then it is known whether it was carried out. */
interface Proposed {
  readonly seq: number;
  readonly itemId: string;
  readonly tool: string;
  readonly input: string;
  readonly trust: TrustLabel;
}

interface Kept {
  archive: Archive;
  seq: number;
  readonly calls: Map<string, string>;
  readonly proposed: Map<string, Proposed>;
  readonly outputs: Map<string, ShownOutput>;
}

type Settled = Recorded & { readonly type: "call.settled" };

/** An output that was looked at, by its handle. */
interface ShownOutput {
  /** The event that first showed it. */
  readonly seq: number;
  /** What was seen of it while its command ran: what else comes up later is as old as its look. Null where it had ended. */
  lines: Set<string> | null;
}

/** Archives of the sessions that looked something up last. Each costs memory with its session's text. */
const mostKept = 4;
const callChars = 120;

export type Remember = (session: string, past: Past) => Promise<Archive>;

/**
 * The exact values of a session, taken from its log: each item once, in order. Nothing of it is stored a second time, so what
 * is erased is gone here, too.
 */
export function createRemember(kinds?: readonly ValueKind[]): Remember {
  /** By session, the latest asking: each takes in what came since the one before it, one after the other. */
  const kept = new Map<string, Promise<Kept>>();
  return async (session, past) => {
    const last = kept.get(session);
    const next = (async () => readOn((await last?.catch(() => undefined)) ?? newlyKept(kinds), past, kinds))();
    kept.delete(session);
    kept.set(session, next);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
    return (await next).archive;
  };
}

async function readOn(before: Kept, past: Past, kinds?: readonly ValueKind[]): Promise<Kept> {
  let own = before;
  let events = await past.history(own.seq);
  if (events.some((event) => event.type === "item.erased") && own.seq > 0) {
    own = newlyKept(kinds);
    events = await past.history(0);
  }
  const giveWay = createGiveWay();
  for (const event of events) {
    await take(own, event, past);
    own.seq = event.seq;
    await giveWay();
  }
  return own;
}

function newlyKept(kinds?: readonly ValueKind[]): Kept {
  return { archive: createArchive(kinds), seq: 0, calls: new Map(), proposed: new Map(), outputs: new Map() };
}

async function take(kept: Kept, event: Recorded, past: Past): Promise<void> {
  const { archive, calls, proposed, outputs } = kept;
  const origin = (item: Item, more: Pick<Origin, "speaker" | "from" | "trust">): Origin => ({
    seq: event.seq,
    itemId: item.id,
    at: event.at,
    ...more,
  });
  switch (event.type) {
    case "turn.started":
    case "input.taken": {
      const { message } = event.payload;
      const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      const isOwn = message.trust === "user";
      const said = isOwn ? ({ speaker: "user", from: "what the user said" } as const) : ({ speaker: "tool", from: "a message" } as const);
      archive.add(text, origin(message, { ...said, trust: message.trust }));
      return;
    }
    case "notice.added": {
      const { notice } = event.payload;
      archive.add(notice.text, origin(notice, { speaker: "runtime", from: "a notice", trust: notice.trust }));
      return;
    }
    case "sampling.settled": {
      // What the model says is derived from whatever it had read.
      const { items, trust = "tool" } = event.payload;
      for (const item of items) {
        if (item.kind === "tool_call") {
          const { tool, input } = meantBy(item);
          calls.set(item.callId, `${tool} ${input}`.slice(0, callChars));
          if (!isQuestion(tool)) proposed.set(item.callId, { seq: event.seq, itemId: item.id, tool, input, trust });
        } else if (item.kind === "assistant_message") {
          archive.add(item.text, origin(item, { speaker: "model", from: "what you said", trust }));
        }
      }
      return;
    }
    case "call.decided": {
      const { callId, tool, plan } = event.payload;
      if (tool !== undefined) calls.set(callId, `${tool} ${JSON.stringify(plan.input)}`.slice(0, callChars));
      const own = proposed.get(callId);
      if (tool !== undefined && own !== undefined) proposed.set(callId, { ...own, tool, input: JSON.stringify(plan.input) });
      return;
    }
    case "call.settled": {
      const { callId, outcome, result } = event.payload;
      takeInput(kept, event);
      const from = calls.get(callId) ?? "a call";
      // What looks into the past says nothing new, and must not make an old value the latest.
      if (isLook(from.split(" ", 1)[0]!)) return;
      const whole = outcome.whole === undefined ? null : await past.whole(outcome.whole);
      const { text, seq } = shownBy(outputs, event, whole ?? result.text);
      const of = (outcome.seen ?? []).map(({ path }) => path);
      const handle = result.output === undefined ? {} : { output: result.output };
      archive.add(text, { ...origin(result, { speaker: "tool", from, trust: result.trust }), seq, of, ...handle });
      return;
    }
    case "edits.undone":
      archive.undo(event.seq, event.payload.callIds, event.payload.since ?? Infinity);
      return;
    default:
      return;
  }
}

/** A later look at an output is as old as the output; while its command ran, what had not been seen of it is as old as the look. */
function shownBy(outputs: Map<string, ShownOutput>, event: Settled, text: string): { readonly text: string; readonly seq: number } {
  const { outcome, result } = event.payload;
  if (result.output === undefined) return { text, seq: event.seq };
  const shown = outputs.get(result.output);
  if (shown === undefined) {
    outputs.set(result.output, { seq: event.seq, lines: outcome.task !== undefined ? new Set(text.split("\n")) : null });
    return { text, seq: event.seq };
  }
  const { lines, seq } = shown;
  if (lines === null) return { text, seq };
  const news = text.split("\n").filter((line) => !lines.has(line));
  for (const line of news) lines.add(line);
  if (outcome.endedTask !== undefined || outcome.exitCode !== undefined) shown.lines = null;
  return { text: news.join("\n"), seq: event.seq };
}

/**
 * What a call that was carried out put into files is how it is now, and what it took out no longer; of any other, its input is
 * only the model's words.
 */
function takeInput({ archive, proposed }: Kept, { seq, at, payload }: Settled): void {
  const { callId, outcome } = payload;
  const own = proposed.get(callId);
  if (own === undefined) return;
  proposed.delete(callId);
  const { tool, input, itemId, trust } = own;
  const isDone = outcome.status === "completed";
  const files = isDone ? (outcome.changed ?? []).map(({ path }) => path) : [];
  const isEdit = files.length > 0;
  const note = isDone && tool === "note_write" ? noteOf(parsedInput(input)) : null;
  if (isDone) for (const change of changesOf(tool, input, outcome, seq, callId)) archive.change(change);
  const of = [inputOf(callId), ...files, ...(note === null ? [] : [subjectOf(note)])];
  const speaker = isEdit ? "tool" : isDone ? "model" : "attempt";
  const from = `the input of ${tool}${isDone ? "" : `, which was ${outcome.status}`}`;
  archive.add(plainOf(input, isEdit), { seq: isEdit || note !== null ? seq : own.seq, at, itemId, speaker, from, trust, of });
}
