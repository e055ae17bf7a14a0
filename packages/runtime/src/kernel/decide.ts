import { runnableChecks } from "./active-checks.ts";
import { intendable, wantsSnapshot } from "./conflicts.ts";
import type { SandboxNeed } from "./sandbox.ts";
import { sandboxNeed, sandboxWakeAt } from "./sandbox.ts";
import type { State, Turn } from "./state.ts";
import { hasOpenPlan } from "./waiting.ts";

/**
 * Something that leaves the process. `key` names it uniquely: the same key never runs twice at once. What concludes a turn
 * carries the step it follows: text that comes meanwhile leads to another step, and then its result counts for nothing.
 */
export type Effect =
  | { readonly type: "sample"; readonly key: string; readonly samplingId: string; readonly attempt: number }
  | { readonly type: "call"; readonly key: string; readonly callId: string; readonly attempt: number }
  | { readonly type: "baseline"; readonly key: string; readonly attempt: number }
  | { readonly type: "snapshot"; readonly key: string }
  | { readonly type: "check"; readonly key: string; readonly checkId: string; readonly step: number; readonly attempt: number }
  | { readonly type: "judge"; readonly key: string; readonly step: number; readonly round: number }
  | { readonly type: "sandbox"; readonly key: string; readonly need: SandboxNeed }
  | { readonly type: "output"; readonly key: string; readonly step: number }
  | { readonly type: "compact"; readonly key: string }
  | { readonly type: "end"; readonly key: string; readonly step: number };

export interface Plan {
  readonly effects: readonly Effect[];
  /** The next moment at which time alone changes the plan, ms. */
  readonly wakeAt: number | null;
  /** True where nothing goes on before someone outside acts. */
  readonly isWaiting: boolean;
  /** What isn't in flight yet waits until this was done about the sandbox. */
  readonly need: SandboxNeed | null;
}

const nothing: Plan = { effects: [], wakeAt: null, isWaiting: false, need: null };

/** Which effects should be in flight, and what is waited for. Pure. */
export function decide(state: State, now: number): Plan {
  const turn = state.head.turn;
  if (turn === null) return state.head.compacting === undefined ? nothing : { ...nothing, effects: [compaction(state)] };
  if (turn.isInterrupted || turn.stopping !== null) {
    return turn.open.length === 0 && turn.sampling === null ? { ...nothing, effects: [end(turn)] } : nothing;
  }
  const effects = wanted(state, turn, now);
  const deadlines = [...turn.open.flatMap((call) => deadlineOf(state, call.id)), ...deadlineOfPlan(state, turn)];
  const limits = state.registers.get("settings", "")?.limits;
  const isWaiting =
    effects.length === 0 &&
    turn.sampling === null &&
    (turn.open.some((call) => call.state === "waiting") || hasOpenPlan(turn)) &&
    intendable(state).length === 0;
  const need = sandboxNeed(state, effects, isWaiting || effects.some(({ type }) => type === "end"), now);
  if (need !== null) effects.push({ type: "sandbox", key: `sandbox:${need}:${state.head.sandbox?.id ?? ""}`, need });
  const times = [
    ...sandboxWakeAt(state),
    ...(effects.length === 0 || limits === undefined ? [] : [turn.lastAt + limits.activeMsPerTurn - turn.activeMs]),
    ...(turn.sampling?.retryAt != null && turn.sampling.retryAt > now ? [turn.sampling.retryAt] : []),
    ...deadlines,
  ];
  return {
    effects,
    wakeAt: times.length === 0 ? null : Math.min(...times),
    isWaiting: isWaiting && need === null,
    need,
  };
}

function compaction({ head }: State): Effect {
  return { type: "compact", key: `compact:${head.windowStart}:${head.compactFailedAt ?? 0}` };
}

function end(turn: Turn): Effect {
  return { type: "end", key: `end:${turn.id}:${turn.step}`, step: turn.step };
}

function wanted(state: State, turn: Turn, now: number): Effect[] {
  const { head, registers } = state;
  const effects: Effect[] = [];
  const checks = runnableChecks(head, registers);
  if (checks.length > 0 && !head.baseline.isRecorded && head.baseline.attempt > 0) {
    effects.push({ type: "baseline", key: `baseline:${head.baseline.attempt}`, attempt: head.baseline.attempt });
  }
  if (wantsSnapshot(state, turn) && (checks.length === 0 || head.baseline.isRecorded))
    effects.push({ type: "snapshot", key: `snapshot:${turn.id}` });
  const { sampling } = turn;
  if (sampling !== null && (sampling.retryAt === null || sampling.retryAt <= now)) {
    effects.push({ type: "sample", key: `sample:${sampling.id}:${sampling.attempt}`, samplingId: sampling.id, attempt: sampling.attempt });
  }
  for (const call of turn.open) {
    if (call.state === "intended")
      effects.push({ type: "call", key: `call:${call.id}:${call.attempt}`, callId: call.id, attempt: call.attempt });
  }
  if (sampling !== null || turn.open.length > 0) return effects;
  if (turn.saysDone)
    effects.push(...conclusion(state, turn, checks.some(({ isRequired }) => isRequired) ? checks.map(({ id }) => id) : []));
  // A turn that goes on although the model said that it was done, after a check that failed, has nothing to conclude any more.
  if (head.compacting !== undefined && (!turn.saysDone || effects.length === 0)) effects.push(compaction(state));
  return effects;
}

/** True while a turn ends in a plan. */
export function isPlanning({ registers }: State): boolean {
  return registers.get("settings", "")?.isPlanning === true;
}

/** True where the final answer is held to a JSON Schema. */
export function hasOutputSchema({ registers }: State): boolean {
  return (registers.get("settings", "")?.outputSchema ?? null) !== null;
}

/** After the model said it is done: its answer, the checks one by one, the judgement of the round, the end. */
function conclusion(state: State, turn: Turn, checks: readonly string[]): Effect[] {
  const { head, registers } = state;
  if (isPlanning(state)) {
    // Nothing was changed: what there is to judge is the plan, and a person has done so.
    return turn.proposed?.step === turn.step && !turn.proposed.isOpen ? [end(turn)] : [];
  }
  if (hasOpenPlan(turn)) return [];
  if (hasOutputSchema(state)) {
    if (turn.output?.step !== turn.step) return [{ type: "output", key: `output:${turn.id}:${turn.step}`, step: turn.step }];
    if (!turn.output.isValid) return [];
  }
  if (checks.length === 0) return [end(turn)];
  if (turn.judged !== null) {
    const rounds = registers.get("settings", "")?.limits.checkRounds ?? 0;
    return turn.judged.verdict === "fail" && turn.judged.round < rounds ? [] : [end(turn)];
  }
  if (turn.checking === null || !head.baseline.isRecorded) return [];
  const { round, attempt, done } = turn.checking;
  const { step } = turn;
  const next = checks.find((id) => !done.includes(id));
  return next === undefined
    ? [{ type: "judge", key: `judge:${turn.id}:${step}`, step, round }]
    : [{ type: "check", key: `check:${turn.id}:${step}:${attempt}:${next}`, checkId: next, step, attempt }];
}

function deadlineOfPlan({ registers }: State, { proposed }: Turn): number[] {
  const register = proposed?.isOpen === true ? registers.get("question", proposed.questionId) : null;
  return register?.question.deadline == null ? [] : [register.question.deadline];
}

function deadlineOf({ registers }: State, callId: string): number[] {
  const call = registers.get("call", callId);
  const approval = call?.approvalId == null ? null : registers.get("approval", call.approvalId);
  const question = call?.questionId === undefined ? null : registers.get("question", call.questionId);
  const open = [
    ...(approval?.status === "open" ? [approval.approval.deadline] : []),
    ...(question?.status === "open" ? [question.question.deadline] : []),
  ];
  return open.filter((deadline) => deadline !== null);
}
