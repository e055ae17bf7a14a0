import type { CallOutcome, EventPayload, Item, SessionEvent, CompactedEntry } from "@holdfast/protocol";
import { fromAll } from "@holdfast/protocol/compaction";
import { callsOf } from "./answered.ts";

/** Stands where the text of an erased item was. */
export const erasedText = "[erased]";

/** An item that is being erased, and where its text stands under another name. */
export interface Erasing {
  readonly item: Item;
  /** The sampling that brought it. */
  readonly samplingId: string | null;
  /** True where the session's title came from it. */
  readonly isTitle: boolean;
  /** Events that brought a title which came from it. */
  readonly titles: ReadonlySet<number>;
  /** Events whose report has it as the model's last words, or as its reason for giving up. */
  readonly messages: ReadonlySet<number>;
  readonly reasons: ReadonlySet<number>;
  /** Events whose report shows the plan that it set. */
  readonly plans: ReadonlySet<number>;
  /** Ids of the checks that came from it. */
  readonly checks: ReadonlySet<string>;
}

/** The item without its content: what names it and what pairs it stays. */
export function erasedItem<T extends Item>(item: T): T;
export function erasedItem(item: Item): Item {
  switch (item.kind) {
    case "user_message":
      return { ...item, parts: [{ type: "text", text: erasedText }] };
    case "assistant_message":
    case "reasoning":
      return { kind: item.kind, id: item.id, text: erasedText };
    case "tool_call":
      // A JSON object, as the wires want an input.
      return { kind: item.kind, id: item.id, callId: item.callId, name: item.name, input: JSON.stringify({ input: erasedText }) };
    case "tool_result":
      return { kind: item.kind, id: item.id, callId: item.callId, status: item.status, text: erasedText, trust: item.trust };
    case "notice":
      return { ...item, text: erasedText };
  }
}

/** The event without the item's content and its copies; one that holds nothing of it comes back as it was. Pure. */
export function withoutItem(event: SessionEvent & { readonly seq: number }, erasing: Erasing): SessionEvent {
  const { item, samplingId } = erasing;
  const isOfCall = (callId: string): boolean => (item.kind === "tool_call" || item.kind === "tool_result") && item.callId === callId;
  switch (event.type) {
    case "session.created":
      return erasing.titles.has(event.seq) ? { type: event.type, payload: { ...event.payload, title: erasedText } } : event;
    case "session.forked":
      return erasing.titles.has(event.seq) ? { type: event.type, payload: { ...event.payload, title: erasedText } } : event;
    case "session.renamed":
      return erasing.titles.has(event.seq) ? { type: event.type, payload: { title: erasedText } } : event;
    case "turn.started":
      return event.payload.message.id === item.id
        ? { type: event.type, payload: { ...event.payload, message: erasedItem(event.payload.message) } }
        : event;
    case "input.taken":
      return event.payload.message.id === item.id ? { type: event.type, payload: { message: erasedItem(event.payload.message) } } : event;
    case "notice.added":
      return event.payload.notice.id === item.id ? { type: event.type, payload: { notice: erasedItem(event.payload.notice) } } : event;
    case "sampling.settled":
      return event.payload.samplingId === samplingId
        ? {
            type: event.type,
            payload: { ...event.payload, items: event.payload.items.map((one) => (one.id === item.id ? erasedItem(one) : one)) },
          }
        : event;
    // Earlier attempts of the sampling may have begun with the same words.
    case "sampling.failed":
      return event.payload.samplingId === samplingId
        ? { type: event.type, payload: { ...event.payload, retracted: blank(event.payload.retracted) } }
        : event;
    case "approval.answered":
      return callsOf(event.payload).some(isOfCall) ? { type: event.type, payload: withoutGrant(event.payload) } : event;
    case "question.asked":
      return event.payload.question.plan === item.id || (item.kind === "tool_call" && isOfCall(event.payload.question.callId))
        ? { type: event.type, payload: { question: { ...event.payload.question, text: erasedText, choices: [] } } }
        : event;
    // The answer is the result's content, and its choices are the call's words.
    case "question.answered":
      return isOfCall(event.payload.callId)
        ? { type: event.type, payload: { ...event.payload, answer: { choices: [], text: erasedText } } }
        : event;
    // What is wrong with an answer may quote it.
    case "output.judged":
      return event.payload.itemId === item.id
        ? { type: event.type, payload: { ...event.payload, problems: event.payload.problems.map(() => erasedText) } }
        : event;
    case "hook.ran":
      return event.payload.callId !== null && isOfCall(event.payload.callId)
        ? { type: event.type, payload: { ...event.payload, reason: blank(event.payload.reason) } }
        : event;
    case "window.compacted": {
      const isKept = ({ from }: CompactedEntry): boolean => !from.some((id) => id === item.id || id === fromAll || isOfCall(id));
      const entries = event.payload.id === item.id ? [] : event.payload.entries.filter(isKept);
      const tail = event.payload.tail?.map((one) => (one.id === item.id ? erasedItem(one) : one));
      const isWhole = entries.length === event.payload.entries.length && !tail?.some((one, at) => one !== event.payload.tail?.[at]);
      if (isWhole) return event;
      // A flag quotes what was said of the whole window.
      const report = { ...event.payload.report, flags: event.payload.report.flags.map(() => erasedText) };
      return { type: event.type, payload: { ...event.payload, entries, report, ...(tail === undefined ? {} : { tail }) } };
    }
    case "checks.accepted": {
      const checks = event.payload.checks.filter(({ id }) => !erasing.checks.has(id));
      return checks.length === event.payload.checks.length ? event : { type: event.type, payload: { checks } };
    }
    case "round.judged":
    case "turn.ended":
      return withoutWords(event, erasing);
    case "approval.requested":
      return callsOf(event.payload.approval).some(isOfCall) ? withoutCall(event, item.kind === "tool_call") : event;
    case "call.decided":
    case "call.intended":
    case "call.settled":
    case "run.recorded":
      return isOfCall(event.payload.callId) ? withoutCall(event, item.kind === "tool_call") : event;
    default:
      return event;
  }
}

type CallEvent = Extract<SessionEvent, { type: "call.decided" | "approval.requested" | "call.intended" | "call.settled" | "run.recorded" }>;

/** `isCall`: the call itself is erased; else its result, of which the events before hold only the words of a refusal. */
function withoutCall(event: CallEvent, isCall: boolean): SessionEvent {
  switch (event.type) {
    case "call.decided": {
      const { plan } = event.payload;
      const { workspace, replay, changesWorkspace } = plan;
      const bare = { input: erasedText, summary: erasedText, reads: [], writes: [], workspace, replay, changesWorkspace };
      return {
        type: event.type,
        payload: {
          ...event.payload,
          reason: blank(event.payload.reason),
          forModel: blank(event.payload.forModel),
          ...(event.payload.note === undefined ? {} : { note: blank(event.payload.note) }),
          ...(isCall ? { plan: bare, scope: {}, inputDigest: "" } : {}),
        },
      };
    }
    case "approval.requested": {
      const { approval } = event.payload;
      const { offers: _, risk: __, ...told } = approval;
      const bare = { ...told, digest: "", shown: erasedText, reason: erasedText, scope: {} };
      return isCall ? { type: event.type, payload: { approval: bare } } : event;
    }
    case "call.intended":
      // What was prepared names the files' contents before and after.
      return {
        type: event.type,
        payload: { ...event.payload, prepared: erasedText, ...(isCall ? { inputDigest: "", scope: {} } : {}) },
      };
    case "call.settled": {
      const { callId, outcome, result, judgement } = event.payload;
      const bare = bareOutcome(outcome);
      if (!isCall) return { type: event.type, payload: { callId, outcome: bare, result: erasedItem(result), judgement: null } };
      const { text, output, whole, images } = outcome;
      const said = {
        ...bare,
        text,
        ...(output === undefined ? {} : { output }),
        ...(whole === undefined ? {} : { whole }),
        ...(images === undefined ? {} : { images }),
      };
      // Under an expectation that was not met, the result quotes it.
      const unquoted = judgement === null ? result : { ...result, text };
      return { type: event.type, payload: { callId, outcome: said, result: unquoted, judgement: null } };
    }
    case "run.recorded":
      return isCall ? { type: event.type, payload: { ...event.payload, run: { ...event.payload.run, command: erasedText } } } : event;
  }
}

/** How a call ended, without what it said or touched. */
function bareOutcome({ status, trust, exitCode, signal, timedOut, durationMs }: CallOutcome): CallOutcome {
  return {
    status,
    text: erasedText,
    trust,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(timedOut === undefined ? {} : { timedOut }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

function withoutWords(
  event: Extract<SessionEvent, { type: "round.judged" | "turn.ended" }> & { readonly seq: number },
  { messages, reasons, plans, checks }: Erasing,
): SessionEvent {
  const { plan, ...report } = event.payload.report;
  const isNamed = report.criteria.some(({ checkId }) => checks.has(checkId));
  const bare = {
    ...report,
    ...(plan === undefined || plans.has(event.seq) ? {} : { plan }),
    ...(messages.has(event.seq) ? { message: blank(report.message) } : {}),
    ...(isNamed ? { criteria: report.criteria.map((one) => (checks.has(one.checkId) ? { ...one, name: erasedText } : one)) } : {}),
    ...(isNamed || reasons.has(event.seq) ? { heading: erasedText, reasons: report.reasons.map(() => erasedText) } : {}),
  };
  return event.type === "turn.ended"
    ? { type: event.type, payload: { ...event.payload, report: bare } }
    : { type: event.type, payload: { ...event.payload, report: bare } };
}

/** A rule that was granted has the words of the call that it was granted for. */
function withoutGrant(answered: EventPayload<"approval.answered">): EventPayload<"approval.answered"> {
  const { grant: _, ...payload } = answered;
  return { ...payload, note: blank(payload.note) };
}

function blank(text: string): string {
  return text === "" ? "" : erasedText;
}
