import type { Checkpoint, CheckDefinition, EventPayload } from "@holdfast/protocol";
import type { RecordedEvent } from "@holdfast/runtime";
import { describeEnd, describeEvidence, describeRule, describeScope, shortDigest, textOf } from "./describe.ts";
import { cells, fit, fold, pad, wrap } from "./layout.ts";
import { limitName } from "./limits.ts";
import { duration } from "./numbers.ts";
import { describeOffer } from "./offer.ts";
import { renderPlan } from "./question.ts";
import { sanitizeLine, sanitizeOutput } from "./sanitize.ts";
import type { Style } from "./style.ts";
import { worldRemarks } from "./world.ts";

export interface ProgressOptions {
  readonly style: Style;
  readonly width: () => number;
  /** Lines of a tool's or check's output shown of each. */
  readonly outputLines: number;
  /** Line mode streams the answer itself. */
  readonly showsAnswer: boolean;
  /** The session's checks so far, by the name a person knows. */
  readonly checks: readonly Pick<CheckDefinition, "id" | "name">[];
}

/** Columns of the label before each line. */
const labelWidth = 9;

/**
 * Turns events into lines for a person, one event at a time: what was proposed, decided by which rule, done, expected and
 * observed. Holds only what later lines refer back to. Everything that came from outside is sanitized here.
 */
export function createProgress(options: ProgressOptions): (event: RecordedEvent) => string[] {
  const { style } = options;
  const tools = new Map<string, string>();
  /** The call whose lines are the last ones shown; another's say which call they belong to. */
  let shownLast = "";
  let endedBefore = "";
  const proposals = new Map<string, string>();
  const answered = new Set<string>();
  const checkNames = new Map(options.checks.map((check) => [check.id, check.name]));

  const row = (label: string, text: string, paint: (text: string) => string = (same) => same): string[] => {
    const lines = wrap(sanitizeLine(text), options.width() - labelWidth);
    return lines.map((line, index) => paint(pad(index === 0 ? label : "", labelWidth)) + (paint === style.dim ? style.dim(line) : line));
  };
  const short = (label: string, text: string, paint?: (text: string) => string): string[] =>
    row(label, fit(sanitizeLine(text), options.width() - labelWidth), paint);
  const output = (text: string): string[] => {
    const room = options.width() - labelWidth - 2;
    const lines = sanitizeOutput(text)
      .split("\n")
      .filter((line) => line.trim() !== "");
    return fold(lines, options.outputLines).map((line) => style.dim(`${" ".repeat(labelWidth)}│ ${fit(line, room)}`));
  };
  /** What must not be cut off: its first line says what to look at. */
  const whole = (text: string): string[] => {
    const [first = "", ...more] = text.split("\n");
    const lines = wrap(sanitizeLine(first), options.width() - labelWidth - 2);
    return [...lines.map((line) => `${" ".repeat(labelWidth)}│ ${line}`), ...output(more.join("\n"))];
  };
  const nameOf = (checkId: string) => checkNames.get(checkId) ?? checkId;

  /** What a person should know before the command has run: it can't be taken back whole. */
  const unkept = ({ failed, unkept: paths = [], more = 0 }: Checkpoint): string[] => {
    if (failed !== undefined) return row("undo", `this step can't be taken back: ${failed}`, style.care);
    if (paths.length === 0) return [];
    const [first] = paths;
    const why = { too_large: "too large to be kept", unreadable: "not readable", no_room: "no room to keep it" }[
      first?.why ?? "unreadable"
    ];
    const others = paths.length + more - 1;
    return row(
      "undo",
      `what changes in ${first?.path ?? ""} can't be taken back (${why})${others === 0 ? "" : `, nor in ${others} more`}`,
      style.care,
    );
  };
  const settled = (payload: EventPayload<"call.settled">): string[] => {
    const { outcome, judgement } = payload;
    // The answer is shown where it comes in.
    if (answered.delete(payload.callId)) return [];
    if (outcome.steps !== undefined) {
      shownLast = payload.callId;
      const lines = renderPlan(outcome.steps, options.width() - labelWidth);
      return ["", ...lines.flatMap((line, index) => row(index === 0 ? "plan" : "", line))];
    }
    const isApart = shownLast !== payload.callId;
    shownLast = payload.callId;
    const name = proposals.get(payload.callId) ?? tools.get(payload.callId) ?? "a call";
    const end = [...(isApart ? [name] : []), describeEnd(outcome)].filter((part) => part !== "").join(" · ");
    const lines: string[] = [];
    switch (outcome.status) {
      case "completed":
        lines.push(...row("done", end || "ok", outcome.exitCode ? style.care : style.good));
        break;
      case "failed":
        lines.push(...row("failed", end || name, style.bad));
        break;
      case "denied":
        lines.push(...row("refused", name, style.bad));
        break;
      case "interrupted":
        lines.push(...row("stopped", end || name, style.care));
        break;
      case "in_doubt":
        lines.push(...row("in doubt", `${name} may have happened`, style.bad));
        lines.push(...whole(outcome.text));
        break;
    }
    if (outcome.status !== "denied" && outcome.status !== "in_doubt") lines.push(...output(outcome.text));
    for (const file of outcome.changed ?? []) {
      const change = file.beforeDigest === null ? "added" : file.afterDigest === null ? "deleted" : "changed";
      lines.push(...row("", `${change} ${file.path}`));
    }
    if (judgement !== null) {
      const isTrivial = judgement.isTrivial === true;
      const paint = judgement.verdict === "met" && !isTrivial ? style.good : judgement.verdict === "unmet" ? style.bad : style.care;
      const cause = judgement.cause === undefined ? "" : ` (${judgement.cause.replace("_", " ")})`;
      lines.push(...row("expected", judgement.expected, style.dim));
      lines.push(
        ...row(
          "observed",
          `${sanitizeOutput(judgement.observed)}: ${judgement.verdict}${cause}${isTrivial ? ", which shows nothing: it would be met whatever happens" : ""}`,
          paint,
        ),
      );
    }
    return lines;
  };

  return (event) => {
    switch (event.type) {
      case "world.observed":
        return worldRemarks(event.payload).flatMap((remark) => row("note", remark, style.dim));
      case "checks.accepted":
        for (const check of event.payload.checks) checkNames.set(check.id, check.name);
        return event.payload.checks.flatMap((check) => row("check", `${check.name}${check.isRequired ? "" : " (not required)"}`));
      case "turn.ended":
        endedBefore = event.payload.outcome;
        return [];
      case "turn.started": {
        // The last turn's end is told at length by whoever drives; one that is followed by another only here.
        const before = endedBefore === "" ? [] : row("ended", endedBefore, style.strong);
        endedBefore = "";
        return [...before, ...short("prompt", textOf(event.payload.message), style.strong)];
      }
      case "input.taken":
        return short("steered", textOf(event.payload.message), style.strong);
      case "notice.added":
        return short("note", event.payload.notice.text, style.dim);
      case "sampling.failed": {
        const { error, attempt, retryAt } = event.payload;
        const status = error.status === null ? "" : ` (${error.status})`;
        const next = retryAt === null ? "" : `; tries again in ${duration(Math.max(0, retryAt - event.at))} (try ${attempt} failed)`;
        return row(
          "model",
          `${error.class.replaceAll("_", " ")}${status}: ${next === "" ? error.message : error.message.replace(/\.$/, "")}${next}`,
          retryAt === null ? style.bad : style.care,
        );
      }
      case "sampling.abandoned":
        return row("model", "the answer was cut off and is not used", style.dim);
      case "sampling.settled":
        return event.payload.items.flatMap((item) => {
          switch (item.kind) {
            case "tool_call":
              tools.set(item.callId, item.name);
              return [];
            case "reasoning":
              return item.text.trim() === "" ? [] : short("thinks", item.text, style.dim);
            case "assistant_message":
              return item.text.trim() === "" || !options.showsAnswer ? [] : short("says", item.text);
          }
        });
      case "call.decided": {
        const { callId, plan, decision, rule, reason } = event.payload;
        if (event.payload.tool !== undefined) tools.set(callId, event.payload.tool);
        const tool = tools.get(callId) ?? "call";
        if (tool === "update_plan" && decision === "allow") return [];
        shownLast = callId;
        const proposed = sanitizeLine(plan.summary);
        proposals.set(callId, fit(proposed.startsWith(tool) ? proposed : `${tool} ${proposed}`, 40));
        const named = proposed.startsWith(tool) ? proposed : `${tool}  ${proposed}`;
        const paint = decision === "allow" ? style.good : decision === "review" ? style.care : style.bad;
        return [
          "",
          ...short("proposed", named, style.strong),
          ...row(decision, describeRule(rule) + (decision === "allow" ? "" : `: ${reason}`), paint),
        ];
      }
      case "approval.requested":
        return [
          ...row("asks", `approval ${event.payload.approval.id}: ${event.payload.approval.reason}`, style.care),
          ...describeScope(event.payload.approval.scope).flatMap((line) => row("", `would ${line}`)),
        ];
      case "approval.answered": {
        const { answer, by, grant } = event.payload;
        const more =
          grant === undefined
            ? ""
            : `, and ${grant.for === "session" ? "for this session" : "as a rule of yours"}: ${describeOffer(grant.offer)}`;
        return row("answer", `${answer} by ${by}${more}`, answer === "allow" ? style.good : style.bad);
      }
      case "approval.refused":
        return row("answer", `of ${event.payload.by} doesn't count: ${event.payload.reason} (${event.payload.code})`, style.care);
      case "approval.expired":
        // That the answer didn't count was said, and the question follows anew.
        if (event.payload.why === "asked_again") return [];
        return row("answer", event.payload.why === "deadline" ? "none before the deadline: refused" : "none that counts", style.bad);
      case "question.asked":
        return short("asks", `question ${event.payload.question.id}: ${event.payload.question.text}`, style.care);
      case "question.answered": {
        const { answer, by, callId } = event.payload;
        answered.add(callId);
        // What is said to a plan comes as a message.
        if (callId === "" && answer.choices.length === 0) return [];
        return short("answer", `${[...answer.choices, answer.text].filter((part) => part !== "").join(", ")} (${by})`, style.good);
      }
      case "question.expired":
        return event.payload.callId === ""
          ? row("answer", "none to this plan", style.dim)
          : row("answer", "none before the deadline", style.bad);
      case "call.intended":
        return [
          ...(event.payload.attempt > 1 ? row("again", `attempt ${event.payload.attempt}`, style.care) : []),
          ...(event.payload.checkpoint === undefined ? [] : unkept(event.payload.checkpoint)),
        ];
      case "call.recovered":
        return row(
          "found",
          `${tools.get(event.payload.callId) ?? "a call"} from before: ${event.payload.finding.replace("_", " ")}`,
          style.care,
        );
      case "call.settled":
        return settled(event.payload);
      case "task.ended": {
        const { taskId, exitCode, signal, why } = event.payload;
        const how = signal !== null ? `ended by ${signal}` : exitCode !== null ? `exit ${exitCode}` : why;
        return row("task", `${taskId}: ${how}`, style.dim);
      }
      case "baseline.started":
        return row("baseline", "taken before anything changes", style.dim);
      case "baseline.recorded":
        return event.payload.evidence.flatMap((evidence) =>
          row("baseline", `${nameOf(evidence.checkId)}: ${describeEvidence(evidence).join("; ")}`, style.strong),
        );
      case "checks.started":
        return ["", ...row("checks", `round ${event.payload.round + 1}`, style.strong)];
      case "check.completed": {
        const { evidence } = event.payload;
        const isWeak = evidence.weaknesses.length > 0;
        const paint = !evidence.run.passed ? style.bad : isWeak ? style.care : style.good;
        return [
          ...row(
            "check",
            `${nameOf(evidence.checkId)}: ${describeEvidence(evidence).join("; ")} · on ${shortDigest(evidence.subjectAfter)}`,
            paint,
          ),
          ...(evidence.run.passed ? [] : output(evidence.run.tail)),
        ];
      }
      case "round.judged":
        return event.payload.verdict === "fail" ? row("checks", "not passed: the model is told what failed", style.bad) : [];
      case "output.judged":
        return event.payload.problems.length === 0
          ? row("answer", "valid under the output schema", style.good)
          : event.payload.problems.flatMap((problem, index) => row(index === 0 ? "answer" : "", `not valid: ${problem}`, style.bad));
      case "hook.ran": {
        const { hook, event: at, result, reason } = event.payload;
        if (result === "passed") return [];
        const what = result === "changed" ? "changed the input" : `${result === "denied" ? "refused" : "failed"}: ${reason}`;
        return row("hook", `${at.replaceAll("_", " ")}, ${hook} ${what}`, result === "changed" ? style.care : style.bad);
      }
      case "sandbox.expiring":
        return row("sandbox", "ends soon and can't be prolonged; what it holds was saved", style.care);
      case "sandbox.lost":
        return row("sandbox", `lost: ${event.payload.why}`, style.care);
      case "sandbox.reconstituted":
        return event.payload.changed.flatMap((line, index) =>
          row(index === 0 ? "sandbox" : "", index === 0 ? `made again ${line}` : line, style.care),
        );
      case "window.compacted": {
        const { before, after } = event.payload.report;
        return row("compact", `${before.chars} characters of conversation became ${after.chars}`, style.care);
      }
      case "compaction.failed":
        return row("compact", `not shortened: ${event.payload.reason}`, style.care);
      case "recovery.advised": {
        const { rung, falls } = event.payload;
        return row("advice", `${falls} ${falls === 1 ? "call" : "calls"} fell short: ${rung.replaceAll("_", " ")}`, style.care);
      }
      case "limit.warned": {
        const { limit, value, max } = event.payload;
        return row("limit", `little is left: ${Number(value.toFixed(4))} of ${max} ${limitName(limit)} are used`, style.care);
      }
      case "limit.reached":
        return row("limit", `${event.payload.value} of ${event.payload.max} ${limitName(event.payload.limit)}`, style.bad);
      case "turn.stopping":
        return row("stop", event.payload.reason, style.bad);
      case "interrupt.received":
        return row("stop", `interrupted by ${event.payload.by}`, style.care);
      case "edits.undone":
        return row("undone", `${event.payload.callIds.length} calls`, style.care);
      default:
        return [];
    }
  };
}

/** A rule with a word in it, as wide as the terminal allows. */
export function divider(word: string, width: number): string {
  const lead = `── ${word} `;
  return lead + "─".repeat(Math.max(3, Math.min(width, 80) - cells(lead)));
}
