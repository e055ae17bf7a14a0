import type { EventPayload } from "@holdfast/protocol";
import { closeApproval, closeQuestion } from "./answered.ts";
import type { Applied } from "./change.ts";
import { grow, openCall, put, turn } from "./change.ts";
import { doubtKey } from "./doubt.ts";
import { climbed, noLadder } from "./ladder.ts";
import { repeated, repeatsAtStart } from "./repeats.ts";
import type { Head, RegisterPut, Registers, Turn } from "./state.ts";
import { brief } from "./stopped.ts";

export function callDecided(head: Head, payload: EventPayload<"call.decided">): Applied {
  const { callId, plan, inputDigest, rule, reason, scope, note } = payload;
  const name = payload.tool ?? head.turn?.open.find((call) => call.id === callId)?.name ?? "";
  return {
    head: payload.tool === undefined ? head : openCall(head, callId, { name }),
    puts: [
      put("call", callId, {
        name,
        plan,
        inputDigest,
        rule,
        reason,
        scope,
        approvalId: null,
        intent: null,
        ...(note === undefined ? {} : { note }),
      }),
    ],
  };
}

export function callSettled(head: Head, registers: Registers, payload: EventPayload<"call.settled">): Applied {
  const { callId, outcome, result } = payload;
  const call = registers.get("call", callId);
  const name = head.turn?.open.find((entry) => entry.id === callId)?.name ?? "";
  const doubt = call === null ? null : doubtKey(call.name, call.plan.identity ?? call.inputDigest);
  // Of a task that goes on: the world may say something new next time.
  const runsOn = outcome.output !== undefined && outcome.endedTask === undefined && registers.get("task", outcome.output) !== null;
  return {
    head: turn(grow(head, [result]), (t) => ({
      open: t.open.filter((entry) => entry.id !== callId),
      ladder: climbed(t.ladder ?? noLadder, callId, name, call?.plan ?? null, outcome, payload.judgement),
      repeats: repeated(t.repeats ?? repeatsAtStart(undefined), name, call?.plan ?? null, outcome, { runsOn, isLast: t.open.length === 1 }),
      stopping: outcome.gaveUp === undefined ? t.stopping : gaveUp(registers, outcome.gaveUp),
    })),
    puts: [
      put("call", callId, null),
      ...(outcome.status === "denied" ? [put("denied", callId, { name })] : []),
      ...(outcome.status === "in_doubt" && doubt !== null ? [put("doubt", doubt, { callId })] : []),
      ...(outcome.seen ?? []).map(({ path, digest: seen }) => put("seen", path, { digest: seen })),
      ...(outcome.output === undefined || outcome.whole === undefined
        ? []
        : [put("output", outcome.output, { callId, blob: outcome.whole })]),
      ...(outcome.task === undefined ? [] : [put("task", outcome.task.id, outcome.task)]),
      ...(outcome.inspected === undefined ? [] : [put("inspected", callId, outcome.inspected)]),
      ...(outcome.shown === undefined ? [] : shownOf(registers, outcome.shown)),
      ...(outcome.endedTask === undefined ? [] : [put("task", outcome.endedTask, null)]),
      ...(call?.approvalId && registers.get("approval", call.approvalId)?.status === "open"
        ? closeApproval(registers, call.approvalId, "expired")
        : []),
      ...(call?.questionId !== undefined && registers.get("question", call.questionId)?.status === "open"
        ? closeQuestion(registers, call.questionId, "expired")
        : []),
      ...(outcome.steps === undefined ? [] : [put("plan", "", { callId, steps: outcome.steps })]),
    ],
  };
}

/** A task that has ended meanwhile stays so. */
function shownOf(registers: Registers, { taskId, bytes }: { readonly taskId: string; readonly bytes: number }): RegisterPut[] {
  const task = registers.get("task", taskId);
  return task === null ? [] : [put("task", taskId, { ...task, shown: bytes })];
}

/** VERIFIED.md: giving up because of a refused call is `blocked`; any other giving up is `failed`. */
function gaveUp(registers: Registers, { reason, blockedBy }: { reason: string; blockedBy: string | null }): Turn["stopping"] {
  const isBlocked = blockedBy !== null && registers.get("denied", blockedBy) !== null;
  return brief({ outcome: isBlocked ? "blocked" : "failed", reason, error: null });
}
