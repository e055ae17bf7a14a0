import type {
  ChangedFile,
  Checkpoint,
  EventPayload,
  InspectedAction,
  InspectedEvidence,
  ModelItem,
  Permission,
  ToolCall,
  TreeChange,
} from "@holdfast/protocol";
import { mayChangeAnything } from "../drive/checkpoint.ts";
import type { RecordedEvent } from "../ports/index.ts";
import { callsOf } from "../kernel/answered.ts";

/** Of what a call brought back, characters. The session's items have all of it. */
const mostObserved = 2_000;

/** All that the events of a turn say of one call. */
interface Found {
  readonly call: ToolCall;
  readonly seq: number;
  readonly at: number;
  readonly step: number;
  readonly why: string | null;
  decided?: EventPayload<"call.decided">;
  approval?: Permission["approval"];
  settled?: EventPayload<"call.settled">;
  settledAt?: number;
  replay?: EventPayload<"call.intended">["replay"];
  attempts: number;
  readonly hooks: EventPayload<"hook.ran">[];
  readonly recovered: string[];
  /** What the next look at the workspace found that it had changed. */
  followed?: readonly TreeChange[];
}

/** The calls of a turn in the order in which they were proposed. `evidence`: what was taken last. Pure. */
export function actionsOf(events: readonly RecordedEvent[], evidence: readonly InspectedEvidence[]): InspectedAction[] {
  const found = new Map<string, Found>();
  const approvals = new Map<string, readonly string[]>();
  const steps = new Map<string, number>();
  let bold: string[] = [];
  /** What a look found is the doing of the calls since the one before: of one of them, where there was only one. */
  const close = (checkpoint: Checkpoint | undefined): void => {
    if (checkpoint === undefined) return;
    if (bold.length === 1) each(bold, (one) => (one.followed = checkpoint.changes.filter(({ by }) => by === "session")));
    bold = [];
  };
  const each = (calls: readonly string[], change: (one: Found) => void): void => {
    for (const callId of calls) {
      const one = found.get(callId);
      if (one !== undefined) change(one);
    }
  };
  for (const event of events) {
    switch (event.type) {
      case "sampling.intended":
        steps.set(event.payload.samplingId, event.payload.step);
        break;
      case "sampling.settled":
        for (const [index, item] of event.payload.items.entries()) {
          if (item.kind !== "tool_call") continue;
          const step = steps.get(event.payload.samplingId) ?? 0;
          const why = whyOf(event.payload.items.slice(0, index));
          found.set(item.callId, { call: item, seq: event.seq, at: event.at, step, why, attempts: 0, hooks: [], recovered: [] });
        }
        break;
      case "call.decided":
        each([event.payload.callId], (one) => (one.decided = event.payload));
        break;
      case "hook.ran":
        if (event.payload.callId !== null) each([event.payload.callId], (one) => one.hooks.push(event.payload));
        break;
      case "approval.requested": {
        const { approval } = event.payload;
        approvals.set(approval.id, callsOf(approval));
        each(callsOf(approval), (one) => {
          one.approval = { approvalId: approval.id, answer: "open", by: "", at: null, note: "", grant: null };
        });
        break;
      }
      case "approval.answered": {
        const { approvalId, answer, by, note, grant } = event.payload;
        each(callsOf(event.payload), (one) => {
          one.approval = { approvalId, answer, by, at: event.at, note, grant: grant?.for ?? null };
        });
        break;
      }
      case "approval.expired":
        each(approvals.get(event.payload.approvalId) ?? [event.payload.callId], (one) => {
          one.approval = { approvalId: event.payload.approvalId, answer: "expired", by: "", at: event.at, note: "", grant: null };
        });
        break;
      case "call.intended":
        close(event.payload.checkpoint);
        each([event.payload.callId], (one) => {
          one.attempts = event.payload.attempt;
          one.replay = event.payload.replay;
          if (one.decided !== undefined && mayChangeAnything(one.decided.plan)) bold.push(event.payload.callId);
        });
        break;
      case "turn.ended":
        close(event.payload.checkpoint);
        break;
      case "call.recovered":
        each([event.payload.callId], (one) => one.recovered.push(event.payload.finding));
        break;
      case "call.settled":
        each([event.payload.callId], (one) => {
          one.settled = event.payload;
          one.settledAt = event.seq;
        });
        break;
      default:
    }
  }
  return [...found.values()].map((one) => actionOf(one, evidence));
}

/** What it said right before the call; where it said nothing, what it thought. */
function whyOf(before: readonly ModelItem[]): string | null {
  const said = before.filter((item) => item.kind === "assistant_message" && item.text.trim() !== "");
  const thought = before.filter((item) => item.kind === "reasoning" && item.text.trim() !== "");
  const last = said.at(-1) ?? thought.at(-1);
  return last === undefined || last.kind === "tool_call" ? null : last.text.trim();
}

function actionOf(one: Found, evidence: readonly InspectedEvidence[]): InspectedAction {
  const { call, decided, settled, approval = null } = one;
  const outcome = settled?.outcome;
  const mayChange = decided?.plan.changesWorkspace === true;
  return {
    callId: call.callId,
    ...{ seq: one.seq, at: one.at, step: one.step, why: one.why },
    tool: decided?.tool ?? call.name,
    summary: decided?.plan.summary ?? "",
    command: decided?.plan.command ?? decided?.plan.typed?.text ?? null,
    permission:
      decided === undefined
        ? null
        : { decision: decided.decision, rule: decided.rule, reason: decided.reason, scope: decided.scope, approval },
    hooks: one.hooks,
    changesWorkspace: mayChange,
    mayChangeAnything: decided !== undefined && mayChangeAnything(decided.plan),
    replay: one.replay ?? null,
    attempts: one.attempts,
    recovered: one.recovered,
    expected: settled?.judgement ?? null,
    status: outcome?.status ?? "open",
    observed: (outcome?.text ?? "").slice(0, mostObserved).toWellFormed(),
    exitCode: outcome?.exitCode ?? null,
    durationMs: outcome?.durationMs ?? null,
    trust: outcome?.trust ?? null,
    changed: changedBy(outcome?.changed ?? [], one.followed ?? []),
    // What never ran changed nothing that could have been checked.
    evidence: mayChange && one.attempts > 0 ? evidence.flatMap(({ seq }) => (seq > (one.settledAt ?? one.seq) ? [seq] : [])) : [],
  };
}

/** An edit says it itself. Folders that were made or went with their files are left out. */
function changedBy(edited: readonly ChangedFile[], followed: readonly TreeChange[]): InspectedAction["changed"] {
  return [
    ...edited.map(({ path, beforeDigest, afterDigest }) => ({ path, before: beforeDigest, after: afterDigest })),
    ...followed.flatMap(({ path, before, after }) =>
      (after ?? before)?.kind === "folder" ? [] : [{ path, before: before?.digest ?? null, after: after?.digest ?? null }],
    ),
  ];
}
