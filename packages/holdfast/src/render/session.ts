import type { SessionView } from "../runtime-api.ts";
import { wrap } from "./layout.ts";
import { count, dollars, moment, plural } from "./numbers.ts";
import { renderPlan } from "./question.ts";
import { sanitizeLine } from "./sanitize.ts";

/** A session on one page: where, how, each turn with its outcome, what is open, what it cost. */
export function renderSession(view: SessionView, width: number): string[] {
  const { row, settings } = view;
  const field = (name: string, value: string) => {
    const lines = wrap(sanitizeLine(value), width - 12);
    return lines.map((line, index) => (index === 0 ? `${name}:`.padEnd(12) : " ".repeat(12)) + line);
  };
  return [
    ...field("session", row.session),
    ...field("title", row.title),
    ...(row.parent === null ? [] : field("fork of", `${row.parent}, up to event ${row.parentSeq}`)),
    ...field("folder", view.cwd ?? row.workspace ?? "none"),
    ...field("status", row.status),
    ...field("started", moment(row.createdAt)),
    ...field("changed", moment(row.updatedAt)),
    ...field("model", settings.model),
    ...field("sandbox", `${settings.sandbox}, network ${Array.isArray(settings.network) ? settings.network.join(", ") : settings.network}`),
    ...field("approvals", settings.approvals),
    ...field("trusted", settings.isTrusted ? "yes" : "no"),
    ...renderUsage(view).flatMap(([name, value]) => field(name, value)),
    "",
    plural(view.turns.length, "turn"),
    ...view.turns.flatMap((turn) => {
      const heading = turn.report?.heading ? ` · ${turn.report.heading}` : "";
      const text = `${turn.outcome ?? (view.openApprovals.length + view.openQuestions.length > 0 ? "waiting" : "open")}${heading} · ${turn.goal}`;
      return wrap(sanitizeLine(text), width - 4).map((line, index) => (index === 0 ? "  - " : "    ") + line);
    }),
    ...(view.plan.length === 0 ? [] : ["", "plan", ...renderPlan(view.plan, width - 4).map((line) => `  ${line}`)]),
    ...(view.openApprovals.length + view.openQuestions.length === 0 ? [] : ["", "waits for an answer"]),
    ...view.openApprovals.flatMap((approval) => wrap(`  ${approval.id}  ${sanitizeLine(approval.reason)}`, width)),
    ...view.openQuestions.flatMap((question) => wrap(`  ${question.id}  ${sanitizeLine(question.text)}`, width)),
    ...(view.inDoubt.length === 0 ? [] : ["", "in doubt: these may have happened"]),
    ...view.inDoubt.flatMap((call) => [
      ...wrap(`  ${sanitizeLine(call.callId)}  ${sanitizeLine(call.tool)}: ${sanitizeLine(call.summary)}`, width),
      ...wrap(`    ${sanitizeLine(call.text)}`, width),
    ]),
  ];
}

export function renderUsage(view: SessionView): [name: string, value: string][] {
  const { usage } = view;
  const written = usage.cacheWriteTokens === undefined ? "" : `, ${count(usage.cacheWriteTokens)} written to the cache`;
  const guess = usage.estimated ? " (partly estimated)" : "";
  return [
    [
      "tokens",
      `${count(usage.inputTokens)} in (${count(usage.cachedInputTokens)} cached${written}), ${count(usage.outputTokens)} out${guess}`,
    ],
    ["cost", `${dollars(view.cost)}${view.isCostPartial ? " and an unknown part" : ""}`],
  ];
}
