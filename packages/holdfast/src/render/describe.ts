import type { CallOutcome, CheckRun, Evidence, RuleRef, Scope, UserMessage } from "@holdfast/protocol";
import type { DriveEnd } from "@holdfast/runtime";
import { count, duration, plural } from "./numbers.ts";

/** Words for plain data, shared by everything that shows it. The results are not yet sanitized. */

export function describeRule(rule: RuleRef): string {
  return rule.source.startsWith("builtin") ? rule.id : `${rule.id} (${rule.source})`;
}

/** What an approval grants, as one or more sentences: shown scope is granted scope. */
export function describeScope(scope: Scope): string[] {
  const lines = [
    ...(scope.unsandboxed ? ["run outside the sandbox, with everything your account may do"] : []),
    ...(scope.network === "all" ? ["reach every host on the network"] : []),
    ...(Array.isArray(scope.network) && scope.network.length > 0 ? [`reach ${scope.network.join(", ")}`] : []),
    ...(scope.secrets !== undefined && scope.secrets.length > 0 ? [`get the secrets ${scope.secrets.join(", ")}`] : []),
    ...(scope.writable !== undefined && scope.writable.length > 0 ? [`write in ${scope.writable.join(", ")}`] : []),
  ];
  return lines.length === 0 ? ["run just this, once, with no further reach"] : lines.map((line) => `${line}, for this call only`);
}

/** How a call ended: `exit 0 · 1.2 s`. */
export function describeEnd(outcome: CallOutcome): string {
  const parts: string[] = [];
  if (outcome.limited !== undefined) parts.push(describeLimit(outcome.limited));
  else if (outcome.timedOut) parts.push("timed out");
  else if (outcome.signal) parts.push(`ended by ${outcome.signal}`);
  else if (outcome.exitCode !== undefined && outcome.exitCode !== null) parts.push(`exit ${outcome.exitCode}`);
  if (outcome.refused !== undefined) parts.push(`the sandbox refused ${outcome.refused.map(describeRefusal).join(", ")}`);
  if (outcome.httpStatus !== undefined) parts.push(`HTTP ${outcome.httpStatus}`);
  if (outcome.changed !== undefined && outcome.changed.length > 0) parts.push(`${plural(outcome.changed.length, "file")} changed`);
  if (outcome.task !== undefined) parts.push(`goes on as ${outcome.task.id}`);
  if (outcome.durationMs !== undefined) parts.push(duration(outcome.durationMs));
  return parts.join(" · ");
}

function describeLimit({ limit, max }: NonNullable<CallOutcome["limited"]>): string {
  switch (limit) {
    case "processes":
      return `ended: more than ${count(max)} processes`;
    case "memory":
      return `ended: more than ${count(Math.round(max / 1_000_000))} MB of memory`;
    case "disk":
      return `ended: less than ${count(Math.round(max / 1_000_000))} MB left on the disk`;
  }
}

function describeRefusal(refusal: NonNullable<CallOutcome["refused"]>[number]): string {
  switch (refusal.kind) {
    case "host":
      return refusal.port === null ? refusal.host : `${refusal.host}:${refusal.port}`;
    case "write":
      return `to write ${refusal.path}`;
    case "hidden":
      return `to show ${refusal.path}`;
  }
}

/** `fail · 1 failed, 41 passed · exit 1 · 2.3 s`. */
function describeRun(run: CheckRun): string {
  // Nothing ran: what was read was held against what there is.
  if (run.exitCode === null && run.signal === null && !run.timedOut && run.ended === undefined) return run.tail.split("\n")[0] ?? "";
  const parts = [run.passed ? "pass" : "fail"];
  if (run.counts !== null) {
    const counts = [
      ...(run.counts.failed > 0 ? [`${count(run.counts.failed)} failed`] : []),
      `${count(run.counts.passed)} passed`,
      ...(run.counts.skipped > 0 ? [`${count(run.counts.skipped)} skipped`] : []),
    ];
    parts.push(counts.join(", "));
  } else if (run.ended === undefined) {
    parts.push("no test counts, exit status only");
  }
  if (run.timedOut) parts.push("timed out");
  else if (run.signal !== null) parts.push(`ended by ${run.signal}`);
  else if (run.ended !== undefined) parts.push(run.ended);
  else if (run.exitCode !== null) parts.push(`exit ${run.exitCode}`);
  parts.push(duration(run.durationMs));
  return parts.join(" · ");
}

/** The first digits of a digest: enough to compare by eye. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}

export function describeEvidence(evidence: Evidence): string[] {
  return [
    describeRun(evidence.run),
    ...(evidence.originalInputsRun === null ? [] : [`with the original tests: ${describeRun(evidence.originalInputsRun)}`]),
    ...(evidence.repeats.length > 1
      ? [`run ${evidence.repeats.length} times, ${evidence.repeats.filter((run) => run.passed).length} passed`]
      : []),
    ...(evidence.notes ?? []),
    ...evidence.weaknesses.map((weakness) => `weak: ${weakness.detail}`),
  ];
}

/** Text of a message; images are named. */
export function textOf(message: UserMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : `[image ${part.mediaType}]`)).join(" ");
}

/** Why a turn stands as it does: the heading, the error and the reasons, each said once. Not yet sanitized. */
export function describeStanding(end: DriveEnd): { readonly heading: string; readonly reasons: readonly string[] } {
  const whole = end.report?.heading ?? "";
  const prefix = [`${end.standing}: `, `${end.standing} · `].find((start) => whole.startsWith(start)) ?? "";
  const heading = whole === end.standing ? "" : whole.slice(prefix.length);
  const reasons = new Set([...(end.error === null ? [] : [end.error.message]), ...(end.report?.reasons ?? [])]);
  return { heading, reasons: [...reasons].filter((reason) => !heading.includes(reason)) };
}
