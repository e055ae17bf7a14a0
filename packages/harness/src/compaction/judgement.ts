import type { CompactedEntry } from "@holdfast/protocol";
import { fromAll } from "@holdfast/protocol/compaction";
import type { CompactionInput } from "@holdfast/runtime";
import { valuesIn } from "../values/kinds.ts";
import { isHeading, judgedMark } from "./read-log.ts";

/** What a model may add to the state, as JSON of this form and no other. Anything else counts as nothing. */
interface Judgement {
  readonly intent: string;
  readonly reasons: readonly string[];
  readonly decisions: readonly string[];
  /** Each with the number of the event that shows it. */
  readonly done: readonly { readonly what: string; readonly event: number }[];
  /** Numbers of the constraints that still bind, as the request lists them. */
  readonly constraints: readonly number[] | null;
  readonly nextAction: string;
}

const mostOfEach = 12;
const longest = 400;
/** It says that something is over, or gives orders: the one is for evidence, the other for people. */
const claim = /\b(?:done|completed?|finished|passed|passes|verified|fixed|succeeded|approved|allowed|permitted|lifted|waived)\b/i;
const order =
  /\b(?:ignore|disregard|forget|override|bypass|no longer (?:appl(?:y|ies)|binds?)|instructions?|system prompt|you (?:may|can|must) now|without asking|delete the log)\b|<\/?[a-z_]+>/i;
const weak: ReadonlySet<string> = new Set(["quoted", "name", "number", "amount"]);

/** The sentences that the log bears out, as entries; what it doesn't, as flags. */
export function judgementEntries(
  { judgement, events }: CompactionInput,
  derived: readonly CompactedEntry[],
): { readonly judged: readonly CompactedEntry[]; readonly flags: readonly string[] } {
  if (judgement === null || judgement.trim() === "") return { judged: [], flags: [] };
  const read = parseJudgement(judgement);
  if (read === null) return { judged: [], flags: ["the judgement is not of the form asked for"] };
  const known = `${derived.map(({ text }) => text).join("\n")}\n${JSON.stringify(events.map(({ payload }) => payload))}`;
  const flags: string[] = [];
  const entry = (section: CompactedEntry["section"], text: string, mark = "", isShown = false): CompactedEntry[] => {
    const said = text.replaceAll(/\s+/g, " ").trim().slice(0, longest).toWellFormed();
    if (said === "") return [];
    const invented = valuesIn(said).filter(({ kind, value }) => !weak.has(kind) && !isKnown(value, known));
    if (invented.length > 0) flags.push(`names what the log doesn't have: ${invented.map(({ value }) => value).join(", ")}`);
    else if (order.test(said)) flags.push(`gives orders: ${said.slice(0, 80)}`);
    else if (!isShown && claim.test(said)) flags.push(`claims without evidence: ${said.slice(0, 80)}`);
    else return [{ section, text: `${judgedMark}${mark}${said}`, from: [fromAll] }];
    return [];
  };
  const shown = goodEvents(events);
  const done = read.done.slice(0, mostOfEach).flatMap(({ what, event }) => {
    if (shown.has(event)) return entry("completed", what, `by event ${event}: `, true);
    flags.push(`calls a task done without evidence: ${what.slice(0, 80)}`);
    return [];
  });
  const constraints = derived.filter((one) => one.section === "constraints" && !isHeading(one));
  if (read.constraints !== null) {
    const missing = constraints.filter((_, at) => !read.constraints!.includes(at + 1));
    if (missing.length > 0)
      flags.push(`leaves out ${missing.length} of ${constraints.length} constraints, which are kept: ${missing[0]!.text.slice(2, 82)}`);
  }
  return {
    judged: [
      ...done,
      ...entry("decisions", read.intent, "intent: "),
      ...read.reasons.slice(0, mostOfEach).flatMap((reason) => entry("decisions", reason)),
      ...read.decisions.slice(0, mostOfEach).flatMap((decision) => entry("decisions", decision)),
      ...entry("nextAction", read.nextAction),
    ],
    flags,
  };
}

/** Values of the log as they stand, or within the JSON text that it was searched as. */
function isKnown(value: string, known: string): boolean {
  return known.includes(value) || known.includes(JSON.stringify(value).slice(1, -1));
}

/** Events that can show that something is done: calls that ended well, and checks that passed. */
function goodEvents(events: CompactionInput["events"]): ReadonlySet<number> {
  return new Set(
    events.flatMap((event) => {
      if (event.type === "check.completed") return event.payload.evidence.run.passed ? [event.seq] : [];
      if (event.type !== "call.settled") return [];
      const { status, exitCode = 0 } = event.payload.outcome;
      return status === "completed" && exitCode === 0 ? [event.seq] : [];
    }),
  );
}

const keys: ReadonlySet<string> = new Set(["intent", "reasons", "decisions", "done", "constraints", "nextAction"]);

/** Null where it is not of the form. A missing part is empty; one too many is no judgement. */
export function parseJudgement(text: string): Judgement | null {
  try {
    const found = JSON.parse(text.replace(/^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/, "$1")) as Record<string, unknown> | null;
    if (typeof found !== "object" || found === null || Array.isArray(found) || !Object.keys(found).every((key) => keys.has(key)))
      return null;
    const { intent = "", reasons = [], decisions = [], done = [], constraints = null, nextAction = "" } = found;
    if (typeof intent !== "string" || typeof nextAction !== "string" || !isListOf(reasons, isText) || !isListOf(decisions, isText))
      return null;
    if (!isListOf(done, isDone) || !(constraints === null || isListOf(constraints, isNumber))) return null;
    return { intent, reasons, decisions, done, constraints, nextAction };
  } catch {
    return null;
  }
}

function isListOf<T>(value: unknown, is: (one: unknown) => one is T): value is T[] {
  return Array.isArray(value) && value.every(is);
}

const isText = (one: unknown): one is string => typeof one === "string";
const isNumber = (one: unknown): one is number => typeof one === "number";
const isDone = (one: unknown): one is { what: string; event: number } =>
  typeof one === "object" && one !== null && "what" in one && "event" in one && isText(one.what) && isNumber(one.event);
