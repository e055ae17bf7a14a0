import type { CallOutcome, CompactedEntry, CompactedSection, EventPayload, Evidence, UserMessage } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import type { Note } from "../notes/note-write.ts";
import { noteOf } from "../notes/note-write.ts";
import { showSection } from "../context/head.ts";
import { isGone } from "../text/v1.ts";
import { fieldsOf } from "../discovery/fields.ts";
import { isLook, meantBy } from "../discovery/meant.ts";
import { skillLoaded } from "../text/v1.ts";
import { constraintsIn } from "./constraints.ts";
import { lesser } from "./keep.ts";
import { pinned } from "./pinned.ts";
import { bothEnds, cut, line, textOf } from "./words.ts";

const longestMessage = 3_000;
const longestLine = 300;
const longestSaid = 1_200;
/** What was shown to the person who answered: the end of a command tells as much as its beginning. */
const longestApproval = 2_000;
/** A message that is longer, or has more sentences that bind, quotes something: its sentences give way before those that a person wrote to the agent. */
const longText = 4_000;
const mostSentences = 20;
/** Of one section's note with all that was added to it: the end of it. */
const longestSection = 4_000;
/** Skills that are named, the latest ones. */
const mostSkills = 8;
/** Outputs that are named with their handles, the latest ones. */
const mostHandles = 12;

export type Told = Map<CompactedSection, CompactedEntry[]>;

/** What each window carries on from the one before. */
const carried: readonly CompactedSection[] = [
  "goal",
  "constraints",
  "user",
  "approvals",
  "notes",
  "completed",
  "decisions",
  "artifacts",
  "checks",
  "failures",
  "history",
];

/** Begins every entry that a model's judgement brought. It isn't carried on: the next one is made of the next window. */
export const judgedMark = "- (a model's judgement, not checked) ";

/** The state as the log tells it, by section: what was told before, and what the events of the window that ends have new. */
export function readLog({ previous, events, plan, world, gone = [], tasks }: CompactionInput): Told {
  const told: Told = new Map();
  const add = (section: CompactedSection, text: string, ...from: string[]): void => {
    const own = told.get(section);
    if (own === undefined) told.set(section, [{ section, text, from }]);
    else own.push({ section, text, from });
  };
  /** In the place of what the same thing said before. */
  const replace = (section: CompactedSection, key: string, text: string, ...from: string[]): void => {
    const others = (told.get(section) ?? []).filter((entry) => !entry.text.startsWith(key));
    told.set(section, [...others, { section, text, from }]);
  };
  /** In the place of the same word for word: a longer one that begins so is another. */
  const once = (section: CompactedSection, text: string, ...from: string[]): void => {
    const others = (told.get(section) ?? []).filter((entry) => entry.text !== text);
    told.set(section, [...others, { section, text, from }]);
  };
  const before = previous.filter((entry) => !isHeading(entry));
  for (const { section, text, from } of before) if (carried.includes(section) && !text.startsWith(judgedMark)) add(section, text, ...from);
  const calls = new Map<string, string>();
  const asked = new Map<string, string>();
  const handles = new Map<string, string>();
  const names = new Map<string, string>();
  const written = new Map<string, Note>();
  const reading = new Map<string, string>();
  /** Skills by the text that tells of them: what they say left the window with the rest. */
  const skills = new Map(before.flatMap((entry) => (entry.text.startsWith(skillLoaded("")) ? [[entry.text, entry] as const] : [])));
  let said = before.find(({ section, text }) => section === "currentState" && !skills.has(text));
  for (const event of events) {
    switch (event.type) {
      case "turn.started": {
        const { message } = event.payload;
        told.set("goal", [{ section: "goal", text: cut(textOf(message), longestMessage), from: [message.id] }]);
        said = undefined;
        takeMessage(message, event.seq, add, told);
        break;
      }
      case "input.taken":
        takeMessage(event.payload.message, event.seq, add, told);
        break;
      case "call.decided": {
        const { callId, plan: decided, tool = names.get(callId) } = event.payload;
        calls.set(callId, cut(line(decided.summary), longestLine));
        if (tool !== undefined) names.set(callId, tool);
        const note = tool === "note_write" ? noteOf(decided.input) : null;
        if (note !== null) written.set(callId, note);
        const skill = tool === "read_skill" ? fieldsOf(decided.input)["name"] : null;
        if (typeof skill === "string") reading.set(callId, skillLoaded(skill));
        break;
      }
      case "approval.requested":
        asked.set(event.payload.approval.id, bothEnds(line(event.payload.approval.shown), longestApproval));
        break;
      case "approval.answered": {
        const { approvalId, callId } = event.payload;
        takeAnswer(answered(event.payload, asked.get(approvalId) ?? calls.get(callId) ?? `call ${callId}`), callId, told);
        break;
      }
      case "question.asked":
        asked.set(event.payload.question.id, cut(line(event.payload.question.text), longestLine));
        break;
      case "question.answered": {
        const { questionId, callId, answer, by } = event.payload;
        const words = [...answer.choices, answer.text].filter((text) => text !== "").join("; ");
        add("decisions", `- asked "${asked.get(questionId) ?? "a question"}", ${by} answered: ${cut(words, longestSaid)}`, callId);
        if (answer.text !== "") bind(answer.text, callId, add, told);
        break;
      }
      case "sampling.settled": {
        for (const item of event.payload.items) if (item.kind === "tool_call") names.set(item.callId, meantBy(item).tool);
        const last = event.payload.items.findLast((item) => item.kind === "assistant_message");
        if (last !== undefined && last.text.trim() !== "")
          said = { section: "currentState", text: `You said last: ${cut(last.text.trim(), longestSaid)}`, from: [last.id] };
        break;
      }
      case "call.settled": {
        const { callId, outcome } = event.payload;
        const summary = calls.get(callId) ?? `call ${callId}`;
        takeOutcome(summary, callId, event.seq, outcome, add, replace);
        const loaded = reading.get(callId);
        if (loaded !== undefined && outcome.status === "completed")
          skills.set(loaded, { section: "currentState", text: loaded, from: [callId] });
        const note = written.get(callId);
        if (note !== undefined && outcome.status === "completed") takeNote(note, callId, told);
        if (outcome.output !== undefined) handles.set(outcome.output, `${callId}\n${summary}`);
        break;
      }
      case "check.completed": {
        const { evidence } = event.payload;
        const subject = evidence.subjectAfter === null ? "" : ` on tree ${evidence.subjectAfter.slice(0, 12)}`;
        replace("checks", `- ${evidence.checkId}: `, `- ${evidence.checkId}: ${endOf(evidence.run)}${subject} (event ${event.seq})`);
        break;
      }
      case "turn.ended":
        add(
          "completed",
          `- a turn ended as ${event.payload.outcome} (event ${event.seq}): ${cut(line(goalOf(told)), 160)}`,
          ...goalFrom(told),
        );
        break;
      default:
        break;
    }
  }
  for (const step of plan) {
    if (step.status !== "completed") add("openTasks", `- ${step.status}: ${step.text}`, ...goalFrom(told));
    else once("completed", `- in the plan as done, by your own word: ${step.text}`, ...goalFrom(told));
  }
  for (const task of tasks) add("openTasks", `- runs in the background: ${task.title} (handle ${task.ref})`, task.callId);
  for (const section of world) add("world", showSection(section));
  for (const id of gone) add("world", isGone(id));
  const standing = [...[...skills.values()].slice(-mostSkills), ...(said === undefined ? [] : [said])];
  if (standing.length > 0) told.set("currentState", standing);
  const open = [...(told.get("goal") ?? []), ...(told.get("openTasks") ?? []), ...(said === undefined ? [] : [said])];
  for (const entry of pinned(
    events.filter((event) => !isOfLook(event, names)),
    open.map(({ text }) => text).join("\n"),
  ))
    add("exactValues", entry.text, ...entry.from);
  for (const [handle, about] of [...handles].slice(-mostHandles)) {
    const [callId = "", summary = ""] = about.split("\n");
    replace("history", `- output ${handle}: `, `- output ${handle}: ${summary}`, callId);
  }
  told.set("history", (told.get("history") ?? []).slice(-mostHandles));
  const next = nextOf(plan, told);
  if (next !== null) told.set("nextAction", [{ section: "nextAction", text: next, from: [...goalFrom(told)] }]);
  return told;
}

type Add = (section: CompactedSection, text: string, ...from: string[]) => void;
type Replace = (section: CompactedSection, key: string, text: string, ...from: string[]) => void;

/** Nothing names where they are from, as they are nobody's words. */
export function isHeading({ section, text, from }: CompactedEntry): boolean {
  return from.length === 0 && (text.startsWith("\n") || section === "history");
}

/** The result of what only looks for something. */
function isOfLook(event: CompactionInput["events"][number], names: ReadonlyMap<string, string>): boolean {
  return event.type === "call.settled" && isLook(names.get(event.payload.callId) ?? "");
}

/** What the plan says comes next; without a plan, what last failed. */
function nextOf(plan: CompactionInput["plan"], told: Told): string | null {
  const step = plan.find(({ status }) => status === "in_progress") ?? plan.find(({ status }) => status === "pending");
  if (step !== undefined) return `- by the plan: ${step.text}`;
  const failing = (told.get("checks") ?? []).find(({ text }) => !text.includes(": passed"));
  return failing === undefined ? null : `- this check does not pass: ${failing.text.slice(2)}`;
}

function takeMessage(message: UserMessage, seq: number, add: Add, told: Told): void {
  const text = textOf(message);
  if (text.trim() === "") return;
  const isOwn = message.trust === "user";
  add("user", `${isOwn ? "- " : lesser}[event ${seq}] ${cut(text, longestMessage)}`, message.id);
  // Only a person's own words bind.
  if (isOwn) bind(text, message.id, add, told);
}

function bind(text: string, from: string, add: Add, told: Told): void {
  const known = new Set((told.get("constraints") ?? []).map((entry) => entry.text));
  const sentences = constraintsIn(text);
  const mark = text.length > longText || sentences.length > mostSentences ? lesser : "- ";
  for (const sentence of sentences) if (!known.has(`- ${sentence}`)) add("constraints", `${mark}${sentence}`, from);
}

/** The same answer to the same thing is told once, with how often. */
function takeAnswer(text: string, callId: string, told: Told): void {
  const own = told.get("approvals") ?? [];
  const same = own.find((entry) => entry.text.replace(/ \(\d+ times\)$/, "") === text);
  if (same === undefined) return void told.set("approvals", [...own, { section: "approvals", text, from: [callId] }]);
  const times = Number(/ \((\d+) times\)$/.exec(same.text)?.[1] ?? 1) + 1;
  const next = { ...same, text: `${text} (${times} times)`, from: [...same.from, callId] };
  told.set("approvals", [...own.filter((entry) => entry !== same), next]);
}

function answered({ answer, by, note, grant }: EventPayload<"approval.answered">, what: string): string {
  const rule =
    grant === undefined
      ? ""
      : `; and ${grant.for === "session" ? "for this session" : "as a rule"}: ${cut(line(grant.offer.text), longestLine)}`;
  return `- ${answer === "allow" ? "allowed" : "refused"} by ${by}: ${what}${rule}${note === "" ? "" : ` (they said: ${note})`}`;
}

function takeOutcome(summary: string, callId: string, seq: number, outcome: CallOutcome, add: Add, replace: Replace): void {
  for (const { path, afterDigest } of outcome.changed ?? [])
    replace("artifacts", `- ${path}: `, `- ${path}: ${afterDigest === null ? "deleted" : `sha256 ${afterDigest.slice(0, 16)}…`}`, callId);
  const isBad = outcome.status !== "completed" || (outcome.exitCode ?? 0) !== 0;
  const why = outcome.status === "completed" ? `exit ${outcome.exitCode}` : outcome.status;
  const told = `- ${summary} (event ${seq})`;
  if (isBad) add("failures", `${told}: ${why}; ${cut(line(outcome.text), longestLine / 2)}`, callId);
  else if (outcome.exitCode !== undefined || (outcome.changed ?? []).length > 0) add("completed", told, callId);
}

/** In the place of the section's earlier note, or behind it. What is taken away leaves nothing. */
function takeNote({ section, text, isAppended }: Note, callId: string, told: Told): void {
  const own = told.get("notes") ?? [];
  const key = `- [${section}] `;
  const earlier = own.find((entry) => entry.text.startsWith(key));
  const others = own.filter((entry) => entry !== earlier);
  const isAdded = isAppended && earlier !== undefined;
  const whole = isAdded ? `${earlier.text.slice(key.length)}\n${text}` : text;
  const from = isAdded ? [...earlier.from, callId] : [callId];
  if (text !== "") others.push({ section: "notes", text: `${key}${whole.slice(-longestSection)}`, from });
  else if (isAdded) others.push(earlier);
  told.set("notes", others);
}

function endOf({ exitCode, signal, timedOut, ended, passed }: Evidence["run"]): string {
  if (timedOut) return "timed out";
  if (exitCode !== null) return exitCode === 0 ? "passed" : `failed, exit ${exitCode}`;
  return ended ?? (signal !== null ? `ended by ${signal}` : passed ? "passed" : "failed");
}

function goalOf(told: Told): string {
  return told.get("goal")?.[0]?.text ?? "";
}

function goalFrom(told: Told): readonly string[] {
  return told.get("goal")?.[0]?.from ?? [];
}
