import type { Approval, Report } from "@holdfast/protocol";
import type { DriveEnd } from "@holdfast/runtime";
import { describeScope, describeStanding, shortDigest } from "./describe.ts";
import { fit, table, wrap } from "./layout.ts";
import { describeOffer } from "./offer.ts";
import { divider } from "./progress.ts";
import { renderPlan, renderQuestion } from "./question.ts";
import { renderRisk } from "./risk.ts";
import { sanitize, sanitizeLine } from "./sanitize.ts";
import type { Style } from "./style.ts";

export interface EndingOptions {
  readonly style: Style;
  readonly width: number;
  /** Null where the session can't be gone on with (ephemeral). */
  readonly session: string | null;
  /** In line mode the person simply types on. */
  readonly showsResume: boolean;
}

/** More rows of a diff summary than this are counted, not listed. */
const mostFiles = 20;

/** The last lines of a run: outcome, table criterion → evidence, changed files, how to go on. */
export function renderEnding(end: DriveEnd, options: EndingOptions): string[] {
  const { style, width } = options;
  if (end.standing === "idle") return ["nothing to do: no turn of this session is open; give it a prompt"];
  const { report } = end;
  const why = describeStanding(end);
  const heading = sanitizeLine(why.heading);
  const code = end.error === null ? "" : ` (${end.error.code})`;
  const lines = ["", divider("outcome", width)];
  lines.push(
    ...wrap(`${end.standing}${code}${heading === "" ? "" : ` · ${heading}`}`, width).map((line) => style.strong(paintOf(end, style)(line))),
  );
  const wrapped = (text: string) => wrap(sanitizeLine(text), width - 2).map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`));
  for (const reason of why.reasons) lines.push(...wrapped(reason));
  for (const says of report?.contradicted ?? []) lines.push(...wrapped(`the model ${says}`).map((line) => style.care(line)));
  if (report !== null) lines.push(...renderCriteria(report, width), ...renderChanges(report, style, width));
  if (report?.plan !== undefined) {
    const done = report.plan.filter((step) => step.status === "completed").length;
    lines.push("", `plan: ${done} of ${report.plan.length} steps done`, ...renderPlan(report.plan, width - 2).map((line) => `  ${line}`));
  }
  for (const approval of end.approvals) lines.push(...renderApproval(approval, options));
  for (const question of end.questions) lines.push(...renderQuestion(question, { style, width, isTyped: !options.showsResume }));
  if (options.session !== null && options.showsResume) {
    const resume = `holdfast exec resume ${options.session}`;
    lines.push("", end.standing === "waiting" ? `go on after the answer: ${resume}` : `go on with: ${resume} "…"`);
  }
  return lines;
}

function paintOf(end: DriveEnd, style: Style): (text: string) => string {
  switch (end.standing) {
    case "verified":
      return style.good;
    case "failed":
    case "refuted":
    case "exhausted":
    case "blocked":
      return style.bad;
    case "unverified":
    case "interrupted":
    case "waiting":
    case "idle":
      return style.care;
  }
}

function renderCriteria(report: Report, width: number): string[] {
  if (report.criteria.length === 0) return [];
  const rows = report.criteria.map((criterion) => [
    sanitizeLine(criterion.name),
    criterion.baseline,
    criterion.now,
    sanitizeLine(criterion.evidence),
  ]);
  return [
    "",
    ...table([["criterion", "before", "now", "evidence"], ...rows], width, 0),
    ...(report.subject === null ? [] : [`on the tree ${shortDigest(report.subject)}`]),
  ];
}

function renderChanges(report: Report, style: Style, width: number): string[] {
  if (!report.changesKnown) return ["", "changes: not known"];
  if (report.changes.length === 0) return ["", "changes: none"];
  const added = report.changes.reduce((sum, change) => sum + (change.added ?? 0), 0);
  const removed = report.changes.reduce((sum, change) => sum + (change.removed ?? 0), 0);
  const files = report.changes.length;
  const rows = report.changes.slice(0, mostFiles).map((change) => {
    const mark = change.change === "added" ? "A" : change.change === "deleted" ? "D" : "M";
    const plus = change.added === null ? "" : `+${change.added}`;
    const minus = change.removed === null ? "" : `-${change.removed}`;
    const lineCounts = plus === "" && minus === "" ? "binary".padStart(11) : `${plus.padStart(5)} ${minus.padStart(5)}`;
    return `  ${mark} ${lineCounts}  ${fit(sanitizeLine(change.path), width - 17)}`;
  });
  return [
    "",
    `changes: ${files} ${files === 1 ? "file" : "files"}, ${style.good(`+${added}`)} ${style.bad(`-${removed}`)}`,
    ...rows,
    ...(files > mostFiles ? [`  … and ${files - mostFiles} more`] : []),
  ];
}

/** An open approval with the exact input: never cut, every line marked as its own. */
export function renderApproval(
  approval: Approval,
  options: Pick<EndingOptions, "style" | "width"> & { readonly showsResume: boolean },
): string[] {
  const { style, width } = options;
  return [
    "",
    style.care(`approval ${approval.id}`) +
      ` ${approval.deadline === null ? "" : `(until ${new Date(approval.deadline).toISOString()}, then ${approval.atDeadline === "allow" ? "allowed" : "refused"})`}`.trimEnd(),
    ...(approval.also === undefined ? [] : [`the same call ${approval.also.length + 1} times; one answer is for all of them`]),
    ...wrap(sanitizeLine(approval.reason), width),
    ...(approval.risk === undefined ? [] : renderRisk(approval.risk, width)),
    ...sanitize(approval.shown)
      .split("\n")
      .flatMap((line) => wrap(line, width - 4).map((part, index) => `  ${index === 0 ? "│" : "┆"} ${part}`)),
    "allowing it grants:",
    ...describeScope(approval.scope).flatMap((line) =>
      wrap(sanitizeLine(line), width - 4).map((part, index) => `  ${index === 0 ? "- " : "  "}${part}`),
    ),
    ...renderOffers(approval, width),
    ...(options.showsResume
      ? [
          `answer with: holdfast approvals ${approval.id} allow   (or deny${(approval.offers?.length ?? 0) > 0 ? "; --for session, --for rule" : ""})`,
        ]
      : []),
  ];
}

/** What can be allowed beyond the call: the number, and what exactly. */
function renderOffers({ offers = [] }: Approval, width: number): string[] {
  if (offers.length === 0) return [];
  const lines = offers.flatMap((offer) =>
    wrap(`${offer.id}  ${sanitizeLine(describeOffer(offer))}`, width - 4).map((part, index) => `  ${index === 0 ? part : `   ${part}`}`),
  );
  return ["or more, for this session (1) or as a rule of yours (r1):", ...lines];
}
