import { count, dollars } from "../render/numbers.ts";
import type { ExportedItem, ExportedSession, ExportedTurn } from "./document.ts";

/**
 * The export for people. All that was said stands in quotes and fences that it can't leave, so nothing in it can pass for
 * an outcome or a heading of this page. Pure.
 */
export function renderMarkdown({ session, usage, cost, turns, leftOut }: ExportedSession): string {
  const facts = [
    ["session", session.id],
    ["folder", session.folder ?? "none"],
    ["started", session.startedAt],
    ["last change", session.changedAt],
    ["model", session.model],
    ["sandbox", `${session.sandbox}, approvals ${session.approvals}`],
    ...(session.forkOf === null ? [] : [["fork of", `${session.forkOf.session}, up to event ${session.forkOf.seq}`]]),
    ["tokens", `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out`],
    ["cost", dollars(cost)],
  ];
  const blocks = [
    `# ${plain(session.title)}`,
    facts.map(([name = "", value = ""]) => `- ${name}: ${code(value)}`).join("\n"),
    ...(session.checks.length === 0 ? [] : [`Checks: ${session.checks.map(code).join(", ")}`]),
    ...turns.flatMap(renderTurn),
    "## What this is not",
    leftOut.map((sentence) => `- ${sentence}`).join("\n"),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function renderTurn({ number, startedAt, outcome, report, items }: ExportedTurn): string[] {
  return [
    `## Turn ${number}`,
    `Started ${startedAt}.`,
    ...items.flatMap(renderItem),
    outcome === null
      ? "**The turn is open.**"
      : `**Outcome: ${outcome}**${report === null || report.heading === "" ? "" : ` · ${plain(report.heading)}`}`,
    ...(report === null || report.reasons.length === 0 ? [] : [report.reasons.map((reason) => `- ${plain(reason)}`).join("\n")]),
    ...(report === null || report.criteria.length === 0
      ? []
      : [report.criteria.map(({ name, baseline, now }) => `- ${code(name)}: ${baseline ?? "not run"} before, ${now} now`).join("\n")]),
    ...(report === null || report.changes.length === 0
      ? []
      : [report.changes.map(({ path, change }) => `- ${change}: ${code(path)}`).join("\n")]),
  ];
}

function renderItem(item: ExportedItem): string[] {
  switch (item.kind) {
    case "prompt":
      return [`**Prompt** (${item.trust})`, quote(item.text), ...images(item.images)];
    case "answer":
      return item.text.trim() === "" ? [] : ["**Answer**", quote(item.text)];
    case "reasoning":
      return item.text.trim() === "" ? [] : ["**Reasoning**", quote(item.text)];
    case "notice":
      return ["**Notice**", quote(item.text)];
    case "call":
      return [`**Call** ${code(item.tool)}`, fence(pretty(item.input))];
    case "result":
      return [`**Result** ${item.status}`, ...(item.text === null ? ["(left out)"] : [fence(item.text)]), ...images(item.images)];
  }
}

function images(number: number): string[] {
  return number === 0 ? [] : [`(${number === 1 ? "an image" : `${number} images`}, not part of this)`];
}

function quote(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** A fence ends only with one as long as it began with. */
function fence(text: string): string {
  const ticks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}text\n${text.replace(/\n$/, "")}\n${ticks}`;
}

function code(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const ticks = "`".repeat(longestRun(line) + 1);
  return line.includes("`") ? `${ticks} ${line} ${ticks}` : `${ticks}${line}${ticks}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** One line on which nothing is markup. */
function plain(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>#|!~&]/g, "\\$&");
}

function pretty(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    return JSON.stringify(value, null, 2);
  } catch {
    return input;
  }
}
