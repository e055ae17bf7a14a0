import type { Item, SessionEvent, TrustLabel } from "@holdfast/protocol";
import { isLook, looksBack, meantBy } from "../discovery/meant.ts";

export type Recorded = SessionEvent & { readonly seq: number; readonly at: number };

/** One thing that a session's log tells: who said it, and how far it is to be trusted. */
export interface HistoryEntry {
  readonly seq: number;
  readonly at: number;
  /** Such as `the user`, `call run_command`, `result of run_command`. */
  readonly what: string;
  readonly text: string;
  readonly trust: TrustLabel;
  /** A call that only looks for something, or what it gave: it can be read, and is no answer to a search. */
  readonly isLook: boolean;
}

/** Names of calls as they come: a result's event doesn't say whose it is. */
export type CallNames = Map<string, string>;

/** What an event tells, in the order of its items. `names` is filled on the way. */
export function entriesOf(event: Recorded, names: CallNames): HistoryEntry[] {
  const entry = (what: string, text: string, trust: TrustLabel, of = ""): HistoryEntry[] =>
    text.trim() === "" ? [] : [{ seq: event.seq, at: event.at, what, text, trust, isLook: isLook(of) }];
  switch (event.type) {
    case "turn.started":
    case "input.taken": {
      const { message } = event.payload;
      const who = message.trust === "user" ? "the user" : "a message";
      return entry(who, message.parts.map((part) => (part.type === "text" ? part.text : "[an image]")).join("\n"), message.trust);
    }
    case "notice.added":
      return entry("a notice", event.payload.notice.text, event.payload.notice.trust);
    case "sampling.settled":
      // What the model says is derived from whatever it had read.
      return event.payload.items.flatMap((item) =>
        itemEntry(item, names, (what, text, of) => entry(what, text, event.payload.trust ?? "tool", of)),
      );
    case "call.decided": {
      const { callId, tool, decision, forModel } = event.payload;
      if (tool !== undefined) names.set(callId, tool);
      return decision === "allow" ? [] : entry(`decision on ${names.get(callId) ?? "a call"}`, `${decision}: ${forModel}`, "system");
    }
    case "approval.answered": {
      const { answer, by, note, callId } = event.payload;
      return entry(`answer to ${names.get(callId) ?? "a call"}`, `${answer} by ${by}${note === "" ? "" : `: ${note}`}`, "user");
    }
    case "call.settled": {
      const { callId, result } = event.payload;
      const name = names.get(callId) ?? "a call";
      return looksBack.has(name) ? [] : entry(`result of ${name}`, result.text, result.trust, name);
    }
    case "check.completed": {
      const { checkId, run } = event.payload.evidence;
      return entry("a check", `${checkId}: ${run.passed ? "passed" : "did not pass"}, exit ${run.exitCode}`, "system");
    }
    case "window.compacted":
      return entry("the conversation was shortened", `a new window begins with ${event.payload.entries.length} entries`, "system");
    case "turn.ended":
      return entry("the turn ended", `${event.payload.outcome}: ${event.payload.report.heading}`, "system");
    default:
      return [];
  }
}

function itemEntry(item: Item, names: CallNames, entry: (what: string, text: string, of?: string) => HistoryEntry[]): HistoryEntry[] {
  if (item.kind === "assistant_message") return entry("you", item.text);
  if (item.kind !== "tool_call") return [];
  const { tool } = meantBy(item);
  names.set(item.callId, tool);
  return entry(`call ${tool}`, item.input, tool);
}
