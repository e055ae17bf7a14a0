import type { Decision, ValueOrigin } from "@holdfast/protocol";
import { lowestTrust } from "@holdfast/protocol/trust";
import { showHidden } from "@holdfast/runtime/hidden";
import type { About, Mandate } from "./action.ts";
import { mandateOf } from "./action.ts";
import { judgeAmount } from "./amount.ts";
import { judgeContent } from "./content.ts";
import type { Finding, FlowCall } from "./finding.ts";
import { meet } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import { isSaid } from "./origin.ts";
import { judgeReading } from "./reading.ts";
import { judgeRepetition } from "./repetition.ts";
import type { Slot } from "./slots.ts";
import { slotsOf } from "./slots.ts";
import type { Action } from "./tool.ts";
import { aboutOf, actionOf, looksOf, runsProgram, takesProgram } from "./tool.ts";
import { keyOf } from "./words.ts";
import { judgeSecret, judgeTime, judgeChoice, judgePlace, judgeTarget, judgeAddress, judgeOtherDay, originOfSlot } from "./values.ts";

export interface FlowVerdict {
  readonly decision: Decision;
  readonly isRead: boolean;
  readonly mandate: Mandate["type"] | "none";
  readonly findings: readonly Finding[];
}

/**
 * Judges a call by where its values come from. Allowed without a question: a look that carries nothing out; an action that
 * the user's words ask for, to whom and on what they say, that says nothing which wasn't theirs to say. Denied: what the
 * user's words don't ask for and text of others does. The rest is a question.
 */
export function judgeFlow(memory: FlowMemory, call: FlowCall): FlowVerdict {
  const action = actionOf(call.tool);
  const { slots, isWhole } = slotsOf(call.input, call.schema, action.kinds);
  const named = looksOf(call.tool);
  const paths = slots.map(({ path }) => path);
  const isProgram = named === "by_name" ? takesProgram(call.tool, paths) : named === "yes" && runsProgram(call.tool, slots);
  const looks = isProgram ? "no" : named;
  const findings: Finding[] = isWhole ? [] : [tooMany(call)];
  if (looks !== "no") {
    findings.push(...judgeReading(memory, call.tool, slots));
    if (looks === "by_name" && !meet(memory.user.words, aboutOf(call.tool)))
      findings.push({
        type: "unproven",
        id: "look",
        path: "",
        value: call.tool.name,
        sentence: "Its server doesn't say that it only looks.",
      });
    return { decision: decide(findings, "asked"), isRead: true, mandate: "none", findings };
  }
  const mandate = mandateOf(memory, call.tool, action, aboutCall(memory, action, slots));
  if (mandate.type !== "asked") {
    const sentence = sentences[mandate.type];
    findings.push({
      type: mandate.type === "suggested" ? "tainted" : "unproven",
      id: mandate.type,
      path: "",
      value: call.tool.name,
      sentence,
    });
  }
  for (const slot of slots) findings.push(...judgeHidden(slot), ...judgeSlot(memory, action, slot, mandate));
  findings.push(
    ...judgeContent(memory, call.tool, slots, mandate),
    ...judgeOtherDay(slots, mandate),
    ...judgeRepetition(memory, call, action, mandate),
  );
  return { decision: decide(findings, mandate.type), isRead: false, mandate: mandate.type, findings };
}

/** What wasn't looked at can be anything: also a tool that the config allows is asked about. */
function tooMany({ tool }: FlowCall): Finding {
  const sentence = "The call holds more values than can be looked at.";
  return { type: "tainted", id: "too_many", path: "", value: tool.name, sentence, isPointedTo: true };
}

function aboutCall(memory: FlowMemory, action: Action, slots: readonly Slot[]): About {
  const origins = slots.filter(isDeciding).map((slot) => originOfSlot(memory, action.things, slot));
  return {
    isMeant: origins.some(({ from }) => from === "user" || from === "meant"),
    given: slots.flatMap(({ role, value }) => (role === "address" && isSaid(memory, String(value)) ? [keyOf(String(value))] : [])),
    called: new Set(origins.flatMap(({ from, pieces }) => (from === "meant" ? pieces.flatMap(({ record }) => [...record.words]) : []))),
  };
}

const sentences: Readonly<Record<Exclude<Mandate["type"], "asked">, string>> = {
  wished: "You spoke of it as a wish, and didn't ask for it.",
  delegated: "You left it to another's text what is to be done.",
  suggested: "Your words don't ask for this; text that others wrote does.",
  unasked: "Your words don't ask for this.",
};

function isDeciding({ role }: Slot): boolean {
  return role === "address" || role === "target" || role === "id" || role === "title";
}

/** Words that nobody sees are nobody's request. */
function judgeHidden({ path, value }: Slot): readonly Finding[] {
  if (typeof value !== "string" || showHidden(value) === value) return [];
  return [{ type: "unproven", id: "hidden", path, value, sentence: `${path} holds characters that don't show.` }];
}

function judgeSlot(memory: FlowMemory, action: Action, slot: Slot, mandate: Mandate): readonly Finding[] {
  switch (slot.role) {
    case "address":
      return judgeAddress(memory, slot, mandate);
    case "target":
    case "id":
      return judgeTarget(memory, action.things, slot, mandate);
    case "secret":
      return judgeSecret(memory, slot);
    case "time":
      return judgeTime(memory, slot, mandate);
    case "amount":
      return judgeAmount(memory, slot, action.kinds.includes("pay"), mandate);
    case "content":
    case "title":
      return [];
    case "place":
      return judgePlace(memory, slot);
    case "choice":
      return judgeChoice(memory, slot);
  }
}

function decide(findings: readonly Finding[], mandate: Mandate["type"]): Decision {
  if (findings.length === 0) return "allow";
  const tainted = findings.filter(({ type }) => type === "tainted");
  if (tainted.length === 0) return "review";
  return (mandate === "asked" || mandate === "delegated") && tainted.every(({ isPointedTo }) => isPointedTo === true) ? "review" : "deny";
}

/** Where the values that decide stood, for the record. */
export function originsOf(memory: FlowMemory, { tool, schema, input }: FlowCall): ValueOrigin[] {
  const action = actionOf(tool);
  return slotsOf(input, schema, action.kinds)
    .slots.filter((slot) => isDeciding(slot) || slot.role === "secret")
    .slice(0, mostRecorded)
    .map((slot) => {
      const { from, pieces, tool: source } = originOfSlot(memory, action.things, slot);
      const trust = lowestTrust(...pieces.map(({ record }) => record.source.label));
      return {
        path: slot.path,
        from,
        trust: from === "user" ? "user" : pieces.length === 0 ? "untrusted" : trust,
        ...(source === null ? {} : { tool: source }),
      };
    });
}

const mostRecorded = 30;
