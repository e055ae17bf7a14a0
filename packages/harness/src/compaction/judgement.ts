import type { CompactedEntry } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { valuesIn } from "../values/kinds.ts";

/** What a model may add to the state, as JSON of this form. Anything else counts as nothing. */
interface Judgement {
  readonly intent: string;
  readonly decisions: readonly string[];
  readonly nextAction: string;
}

const mostDecisions = 12;
const longest = 400;
/** It says that something is over, or gives orders: the one is for evidence, the other for people. */
const claim = /\b(?:done|completed?|finished|passed|passes|verified|fixed|succeeded|approved|allowed|permitted)\b/i;
const order = /\b(?:ignore|disregard|forget|override|no longer appl(?:y|ies)|instructions?|system prompt|you (?:may|can|must) now)\b/i;
const weak: ReadonlySet<string> = new Set(["quoted", "name", "number", "amount"]);

/** The sentences that the log bears out, as entries; what it doesn't, as flags. */
export function judgementEntries(
  { judgement, events }: CompactionInput,
  derived: readonly CompactedEntry[],
): { readonly judged: readonly CompactedEntry[]; readonly flags: readonly string[] & string[] } {
  const read = judgement === null ? null : parse(judgement);
  if (read === null)
    return { judged: [], flags: judgement === null || judgement.trim() === "" ? [] : ["the judgement is not of the form asked for"] };
  const known = `${derived.map(({ text }) => text).join("\n")}\n${JSON.stringify(events.map(({ payload }) => payload))}`;
  const flags: string[] = [];
  const entry = (section: CompactedEntry["section"], text: string): CompactedEntry[] => {
    const said = text.replaceAll(/\s+/g, " ").trim().slice(0, longest);
    if (said === "") return [];
    const invented = valuesIn(said).filter(({ kind, value }) => !weak.has(kind) && !known.includes(value));
    if (invented.length > 0) flags.push(`names what the log doesn't have: ${invented.map(({ value }) => value).join(", ")}`);
    else if (order.test(said)) flags.push(`gives orders: ${said.slice(0, 80)}`);
    else if (claim.test(said)) flags.push(`claims without evidence: ${said.slice(0, 80)}`);
    else return [{ section, text: `- (a model's judgement, not checked) ${said}`, from: [] }];
    return [];
  };
  return {
    judged: [
      ...entry("decisions", read.intent),
      ...read.decisions.slice(0, mostDecisions).flatMap((decision) => entry("decisions", decision)),
      ...entry("nextAction", read.nextAction),
    ],
    flags,
  };
}

function parse(text: string): Judgement | null {
  try {
    const { intent = "", decisions = [], nextAction = "" } = JSON.parse(text) as Partial<Record<keyof Judgement, unknown>>;
    const isList = Array.isArray(decisions) && decisions.every((one) => typeof one === "string");
    return typeof intent === "string" && typeof nextAction === "string" && isList
      ? { intent, decisions: decisions as string[], nextAction }
      : null;
  } catch {
    return null;
  }
}
