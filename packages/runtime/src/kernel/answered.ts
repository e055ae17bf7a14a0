import type { Approval, EventPayload } from "@holdfast/protocol";
import type { Applied } from "./change.ts";
import { amendCall, openCall, put } from "./change.ts";
import type { Head, RegisterPut, Registers } from "./state.ts";

/** The calls that an approval is for: one, and those of its step that are the same. */
export function callsOf({
  callId,
  also = [],
}: Pick<Approval, "callId"> & { readonly also?: readonly string[] | undefined }): readonly string[] {
  return [callId, ...also];
}

export function approvalRequested(head: Head, registers: Registers, { approval }: EventPayload<"approval.requested">): Applied {
  const calls = callsOf(approval);
  return {
    head: calls.reduce((before, callId) => openCall(before, callId, { state: "waiting" }), head),
    puts: [
      put("approval", approval.id, { approval, status: "open" }),
      ...calls.flatMap((callId) => amendCall(registers, callId, { approvalId: approval.id })),
    ],
  };
}

export function approvalAnswered(head: Head, registers: Registers, payload: EventPayload<"approval.answered">): Applied {
  const { approvalId, callId, answer, grant } = payload;
  const isAllowed = answer === "allow";
  const calls = callsOf(registers.get("approval", approvalId)?.approval ?? { callId });
  return {
    head: isAllowed ? calls.reduce((before, id) => openCall(before, id, { state: "ready" }), head) : head,
    puts: [
      ...closeApproval(registers, approvalId, isAllowed ? "allowed" : "denied"),
      ...(grant === undefined ? [] : [put("grant", approvalId, { ...grant, callId })]),
    ],
  };
}

export function closeApproval(registers: Registers, id: string, status: string): RegisterPut[] {
  const register = registers.get("approval", id);
  return register === null ? [] : [put("approval", id, { ...register, status })];
}

export function closeQuestion(registers: Registers, id: string, status: "answered" | "expired"): RegisterPut[] {
  const register = registers.get("question", id);
  return register === null ? [] : [put("question", id, { ...register, status })];
}
