import type { CompactedEntry } from "@holdfast/protocol";
import { fromAll } from "@holdfast/protocol/compaction";
import type { CompactionInput } from "@holdfast/runtime";
import { valuesIn } from "../values/kinds.ts";
import { isHeading, judgedMark } from "./read-log.ts";
import { cut, line } from "./words.ts";

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
const longestAbout = 120;
/** It says that something is over or allowed, or gives orders: the one is for evidence, the other for people. In the languages that people write most. */
const claim = new RegExp(
  [
    String.raw`\b(?:done|completed?|finished|passed|passes|verified|fixed|succeeded|approved|allowed|permitted|lifted|waived|agreed|confirmed|granted|green|needs? no|no (?:\w+ )?(?:is )?(?:needed|required|necessary)|no longer)\b`,
    String.raw`(?<![\p{L}])(?:fertig|erledigt|abgeschlossen|bestanden|grün|behoben|genehmigt|erlaubt|aufgehoben|freigegeben|nicht (?:mehr|nötig))(?![\p{L}])`,
    String.raw`(?<![\p{L}])(?:terminée?s?|réussie?s?|approuvée?s?|autorisée?s?|levée?s?|corrigée?s?|permise?s?|plus besoin)(?![\p{L}])`,
    String.raw`(?<![\p{L}])(?:completad[oa]s?|terminad[oa]s?|aprobad[oa]s?|permitid[oa]s?|superad[oa]s?|levantad[oa]s?|autorizad[oa]s?|concluíd[oa]s?|aprovad[oa]s?|completat[oaie]|finit[oaie]|approvat[oaie]|permess[oaie]|autorizzat[oaie])(?![\p{L}])`,
    String.raw`(?<![\p{L}])(?:готов[оаы]?|завершен[оаы]?|пройден[оаы]?|одобрен[оаы]?|разрешен[оаы]?|отменен[оаы]?|снят[оаы]?)(?![\p{L}])`,
    "完成|通过|通過|批准|允许|允許|取消|解除|修复|修復|同意|许可|完了|合格|承認|許可|撤廃|修正済|완료|통과|승인|허용|해제",
  ].join("|"),
  "iu",
);
const order =
  /\b(?:ignore|disregard|forget|override|bypass|no longer (?:appl(?:y|ies)|binds?)|instructions?|system prompt|you (?:may|can|must) now|without asking|delete the log)\b|<\/?[a-z_]+>/i;
const weak: ReadonlySet<string> = new Set(["quoted", "name", "number", "amount"]);
/** Counts and ordinals (`3`, `2nd`, `40 %`): anybody may count. */
const mereCount = /^\d{1,3}(?:\p{L}{1,3}|%)?$/u;

/** The sentences that the log bears out, as entries; what it doesn't, as flags. */
export function judgementEntries(
  { judgement, events }: CompactionInput,
  derived: readonly CompactedEntry[],
): { readonly judged: readonly CompactedEntry[]; readonly flags: readonly string[] } {
  if (judgement === null || judgement.trim() === "") return { judged: [], flags: [] };
  const read = parseJudgement(judgement);
  if (read === null) return { judged: [], flags: ["the judgement is not of the form asked for"] };
  const known = `${derived.map(({ text }) => text).join("\n")}\n${JSON.stringify(events.map(({ seq, payload }) => [seq, payload]))}`;
  const flags: string[] = [];
  const entry = (section: CompactedEntry["section"], text: string, mark = "", isChecked = false): CompactedEntry[] => {
    const said = text.replaceAll(/\s+/g, " ").trim().slice(0, longest).toWellFormed();
    if (said === "") return [];
    const invented = inventedIn(said, known);
    if (invented.length > 0) flags.push(`names what the log doesn't have: ${invented.join(", ")}`);
    else if (order.test(said)) flags.push(`gives orders: ${said.slice(0, 80)}`);
    else if (!isChecked && claim.test(said)) flags.push(`claims without evidence: ${said.slice(0, 80)}`);
    else return [{ section, text: `${judgedMark}${mark}${said}`, from: [fromAll] }];
    return [];
  };
  const shown = goodEvents(events);
  const done = read.done.slice(0, mostOfEach).flatMap(({ what, event }) => {
    const good = shown.get(event);
    if (good !== undefined) return entry("completed", what, `by event ${event}${good.about}: `, good.isCheck);
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

/** What a text names that the log doesn't have: values of the kinds that are known, and whatever else has a digit. */
function inventedIn(said: string, known: string): string[] {
  const values = valuesIn(said).flatMap(({ kind, value }) => (weak.has(kind) ? [] : [value]));
  const others = said.split(/[\s"'`()[\]{}<>;]+/).map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""));
  const numbered = others.filter((word) => /\d/.test(word) && !mereCount.test(word) && !values.some((value) => value.includes(word)));
  return [...values, ...numbered].filter((value) => !isKnown(value, known) && !isKnown(value.replaceAll(/[,'_]/g, ""), known));
}

/** Values of the log as they stand, or within the JSON text that it was searched as. */
function isKnown(value: string, known: string): boolean {
  return known.includes(value) || known.includes(JSON.stringify(value).slice(1, -1));
}

interface GoodEvent {
  readonly isCheck: boolean;
  /** What was carried out, by the runtime's record: it stands beside what the model says of it. */
  readonly about: string;
}

/** Events that can show that something is done: calls that ran or changed something and ended well, and checks that passed. */
function goodEvents(events: CompactionInput["events"]): ReadonlyMap<number, GoodEvent> {
  const summaries = new Map<string, string>();
  const good = new Map<number, GoodEvent>();
  for (const event of events) {
    if (event.type === "call.decided") summaries.set(event.payload.callId, event.payload.plan.summary);
    if (event.type === "check.completed" && event.payload.evidence.run.passed)
      good.set(event.seq, { isCheck: true, about: aboutOf(event.payload.evidence.checkId) });
    if (event.type !== "call.settled") continue;
    const { status, exitCode, changed = [] } = event.payload.outcome;
    const isGood = status === "completed" && (exitCode === 0 || (exitCode == null && changed.length > 0));
    if (isGood) good.set(event.seq, { isCheck: false, about: aboutOf(summaries.get(event.payload.callId) ?? "") });
  }
  return good;
}

function aboutOf(text: string): string {
  return text === "" ? "" : ` (${cut(line(text), longestAbout)})`;
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
