import type { Item, SessionEvent } from "@holdfast/protocol";
import { isLook, isQuestion, meantBy } from "../discovery/meant.ts";
import type { Archive } from "./archive.ts";
import { createArchive } from "./archive.ts";
import type { Origin } from "./lines.ts";

type Recorded = SessionEvent & { readonly seq: number; readonly at: number };

/** What an archive needs of a session: its log, and the whole of outputs that were cut. */
export interface Past {
  history(after: number): Promise<readonly Recorded[]>;
  /** The text of a blob; null where it is gone or no text. */
  whole(blob: string): Promise<string | null>;
}

interface Kept {
  archive: Archive;
  seq: number;
  readonly calls: Map<string, string>;
  /** Outputs by their handles: the event that first showed one. */
  readonly outputs: Map<string, number>;
}

/** Archives of the sessions that looked something up last. Each costs memory with its session's text. */
const mostKept = 4;
const callChars = 120;

export type Remember = (session: string, past: Past) => Promise<Archive>;

/**
 * The exact values of a session, taken from its log: each item once, in order. Nothing of it is stored a second time, so what
 * is erased is gone here, too.
 */
export function createRemember(): Remember {
  const kept = new Map<string, Kept>();
  return async (session, past) => {
    let own = kept.get(session) ?? newlyKept();
    let events = await past.history(own.seq);
    if (events.some((event) => event.type === "item.erased") && own.seq > 0) {
      own = newlyKept();
      events = await past.history(0);
    }
    for (const event of events) {
      await take(own, event, past);
      own.seq = event.seq;
    }
    kept.delete(session);
    kept.set(session, own);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
    return own.archive;
  };
}

function newlyKept(): Kept {
  return { archive: createArchive(), seq: 0, calls: new Map(), outputs: new Map() };
}

/** What a call's input says: its texts as they are meant, not as JSON writes them. */
function plainOf(input: string): string {
  const lines: string[] = [];
  const read = (value: unknown, name: string): void => {
    if (typeof value === "string") lines.push(value.includes("\n") ? `${name}:\n${value}` : `${name}: ${value}`);
    else if (typeof value === "object" && value !== null) for (const [key, inner] of Object.entries(value)) read(inner, key);
    else lines.push(`${name}: ${String(value)}`);
  };
  try {
    read(JSON.parse(input), "input");
  } catch {
    return input;
  }
  return lines.join("\n");
}

async function take({ archive, calls, outputs }: Kept, event: Recorded, past: Past): Promise<void> {
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
      archive.add(text, origin(message, { speaker: "user", from: "what the user said", trust: message.trust }));
      return;
    }
    case "notice.added": {
      const { notice } = event.payload;
      archive.add(notice.text, origin(notice, { speaker: "runtime", from: "a notice", trust: notice.trust }));
      return;
    }
    case "sampling.settled":
      for (const item of event.payload.items) {
        if (item.kind === "tool_call") {
          const { tool, input } = meantBy(item);
          calls.set(item.callId, `${tool} ${input}`.slice(0, callChars));
          if (!isQuestion(tool))
            archive.add(plainOf(input), origin(item, { speaker: "model", from: `the input of ${tool}`, trust: "tool" }));
        } else if (item.kind === "assistant_message") {
          archive.add(item.text, origin(item, { speaker: "model", from: "what you said", trust: "tool" }));
        }
      }
      return;
    case "call.decided": {
      const { callId, tool, plan } = event.payload;
      if (tool !== undefined) calls.set(callId, `${tool} ${JSON.stringify(plan.input)}`.slice(0, callChars));
      return;
    }
    case "call.settled": {
      const { callId, outcome, result } = event.payload;
      const from = calls.get(callId) ?? "a call";
      calls.delete(callId);
      // What looks into the past says nothing new, and must not make an old value the latest.
      if (isLook(from.split(" ", 1)[0]!)) return;
      const whole = outcome.whole === undefined ? null : await past.whole(outcome.whole);
      // A later look at an output is as old as the output.
      const seq = result.output === undefined ? event.seq : (outputs.get(result.output) ?? event.seq);
      if (result.output !== undefined) outputs.set(result.output, seq);
      archive.add(whole ?? result.text, { ...origin(result, { speaker: "tool", from, trust: result.trust }), seq });
      return;
    }
    default:
      return;
  }
}
