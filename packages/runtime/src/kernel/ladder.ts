import type { CallOutcome, CallPlan, Judgement, RecoveryRung } from "@holdfast/protocol";
import { canonical } from "../canonical.ts";
import { sha256 } from "../hash.ts";

/** One settled call that acts, or that failed: what it was, and whether it fell short of what it was to do. */
interface Tried {
  readonly callId: string;
  readonly action: string;
  readonly what: string;
  readonly fellShort: boolean;
}

/** How far a turn has climbed: from trying again to stopping. Folded from its settled calls. */
export interface Ladder {
  /** The latest first. */
  readonly tried: readonly Tried[];
  readonly rung: RecoveryRung | null;
  /** The rung that the model was told of last. */
  readonly told: RecoveryRung | null;
}

export const noLadder: Ladder = { tried: [], rung: null, told: null };

/** So many calls count: what lies further back is over. */
const remembered = 8;
const longestWhat = 80;
const order: readonly RecoveryRung[] = ["retry", "another_way", "roll_back", "ask", "stop"];

/**
 * Counts a settled call in. It falls short where it failed or what was expected of it was not seen; a call that only looks and
 * succeeds says nothing. A first one may be retried where its class allows and its surroundings are the cause; the same action
 * once more, or half of all, needs another way; after more of them it is time to go back, to ask, to stop.
 */
export function climbed(
  before: Ladder,
  callId: string,
  name: string,
  plan: CallPlan | null,
  outcome: CallOutcome,
  judgement: Judgement | null,
): Ladder {
  const fellShort = outcome.status === "failed" || judgement?.verdict === "unmet";
  if (!fellShort && (plan === null || plan.replay === "safe")) return before;
  const action = sha256(`${name}\n${plan === null ? outcome.text : (plan.repeats ?? canonical(plan.input))}`).slice(0, 16);
  const summary = plan === null || plan.summary.startsWith(name) ? (plan?.summary ?? name) : `${name} ${plan.summary}`;
  const what = summary.length > longestWhat ? `${summary.slice(0, longestWhat - 1)}…` : summary;
  const worked = judgement?.verdict === "met" && judgement.isTrivial !== true;
  // What shows that it works ends the climb; so does the action itself, once it no longer falls short.
  const isOver = worked || (!fellShort && before.tried.some((one) => one.action === action && one.fellShort));
  if (isOver) return { ...noLadder, tried: [{ callId, action, what, fellShort }] };
  const tried = [{ callId, action, what, fellShort }, ...before.tried].slice(0, remembered);
  const mayRetry = judgement?.cause === "environment" && (plan?.replay === "safe" || plan?.replay === "keyed");
  const rung = rungOf(tried, fellShort, mayRetry);
  return { tried, rung: higher(before.rung, rung), told: before.told };
}

function rungOf(tried: readonly Tried[], fellShort: boolean, mayRetry: boolean): RecoveryRung | null {
  const falls = tried.filter((one) => one.fellShort).length;
  if (falls >= 7) return "stop";
  if (falls >= 6) return "ask";
  if (falls >= 4) return "roll_back";
  const same = tried.filter((one) => one.fellShort && one.action === tried[0]?.action).length;
  if (fellShort && (same > 1 || falls >= 3)) return "another_way";
  return fellShort && mayRetry ? "retry" : null;
}

function higher(one: RecoveryRung | null, other: RecoveryRung | null): RecoveryRung | null {
  return (one === null ? -1 : order.indexOf(one)) >= (other === null ? -1 : order.indexOf(other)) ? one : other;
}

/** What the model is told at a rung that it has newly come to; null where there is nothing new. */
export function adviceOf(
  { tried, rung, told }: Ladder,
  { canAsk, isEffectful }: { readonly canAsk: boolean; readonly isEffectful: boolean },
): { readonly rung: RecoveryRung; readonly callId: string; readonly falls: number; readonly text: string } | null {
  if (rung === null || rung === told) return null;
  const failing = tried.filter((one) => one.fellShort);
  const what = failing[0]?.what ?? "";
  const falls = failing.length;
  const same = failing.filter((one) => one.action === failing[0]?.action).length;
  const times =
    same > 1
      ? `The same action fell short ${same} times: ${what}.`
      : `${falls} of the last ${tried.length} actions fell short, the last of them ${what}.`;
  const say = (text: string) => ({ rung, callId: failing[0]?.callId ?? "", falls, text });
  switch (rung) {
    case "retry":
      return say(`${what} fell short because of its surroundings. It may be tried once more; after that, another way.`);
    case "another_way":
      return say(`${times} Repeating it won't help: find out why, and take another way.`);
    case "roll_back":
      return say(
        `${times} ${isEffectful ? "Take back what doesn't work, down to the last state that did, before you try on." : "Begin again from what you know for certain."}`,
      );
    case "ask":
      return say(
        `${times} ${canAsk ? "Ask the user what you can't find out (ask_user)." : "Nobody is here to be asked: try what is left, or end with give_up."}`,
      );
    case "stop":
      return say(`${times} Stop here: say what works and what doesn't, or end with give_up and the reason.`);
  }
}
