import type { Approval, CheckDefinition, Evidence, PlanStep, Question, Report, Usage } from "@holdfast/protocol";
import { addUsage, noUsage } from "@holdfast/protocol/usage";
import type { DriveEnd, RecordedEvent } from "@holdfast/runtime";
import { describeStanding, textOf } from "./describe.ts";
import type { OpenCall } from "./json-items.ts";
import { closedItem, isEdit, openItem } from "./json-items.ts";
import { limitName } from "./limits.ts";

/** Its calls are shown by what they set. */
const planTool = "update_plan";

/** One line of `exec --json`. */
export type JsonEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/**
 * Events as lines in the shape that tools for coding agents read: threads, turns and items that start and complete, each
 * with an id of its own. What that shape lacks is added as fields and types of ours; none of its own words is bent.
 */
export function createJsonEvents(checks: readonly Pick<CheckDefinition, "id" | "name">[] = []): {
  thread(session: string, mode?: string): JsonEvent;
  /** What an earlier process did of the turn that goes on: later lines refer to it, its usage is the turn's. */
  remember(events: readonly RecordedEvent[]): void;
  take(event: RecordedEvent): JsonEvent[];
  /** `turn.completed` only where the exit status is 0, so that nobody takes an unproven turn for a finished one. */
  end(end: DriveEnd): JsonEvent[];
} {
  let items = 0;
  let isTurnOpen = false;
  let used = noUsage;
  let plan: TodoList | null = null;
  const calls = new Map<string, OpenCall>();
  const checkNames = new Map(checks.map((check) => [check.id, check.name]));
  const nextId = () => `item_${items++}`;

  const started = (): JsonEvent[] => {
    if (isTurnOpen) return [];
    isTurnOpen = true;
    return [{ type: "turn.started" }];
  };
  /** A turn that an earlier process began has no event of its own here; its first item opens it. */
  const within = (...events: JsonEvent[]): JsonEvent[] => [...started(), ...events];
  const completed = (item: Readonly<Record<string, unknown>>): JsonEvent[] => within({ type: "item.completed", item });
  const book = (usage: Usage | null): void => {
    if (usage === null) return;
    used = addUsage(used, usage);
  };
  const callOf = (callId: string): OpenCall => {
    const known = calls.get(callId);
    if (known !== undefined) return known;
    const call: OpenCall = { itemId: nextId(), tool: "unknown", input: "", decided: null };
    calls.set(callId, call);
    return call;
  };
  const checked = (evidence: Evidence): JsonEvent => ({
    type: "check.completed",
    check: {
      id: evidence.checkId,
      name: checkNames.get(evidence.checkId) ?? evidence.checkId,
      phase: evidence.phase,
      passed: evidence.run.passed,
      exit_code: evidence.run.exitCode,
      timed_out: evidence.run.timedOut,
      ...(evidence.run.ended === undefined ? {} : { ended: evidence.run.ended }),
      counts:
        evidence.run.counts === null
          ? null
          : { passed: evidence.run.counts.passed, failed: evidence.run.counts.failed, skipped: evidence.run.counts.skipped },
      duration_ms: Math.round(evidence.run.durationMs),
      weaknesses: evidence.weaknesses,
      subject: evidence.subjectAfter,
      sandboxed: evidence.sandboxed,
      output: evidence.run.tail,
    },
  });

  /** One list a turn: it starts, is updated, and completes with the turn. */
  const planned = (steps: readonly PlanStep[]): JsonEvent => {
    const type = plan === null ? "item.started" : "item.updated";
    plan = todoList(plan === null ? nextId() : plan.id, steps);
    return { type, item: plan };
  };

  const take = (event: RecordedEvent): JsonEvent[] => {
    switch (event.type) {
      case "checks.accepted":
        for (const check of event.payload.checks) checkNames.set(check.id, check.name);
        return [];
      case "turn.started":
        return started();
      case "input.taken":
        return within({ type: "input.taken", text: textOf(event.payload.message) });
      case "sampling.failed": {
        book(event.payload.usage);
        const { error, retryAt, attempt } = event.payload;
        return completed({
          id: nextId(),
          type: "error",
          message: error.message,
          code: `model_${error.class}`,
          attempt,
          retry_in_ms: retryAt === null ? null : Math.max(0, retryAt - event.at),
        });
      }
      case "sampling.abandoned":
        book(event.payload.usage);
        return [];
      case "sampling.settled": {
        book(event.payload.usage);
        const lines = started();
        for (const item of event.payload.items) {
          if (item.kind === "tool_call") {
            calls.set(item.callId, { itemId: nextId(), tool: item.name, input: item.input, decided: null });
          } else if (item.text.trim() !== "") {
            const type = item.kind === "reasoning" ? "reasoning" : "agent_message";
            lines.push({ type: "item.completed", item: { id: nextId(), type, text: item.text } });
          }
        }
        return lines;
      }
      case "call.decided": {
        const call = callOf(event.payload.callId);
        call.decided = event.payload;
        call.tool = event.payload.tool ?? call.tool;
        return isEdit(event.payload.plan) || call.tool === planTool ? started() : within({ type: "item.started", item: openItem(call) });
      }
      case "approval.requested": {
        const { callId } = event.payload.approval;
        const call = callOf(callId);
        const approval = approvalOf(event.payload.approval, (id) => callOf(id).itemId);
        // The shape has no word for a change of files that isn't made yet.
        if (call.decided !== null && isEdit(call.decided.plan))
          return within({ type: "approval.requested", item_id: call.itemId, approval });
        return within({ type: "item.updated", item: { ...openItem(call), approval } });
      }
      case "approval.answered": {
        const { approvalId, answer, by, note, grant } = event.payload;
        const granted = grant === undefined ? {} : { granted: { for: grant.for, rule: grant.offer.rule, text: grant.offer.text } };
        return within({ type: "approval.answered", approval_id: approvalId, answer, by, note, ...granted });
      }
      case "approval.refused":
        return within({
          type: "approval.refused",
          approval_id: event.payload.approvalId,
          by: event.payload.by,
          code: event.payload.code,
          message: event.payload.reason,
        });
      case "approval.expired":
        return within({
          type: "approval.expired",
          approval_id: event.payload.approvalId,
          ...(event.payload.why === undefined ? {} : { why: event.payload.why }),
        });
      case "question.asked": {
        const { callId, ...question } = event.payload.question;
        // It is asked by no call: the turn's end names it.
        if (question.plan !== undefined) return [];
        return within({ type: "item.updated", item: { ...openItem(callOf(callId)), question: questionOf(question) } });
      }
      case "call.settled": {
        const call = callOf(event.payload.callId);
        calls.delete(event.payload.callId);
        const { steps } = event.payload.outcome;
        if (steps !== undefined) return within(planned(steps));
        return completed(closedItem(call, event.payload));
      }
      case "baseline.recorded":
        return within(...event.payload.evidence.map(checked));
      case "output.judged":
        return within({ type: "output.judged", valid: event.payload.problems.length === 0, problems: event.payload.problems });
      case "check.completed":
        return within(checked(event.payload.evidence));
      case "hook.ran": {
        const { callId, durationMs, ...run } = event.payload;
        return within({ type: "hook.ran", ...run, call_id: callId, duration_ms: Math.round(durationMs) });
      }
      case "window.compacted": {
        const { trigger, report } = event.payload;
        return within({ type: "window.compacted", trigger, before: report.before, after: report.after, pinned: report.pinned });
      }
      case "compaction.failed":
        return within({ type: "compaction.failed", reason: event.payload.reason });
      case "recovery.advised":
        return within({ type: "recovery.advised", rung: event.payload.rung, call_id: event.payload.callId, falls: event.payload.falls });
      case "limit.warned":
        return within({ type: "limit.warned", ...event.payload });
      case "limit.reached":
        return completed({
          id: nextId(),
          type: "error",
          message: `limit reached: ${event.payload.value} of ${event.payload.max} ${limitName(event.payload.limit)}`,
          code: "limit_reached",
        });
      default:
        return [];
    }
  };

  return {
    // The usual mode goes without saying.
    thread: (session, mode = "workspace") => ({ type: "thread.started", thread_id: session, ...(mode === "workspace" ? {} : { mode }) }),
    remember: (events) => {
      for (const event of events) take(event);
      isTurnOpen = false;
    },
    take,
    end: (end) => {
      if (end.standing === "idle") return [];
      const lists = plan === null ? [] : completed(plan);
      plan = null;
      const usage = {
        input_tokens: used.inputTokens,
        cached_input_tokens: used.cachedInputTokens,
        cache_write_input_tokens: used.cacheWriteTokens ?? 0,
        output_tokens: used.outputTokens,
        reasoning_output_tokens: used.reasoningTokens,
      };
      const ours = {
        outcome: end.standing,
        exit_status: end.exitStatus,
        report: end.report === null ? null : reportOf(end.report),
        ...(end.approvals.length === 0 ? {} : { approvals: end.approvals.map((approval) => approval.id) }),
        ...(end.questions.length === 0 ? {} : { questions: end.questions.map(questionOf) }),
      };
      const last: JsonEvent =
        end.exitStatus === 0
          ? { type: "turn.completed", usage, ...ours }
          : { type: "turn.failed", error: { message: whyNot(end), code: end.standing }, usage, ...ours };
      return [...lists, ...within(last)];
    },
  };
}

interface TodoList extends Readonly<Record<string, unknown>> {
  readonly id: string;
}

/** The shape knows done and not done; which step is under way is ours. */
function todoList(id: string, steps: readonly PlanStep[]): TodoList {
  return { id, type: "todo_list", items: steps.map(({ text, status }) => ({ text, completed: status === "completed", status })) };
}

function approvalOf(approval: Approval, itemOf: (callId: string) => string): Record<string, unknown> {
  const { id, reason, shown, scope, deadline, atDeadline = "deny", digest, offers = [], also = [], risk = null } = approval;
  return { id, reason, shown, scope, deadline, at_deadline: atDeadline, digest, also: also.map(itemOf), offers, risk };
}

function questionOf({ id, text, choices, allowsText, isMultiple, deadline }: Omit<Question, "callId">): Record<string, unknown> {
  return { id, text, choices, allows_text: allowsText, is_multiple: isMultiple, deadline };
}

function reportOf(report: Report): Record<string, unknown> {
  return {
    heading: report.heading,
    message: report.message,
    criteria: report.criteria.map(({ checkId, ...row }) => ({ check_id: checkId, ...row })),
    changes: report.changes,
    changes_known: report.changesKnown,
    subject: report.subject,
    reasons: report.reasons,
    ...(report.plan === undefined ? {} : { plan: report.plan }),
  };
}

function whyNot(end: DriveEnd): string {
  const open = [...end.approvals, ...end.questions].map(({ id }) => id);
  if (open.length > 0) return `waits for the answer to ${open.join(", ")}`;
  const { heading, reasons } = describeStanding(end);
  return [heading, ...reasons].filter((text) => text !== "").join("; ") || end.standing;
}

/** One line of JSON that is safe to look at in a terminal. */
export function jsonLine(event: JsonEvent): string {
  return `${withoutHidden(JSON.stringify(event))}\n`;
}

/**
 * JSON in which characters that control, reorder or hide text are written as `\u` escapes, which every JSON reader turns
 * back into the same text.
 */
export function withoutHidden(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g,
    (found) => [...Array(found.length).keys()].map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
  );
}
