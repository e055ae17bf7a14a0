import type { CallOutcome, CompactedEntry, CompactedSection, CompactionReport, Evidence, UserMessage } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { afterCompaction, sectionHeadings } from "../text/v1.ts";
import { constraintsIn } from "./constraints.ts";
import { judgementEntries } from "./judgement.ts";
import { pinned } from "./pinned.ts";

/** Characters that a section may have; of what is over, the oldest goes. What binds has no such cap short of the absurd. */
const caps: Readonly<Partial<Record<CompactedSection, number>>> = {
  constraints: 40_000,
  approvals: 20_000,
  user: 16_000,
  completed: 3_000,
  failures: 3_000,
  artifacts: 6_000,
  checks: 2_000,
  exactValues: 4_000,
};
const longestMessage = 3_000;
const longestLine = 300;
const longestSaid = 1_200;

/**
 * The state of a session, derived from its log: nothing of it comes from a model but what is marked as its judgement. What was
 * told before is carried on, and replaced where the log has news.
 */
export function deriveState(input: CompactionInput): { readonly entries: readonly CompactedEntry[]; readonly report: CompactionReport } {
  const told = readLog(input);
  const sections = new Map<CompactedSection, CompactedEntry[]>();
  const dropped: CompactionReport["dropped"] = [];
  for (const [section, entries] of told) {
    const cap = caps[section] ?? Infinity;
    const kept: CompactedEntry[] = [];
    let left = cap;
    for (const entry of entries.toReversed()) {
      left -= entry.text.length;
      if (left >= 0 || kept.length === 0) kept.unshift(entry);
    }
    sections.set(section, kept);
    const gone = entries.length - kept.length;
    const chars = entries.reduce((sum, entry) => sum + entry.text.length, 0) - kept.reduce((sum, entry) => sum + entry.text.length, 0);
    if (gone > 0)
      dropped.push({ what: `older entries of ${section}`, count: gone, chars, back: "history: the session's log has them all" });
  }
  const { judged, flags } = judgementEntries(input, [...sections.values()].flat());
  for (const entry of judged) sections.set(entry.section, [...(sections.get(entry.section) ?? []), entry]);
  const entries: CompactedEntry[] = [{ section: "history", text: afterCompaction, from: [] }];
  for (const [section, heading] of Object.entries(sectionHeadings) as [CompactedSection, string][]) {
    const own = sections.get(section) ?? [];
    if (own.length > 0) entries.push({ section, text: `\n${heading}`, from: [] }, ...own);
  }
  const chars = entries.reduce((sum, entry) => sum + entry.text.length + 1, 60);
  const items = input.before.items;
  return {
    entries,
    report: {
      before: input.before,
      after: { chars },
      kept: Object.fromEntries([...sections].map(([section, own]) => [section, own.length])),
      dropped: [
        {
          what: "items of the window",
          count: items,
          chars: input.before.chars,
          back: "lookup for exact values; holdfast sessions show --items",
        },
        ...dropped,
      ],
      pinned: sections.get("exactValues")?.length ?? 0,
      flags,
    },
  };
}

type Told = Map<CompactedSection, CompactedEntry[]>;

function readLog({ previous, events, plan, world, tasks }: CompactionInput): Told {
  const told: Told = new Map();
  const add = (section: CompactedSection, text: string, ...from: string[]): void => {
    told.set(section, [...(told.get(section) ?? []), { section, text, from }]);
  };
  /** In the place of what the same thing said before. */
  const replace = (section: CompactedSection, key: string, text: string, ...from: string[]): void => {
    const others = (told.get(section) ?? []).filter((entry) => !entry.text.startsWith(key));
    told.set(section, [...others, { section, text, from }]);
  };
  const isHeading = new Set(Object.values(sectionHeadings).map((heading) => `\n${heading}`));
  const carried: readonly CompactedSection[] = ["goal", "constraints", "user", "approvals", "completed", "artifacts", "checks", "failures"];
  for (const entry of previous) {
    if (carried.includes(entry.section) && !isHeading.has(entry.text)) told.set(entry.section, [...(told.get(entry.section) ?? []), entry]);
  }
  const calls = new Map<string, string>();
  const asked = new Map<string, string>();
  let said = previous.find(({ section, text }) => section === "currentState" && !isHeading.has(text));
  for (const event of events) {
    switch (event.type) {
      case "turn.started":
        told.set("goal", [{ section: "goal", text: cut(textOf(event.payload.message), longestMessage), from: [event.payload.message.id] }]);
        said = undefined;
        takeMessage(event.payload.message, event.seq, add, told);
        break;
      case "input.taken":
        takeMessage(event.payload.message, event.seq, add, told);
        break;
      case "call.decided":
        calls.set(event.payload.callId, cut(line(event.payload.plan.summary), longestLine));
        break;
      case "approval.requested":
        asked.set(event.payload.approval.id, cut(line(event.payload.approval.shown), longestLine));
        break;
      case "approval.answered": {
        const { approvalId, callId, answer, by, note } = event.payload;
        const what = asked.get(approvalId) ?? calls.get(callId) ?? `call ${callId}`;
        add(
          "approvals",
          `- ${answer === "allow" ? "allowed" : "refused"} by ${by}: ${what}${note === "" ? "" : ` (they said: ${note})`}`,
          callId,
        );
        break;
      }
      case "sampling.settled": {
        const last = event.payload.items.findLast((item) => item.kind === "assistant_message");
        if (last !== undefined && last.text.trim() !== "") {
          said = { section: "currentState", text: `You said last: ${cut(last.text.trim(), longestSaid)}`, from: [last.id] };
        }
        break;
      }
      case "call.settled": {
        const { callId, outcome } = event.payload;
        takeOutcome(calls.get(callId) ?? `call ${callId}`, callId, outcome, add, replace);
        break;
      }
      case "check.completed": {
        const { evidence } = event.payload;
        replace("checks", `- ${evidence.checkId}: `, `- ${evidence.checkId}: ${endOf(evidence.run)} (event ${event.seq})`);
        break;
      }
      default:
        break;
    }
  }
  for (const step of plan) {
    const isDone = step.status === "completed";
    add(isDone ? "completed" : "openTasks", `- ${isDone ? "in the plan as done, by your own word" : step.status}: ${step.text}`);
  }
  for (const task of tasks) add("openTasks", `- runs in the background: ${task.title} (handle ${task.ref})`, task.callId);
  for (const section of world) add("world", section.text);
  for (const entry of pinned(events)) told.set("exactValues", [...(told.get("exactValues") ?? []), entry]);
  if (said !== undefined) told.set("currentState", [said]);
  return told;
}

type Add = (section: CompactedSection, text: string, ...from: string[]) => void;

function takeMessage(message: UserMessage, seq: number, add: Add, told: Told): void {
  const text = textOf(message);
  if (text.trim() === "") return;
  add("user", `- [event ${seq}] ${cut(text, longestMessage)}`, message.id);
  // Only a person's own words bind.
  if (message.trust !== "user") return;
  const known = new Set((told.get("constraints") ?? []).map((entry) => entry.text));
  for (const sentence of constraintsIn(text)) if (!known.has(`- ${sentence}`)) add("constraints", `- ${sentence}`, message.id);
}

function takeOutcome(summary: string, callId: string, outcome: CallOutcome, add: Add, replace: Add3): void {
  for (const { path, afterDigest } of outcome.changed ?? []) {
    replace("artifacts", `- ${path}: `, `- ${path}: ${afterDigest === null ? "deleted" : `sha256 ${afterDigest.slice(0, 16)}…`}`, callId);
  }
  const isBad = outcome.status !== "completed" || (outcome.exitCode ?? 0) !== 0;
  const why = outcome.status === "completed" ? `exit ${outcome.exitCode}` : outcome.status;
  if (isBad) add("failures", `- ${summary}: ${why}; ${cut(line(outcome.text), longestLine / 2)}`, callId);
  else if (outcome.exitCode !== undefined || (outcome.changed ?? []).length > 0) add("completed", `- ${summary}`, callId);
}

type Add3 = (section: CompactedSection, key: string, text: string, ...from: string[]) => void;

function endOf({ exitCode, signal, timedOut }: Evidence["run"]): string {
  if (timedOut) return "timed out";
  return exitCode === 0 ? "passed" : exitCode === null ? `ended by ${signal}` : `failed, exit ${exitCode}`;
}

function textOf(message: UserMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "[an image]")).join("\n");
}

function line(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function cut(text: string, chars: number): string {
  return text.length <= chars
    ? text
    : `${text.slice(0, chars - 40).toWellFormed()} … [${text.length - chars + 40} more characters in the log]`;
}
