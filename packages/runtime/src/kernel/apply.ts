import type { EventPayload, SessionEvent } from "@holdfast/protocol";
import { approvalAnswered, approvalRequested, closeApproval, closeQuestion } from "./answered.ts";
import { callDecided, callSettled } from "./call-settled.ts";
import type { Applied } from "./change.ts";
import { amendCall, drop, grow, openCall, put, turn } from "./change.ts";
import { compactionFailed, countStep, windowCompacted, withoutPassing } from "./compacted.ts";
import { forked } from "./forked.ts";
import { itemErased } from "./item-erased.ts";
import { loopOf, repeatsAtStart } from "./repeats.ts";
import { samplingFailed, samplingSettled, spend } from "./sampling-settled.ts";
import type { Head, RegisterPut, Registers, Turn } from "./state.ts";
import { seenOfSandbox, withSandbox } from "./sandbox.ts";
import { brief } from "./stopped.ts";
import { isWaiting } from "./waiting.ts";

/** What an event does to the state: pure, total, and the only place where head and registers change. */
export function apply(before: Head, registers: Registers, event: SessionEvent, at: number): Applied {
  const head = before.sandbox === undefined ? before : withSandbox(before, seenOfSandbox(event, at));
  if (head.turn === null) return change(head, registers, event, at);
  const turn = event.type === "driver.attached" ? resume(head.turn, at) : { ...head.turn, ...passTime(head.turn, at) };
  return change({ ...head, turn }, registers, event, at);
}

/**
 * The time that nobody drove an open turn is nobody's active time. A clock that was set back takes the waiting for a retry
 * along: it is never longer than it was meant to be.
 */
function resume(turn: Turn, at: number): Turn {
  const back = Math.min(0, at - turn.lastAt);
  const shifted = (time: number | null): number | null => (time === null ? null : time + back);
  const sampling = turn.sampling && {
    ...turn.sampling,
    retryAt: shifted(turn.sampling.retryAt),
    firstFailureAt: shifted(turn.sampling.firstFailureAt),
  };
  return { ...turn, lastAt: at, sampling };
}

/** Time between two events of a turn counts as active unless all that was open waited for a person. */
function passTime(turn: Turn, at: number): Pick<Turn, "activeMs" | "lastAt"> {
  return { activeMs: turn.activeMs + (isWaiting(turn) ? 0 : Math.max(0, at - turn.lastAt)), lastAt: at };
}

function change(head: Head, registers: Registers, event: SessionEvent, at: number): Applied {
  switch (event.type) {
    case "session.created": {
      const { roots, cwd, title, settings, behaviour } = event.payload;
      return { head: { ...head, behaviour }, puts: [put("session", "", { roots, cwd, title }), put("settings", "", settings)] };
    }
    case "session.forked":
      return forked(head, registers, event.payload);
    case "session.changed":
      return {
        head: event.payload.settings.model === registers.get("settings", "")?.model ? head : unmeasured(head),
        puts: [put("settings", "", event.payload.settings)],
      };
    case "session.renamed":
      return { head, puts: renamed(registers, event.payload.title) };
    case "world.observed":
      return {
        head,
        puts: [
          ...event.payload.sections.flatMap((section) => [
            ...(registers.get("world", section.id) === null && head.turns === 0 ? [put("world", section.id, section)] : []),
            put("worldNow", section.id, section),
          ]),
          ...(event.payload.gone ?? []).map((id) => put("worldNow", id, null)),
        ],
      };
    case "checks.accepted":
      return {
        head: { ...head, baseline: { ...head.baseline, isRecorded: false } },
        puts: event.payload.checks.map((check) => put("check", check.id, check)),
      };
    case "turn.started":
      return {
        head: { ...grow(head, [event.payload.message]), turn: newTurn(event.payload, at), turns: head.turns + 1 },
        puts: [...drop(registers, "snapshot"), ...drop(registers, "denied"), ...drop(registers, "evidence")],
      };
    case "input.taken":
      return { head: turn(grow(head, [event.payload.message]), { saysDone: false, wasCut: false }), puts: [] };
    case "notice.added":
      return { head: noticed(grow(head, [event.payload.notice]), registers), puts: [] };
    case "sampling.intended":
      return {
        head: turn(head, {
          step: event.payload.step,
          sampling: { id: event.payload.samplingId, attempt: 1, retryAt: null, firstFailureAt: null },
          saysDone: false,
          wasCut: false,
          checking: null,
          judged: null,
        }),
        puts: [],
      };
    case "sampling.failed":
      return { head: samplingFailed(head, event.payload, at), puts: [] };
    case "sampling.settled":
      return {
        head: countStep(samplingSettled(head, event.payload), registers.get("settings", "")?.compactAtSteps),
        puts: event.payload.tools === undefined ? [] : [put("tools", "", { digest: event.payload.request?.tools ?? "" })],
      };
    case "sampling.abandoned":
      return { head: turn(spend(head, event.payload.usage, event.payload.cost ?? null), { sampling: null }), puts: [] };
    case "call.decided":
      return callDecided(head, event.payload);
    case "approval.requested":
      return approvalRequested(head, registers, event.payload);
    case "approval.answered":
      return approvalAnswered(head, registers, event.payload);
    case "approval.expired":
      return { head, puts: closeApproval(registers, event.payload.approvalId, "expired") };
    case "question.asked": {
      const { question } = event.payload;
      return {
        head:
          question.plan === undefined
            ? openCall(head, question.callId, { state: "waiting" })
            : turn(head, (t) => ({ proposed: { step: t.step, questionId: question.id, isOpen: true } })),
        puts: [
          put("question", question.id, { question, status: "open" }),
          ...amendCall(registers, question.callId, { questionId: question.id }),
        ],
      };
    }
    case "question.answered":
      return { head: closePlan(head, event.payload.questionId), puts: closeQuestion(registers, event.payload.questionId, "answered") };
    case "question.expired":
      return { head: closePlan(head, event.payload.questionId), puts: closeQuestion(registers, event.payload.questionId, "expired") };
    case "call.intended": {
      const { callId, attempt, replay, key, prepared, scope } = event.payload;
      const call = registers.get("call", callId);
      return {
        head: turn(openCall(head, callId, { state: "intended", attempt }), (t) => ({
          isEffectful: t.isEffectful || call?.plan.changesWorkspace === true,
        })),
        puts: amendCall(registers, callId, { intent: { replay, key, prepared, at }, scope }),
      };
    }
    case "call.recovered":
      return {
        head: openCall(head, event.payload.callId, {
          attempt: event.payload.attempt,
          ...(event.payload.finding === "unanswered" ? { isUncertain: true } : {}),
        }),
        puts: [],
      };
    case "call.settled":
      return callSettled(head, registers, event.payload);
    case "run.recorded":
      return { head, puts: [put("runs", "", [...(registers.get("runs", "") ?? []), event.payload.run])] };
    case "task.ended":
      return { head, puts: [put("task", event.payload.taskId, null)] };
    case "baseline.started":
      return { head: { ...head, baseline: { attempt: event.payload.attempt, isRecorded: false } }, puts: [] };
    case "baseline.recorded": {
      const { subject, manifest, tree } = event.payload;
      // A later baseline keeps the tree of the first look: that is none at the start of this turn.
      const isFirstLook = head.turn !== null && !head.turn.isEffectful && tree === undefined && registers.get("baseline", "") === null;
      return {
        head: turn({ ...head, baseline: { ...head.baseline, isRecorded: true } }, isFirstLook ? { hasSnapshot: true } : {}),
        puts: [put("baseline", "", event.payload), ...(isFirstLook ? [put("snapshot", "", { subject, manifest })] : [])],
      };
    }
    case "snapshot.recorded":
      return {
        head: turn(head, { hasSnapshot: true }),
        puts: [put("snapshot", "", { subject: event.payload.subject, manifest: event.payload.manifest })],
      };
    case "checks.started": {
      const { round, attempt } = event.payload;
      return { head: turn(head, { checking: { round, attempt, done: [], isReopened: false } }), puts: drop(registers, "evidence") };
    }
    case "check.completed": {
      const { evidence } = event.payload;
      return {
        head: turn(head, (t) => ({ checking: t.checking && { ...t.checking, done: [...t.checking.done, evidence.checkId] } })),
        puts: [put("evidence", evidence.checkId, evidence)],
      };
    }
    case "checks.reopened": {
      const { checkIds } = event.payload;
      const reopen = (t: Turn): Partial<Turn> => ({
        checking: t.checking && { ...t.checking, done: t.checking.done.filter((id) => !checkIds.includes(id)), isReopened: true },
      });
      return { head: turn(head, reopen), puts: [] };
    }
    case "round.judged":
      return {
        head: turn(head, { round: event.payload.round + 1, judged: { round: event.payload.round, verdict: event.payload.verdict } }),
        puts: [put("report", "", event.payload.report)],
      };
    case "output.judged": {
      const { step, problems } = event.payload;
      const isValid = problems.length === 0;
      return { head: turn(head, (t) => ({ output: { step, isValid, repairs: isValid ? 0 : (t.output?.repairs ?? 0) + 1 } })), puts: [] };
    }
    case "hook.ran": {
      const isRefused = event.payload.event === "before_done" && event.payload.result !== "passed";
      return { head: turn(head, (t) => (isRefused ? { saysDone: false, refusals: (t.refusals ?? 0) + 1 } : {})), puts: [] };
    }
    case "interrupt.received":
      return { head: turn(head, { isInterrupted: true }), puts: [] };
    case "turn.stopping":
      return { head: turn(head, { stopping: brief(event.payload) }), puts: [] };
    case "item.erased":
      return itemErased(head, registers, event.payload);
    case "erasure.finished":
      return { head, puts: [put("erasing", event.payload.itemId, null)] };
    case "compaction.started":
      return { head: { ...head, compacting: { trigger: event.payload.trigger } }, puts: [] };
    case "window.compacted":
      return { head: windowCompacted(head, event.payload), puts: [] };
    case "compaction.failed":
      return { head: compactionFailed(head, event.payload), puts: [] };
    case "turn.ended":
      return { head: { ...withoutPassing(head), turn: null }, puts: [put("report", "", null)] };
    case "recovery.advised":
      return { head: turn(head, (t) => (t.ladder === undefined ? {} : { ladder: { ...t.ladder, told: event.payload.rung } })), puts: [] };
    case "limit.warned":
      return { head: turn(head, (t) => ({ warned: [...(t.warned ?? []), event.payload.limit] })), puts: [] };
    case "sandbox.opened": {
      const { sandboxId: id, expiresAt } = event.payload;
      const fresh = { isChecked: true, isExpiring: false, isDirty: false, snapshot: null, subject: null };
      return { head: { ...head, sandbox: { id, expiresAt, seenAt: at, ...fresh } }, puts: [] };
    }
    case "sandbox.checked":
      return { head: withSandbox(head, { expiresAt: event.payload.expiresAt, isChecked: true, isExpiring: false, seenAt: at }), puts: [] };
    case "sandbox.expiring":
      return { head: withSandbox(head, { isExpiring: true }), puts: [] };
    case "sandbox.saved": {
      const { snapshot, subject } = event.payload;
      return { head: withSandbox(head, { snapshot, subject, isDirty: false, seenAt: at }), puts: [] };
    }
    case "sandbox.lost":
      return { head: withSandbox(head, { isChecked: false }), puts: [] };
    case "sandbox.reconstituted": {
      const { sandboxId: id, expiresAt, changed: untold } = event.payload;
      return {
        head: withSandbox(head, { id, expiresAt, seenAt: at, isChecked: true, isExpiring: false, isDirty: false, untold }),
        puts: [],
      };
    }
    case "driver.attached":
      return { head: withSandbox(head, { isChecked: false }), puts: [] };
    case "approval.refused":
    case "limit.reached":
    case "tip.signed":
    case "edits.undone":
      return { head, puts: [] };
  }
}

/** A notice that comes while a loop is near its end is the warning of it. */
function noticed(head: Head, registers: Registers): Head {
  const most = registers.get("settings", "")?.limits.sameCallSameResult ?? Infinity;
  return turn(head, ({ repeats }) =>
    repeats === undefined || loopOf(repeats, most) === null ? {} : { repeats: { ...repeats, isTold: true } },
  );
}

function closePlan(head: Head, questionId: string): Head {
  return turn(head, (t) => (t.proposed?.questionId === questionId ? { proposed: { ...t.proposed, isOpen: false } } : {}));
}

function newTurn({ turnId, repeatsBy }: EventPayload<"turn.started">, at: number): Turn {
  return {
    id: turnId,
    startedAt: at,
    step: 0,
    calls: 0,
    activeMs: 0,
    lastAt: at,
    sampling: null,
    open: [],
    saysDone: false,
    wasCut: false,
    empty: 0,
    round: 0,
    checking: null,
    judged: null,
    isInterrupted: false,
    stopping: null,
    isEffectful: false,
    hasSnapshot: false,
    repeats: repeatsAtStart(repeatsBy),
  };
}

/** Another model counts otherwise. */
function unmeasured(head: Head): Head {
  const { measured: _, ...rest } = head;
  return rest;
}

/** An erasure that the store has still to carry out leaves the new title alone. */
function renamed(registers: Registers, title: string): RegisterPut[] {
  const about = registers.get("session", "");
  return [
    ...(about === null ? [] : [put("session", "", { ...about, title })]),
    ...registers.entries("erasing").map(([itemId, erasing]) => put("erasing", itemId, { ...erasing, title: null })),
  ];
}
