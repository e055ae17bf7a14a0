import type { Limits, SessionEvent, UserMessage } from "@holdfast/protocol";
import { runnableChecks } from "./active-checks.ts";
import { callsOf } from "./answered.ts";
import { hasOpenPlan, isWaiting } from "./waiting.ts";
import { hasOutputSchema, isPlanning } from "./decide.ts";
import { compactionDue, requestTokens } from "./compacted.ts";
import { inDoubt, settled, settledWithout } from "./settle.ts";
import { reachedLimit, type CostOf, type Reached } from "./limits.ts";
import { adviceOf, noLadder } from "./ladder.ts";
import { nearLimits, type Near } from "./near.ts";
import { askAboutPlan, closedPlan, expiredQuestions, supersededPlan, unaskedQuestions } from "./question.ts";
import { describeLoop, loopOf, noRepeats } from "./repeats.ts";
import type { State, Turn } from "./state.ts";

export interface AdvanceInput {
  readonly now: number;
  readonly newId: (prefix: string) => string;
  /** True while an effect whose key starts so is in flight. */
  readonly isRunning: (keyPrefix: string) => boolean;
  /** Text input that waits for the next sampling. */
  readonly steering: readonly UserMessage[];
  /** What the model said last. */
  readonly lastAnswer: () => { readonly id: string; readonly text: string } | null;
  /** The model's price, where a limit of cost asks for it and it is known. */
  readonly costOf: CostOf | null;
  /** The worst case of the next request's input, tokens. */
  readonly worstInput: () => number;
  /** Tokens of a request above which the conversation is shortened; null where that is not known yet, or far. */
  readonly compactAt: number | null;
}

/**
 * What follows from the state without any effect: the next few events, empty when something outside has to happen first.
 * Called again until it is empty.
 */
export function advance(state: State, input: AdvanceInput): SessionEvent[] {
  const turn = state.head.turn;
  const settings = state.registers.get("settings", "");
  if (turn === null || settings === null) return [];
  if (turn.isInterrupted || turn.stopping !== null) return unwind(state, turn, input);
  const expired = [...expiredApprovals(state, turn, input), ...expiredQuestions(state, turn, input), ...supersededPlan(state, turn, input)];
  if (expired.length > 0) return expired;
  const asked = unaskedQuestions(state, turn, input);
  if (asked.length > 0) return asked;
  // Usually with the turn's first step; later where the session's first checks came with the resuming of an open turn.
  if (state.head.baseline.attempt === 0 && runnableChecks(state.head, state.registers).length > 0) {
    return [{ type: "baseline.started", payload: { attempt: 1 } }];
  }
  if (turn.open.length > 0 || turn.sampling !== null) return overTime(turn, settings.limits, input.now);
  if (turn.saysDone && input.steering.length === 0) return conclude(state, turn, settings.limits, input);
  return nextStep(state, turn, settings.limits, input);
}

/**
 * Ends what never began; what is in flight is aborted by the driver and settles by itself. An intent that nobody carries out
 * is one whose earlier attempts were proven not to have happened, or (uncertain) one that was about to be asked again.
 */
function unwind(state: State, turn: Turn, input: AdvanceInput): SessionEvent[] {
  const ended = turn.isInterrupted ? "The turn was interrupted" : "The turn ended";
  const reasonOf = (callId: string): string =>
    state.registers.get("call", callId)?.plan.question === undefined
      ? `${ended} before this call ran. Nothing was done.`
      : `${ended} before anyone answered.`;
  const idle = turn.open.filter((call) => call.state !== "intended" || !input.isRunning(`call:${call.id}`));
  const events: SessionEvent[] = idle.map((call) =>
    call.isUncertain
      ? settled(call.id, inDoubt("the turn ended before its target answered", "the target itself"), null, input.newId)
      : settledWithout(call.id, "interrupted", reasonOf(call.id), input.newId),
  );
  events.push(...closedPlan(turn));
  if (turn.sampling !== null && !input.isRunning(`sample:${turn.sampling.id}`)) {
    events.push({ type: "sampling.abandoned", payload: { samplingId: turn.sampling.id, retracted: "", usage: null } });
  }
  return events;
}

function expiredApprovals(state: State, turn: Turn, { now, newId }: AdvanceInput): SessionEvent[] {
  const waiting = turn.open.flatMap((call) =>
    call.state === "waiting" ? [state.registers.get("call", call.id)?.approvalId ?? null].filter((id) => id !== null) : [],
  );
  return [...new Set(waiting)].flatMap((approvalId): SessionEvent[] => {
    const register = state.registers.get("approval", approvalId);
    // One that was allowed may wait for an answer now.
    if (register?.status !== "open" || register.approval.deadline === null || register.approval.deadline > now) return [];
    const text = (callId: string): string => `Nobody answered the approval for call ${callId} before its deadline. It was not run.`;
    return [
      { type: "approval.expired", payload: { approvalId, callId: register.approval.callId, why: "deadline" } },
      ...callsOf(register.approval).map((callId) => settledWithout(callId, "denied", text(callId), newId)),
    ];
  });
}

/** Active time runs out also while an effect is in flight. */
function overTime(turn: Turn, limits: Limits, now: number): SessionEvent[] {
  const activeMs = turn.activeMs + (isWaiting(turn) ? 0 : Math.max(0, now - turn.lastAt));
  if (activeMs < limits.activeMsPerTurn) return [];
  const reason = "the limit of active time a turn; raise it with --timeout and resume";
  return exhausted({ limit: "activeMsPerTurn", value: activeMs, max: limits.activeMsPerTurn, reason });
}

/** Ends the turn loudly. */
export function exhausted({ limit, value, max, reason }: Reached): SessionEvent[] {
  return [
    { type: "limit.reached", payload: { limit, value, max } },
    { type: "turn.stopping", payload: { outcome: "exhausted", reason, error: null } },
  ];
}

function nextStep(
  state: State,
  turn: Turn,
  limits: Limits,
  { newId, steering, costOf, worstInput, compactAt }: AdvanceInput,
): SessionEvent[] {
  if (state.head.compacting !== undefined) return [];
  const budget = { head: state.head, limits, costOf, worstInput: worstInput() };
  const reached = reachedLimit(turn, budget);
  if (reached !== null) return exhausted(reached);
  if (turn.empty > 1)
    return [{ type: "turn.stopping", payload: { outcome: "failed", reason: "the model gave an empty answer twice", error: null } }];
  const due = compactionDue(state.head, compactAt, state.registers.get("settings", "")?.compactAtSteps);
  if (due !== null) return [{ type: "compaction.started", payload: { trigger: due, tokens: requestTokens(state.head) } }];
  const events: SessionEvent[] = [];
  if (turn.empty > 0) events.push(notice(newId, "Your answer was empty. Go on, or say what you have done."));
  else if (turn.wasCut) events.push(notice(newId, "Your answer was cut at the output limit. Go on from where it stopped."));
  const loop = loopOf(turn.repeats ?? noRepeats, limits.sameCallSameResult);
  if (loop !== null && turn.repeats?.isTold !== true) {
    const advice = "Try another way; to wait for something, wait within a call (sleep, or read_output with wait_s).";
    events.push(notice(newId, `${describeLoop(loop)}. ${advice} At ${loop.max} the turn ends.`));
  }
  const { approvals } = state.registers.get("settings", "") ?? {};
  const advised = adviceOf(turn.ladder ?? noLadder, { canAsk: approvals === "ask", isEffectful: turn.isEffectful });
  if (advised !== null) {
    const { rung, callId, falls, text } = advised;
    events.push({ type: "recovery.advised", payload: { rung, callId, falls } });
    // A loop that was just named says as much.
    if (loop === null || turn.repeats?.isTold === true) events.push(notice(newId, text));
  }
  const near = nearLimits(turn, budget);
  if (near.length > 0) {
    events.push(...near.map(({ limit, value, max }): SessionEvent => ({ type: "limit.warned", payload: { limit, value, max } })));
    events.push(notice(newId, wordsOf(near)));
  }
  const changed = state.head.sandbox?.untold ?? [];
  if (changed.length > 0) events.push(notice(newId, ["The sandbox that commands run in was made again.", ...changed].join("\n")));
  events.push(...steering.map((message): SessionEvent => ({ type: "input.taken", payload: { message } })));
  events.push({ type: "sampling.intended", payload: { samplingId: newId("smp"), step: turn.step + 1 } });
  return events;
}

function wordsOf(near: readonly Near[]): string {
  const some = near.filter(({ value, max }) => value < max).map(({ text }) => text);
  const none = near.filter(({ value, max }) => value >= max).map(({ text }) => text);
  return [
    ...(some.length === 0
      ? []
      : [`Little is left of ${some.join(" and of ")}. Reaching a limit ends the turn: do what matters most, and say what remains.`]),
    ...(none.length === 0
      ? []
      : [`Nothing is left of ${none.join(" and of ")}. Another call would not run and end the turn: say what was done and what remains.`]),
  ].join("\n");
}

function conclude(state: State, turn: Turn, limits: Limits, input: AdvanceInput): SessionEvent[] {
  if (isPlanning(state)) return turn.proposed?.step === turn.step ? [] : [askAboutPlan(input)];
  if (hasOpenPlan(turn)) return [];
  if (hasOutputSchema(state)) {
    if (turn.output?.step !== turn.step) return [];
    // Once more; a second time its judging has stopped the turn.
    if (!turn.output.isValid) return nextStep(state, turn, limits, input);
  }
  const checks = runnableChecks(state.head, state.registers);
  if (!checks.some(({ isRequired }) => isRequired)) return [];
  if (turn.judged !== null) {
    const goesBack = turn.judged.verdict === "fail" && turn.judged.round < limits.checkRounds;
    return goesBack ? nextStep(state, turn, limits, input) : [];
  }
  const { checking } = turn;
  // What has been run is judged, however long it took; what is still to be run has no more time than the turn.
  const late = checking !== null && checks.every(({ id }) => checking.done.includes(id)) ? [] : overTime(turn, limits, input.now);
  if (late.length > 0) return late;
  return checking === null ? [{ type: "checks.started", payload: { round: turn.round, attempt: 1 } }] : [];
}

function notice(newId: (prefix: string) => string, text: string): SessionEvent {
  return { type: "notice.added", payload: { notice: { kind: "notice", id: newId("itm"), trust: "system", text } } };
}
