import type { CallPlan, SessionEvent } from "@holdfast/protocol";
import { settledWithout } from "../kernel/settle.ts";
import type { PolicyDecision } from "../ports/index.ts";
import { requestApproval } from "./approval.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";
import { askHooks } from "./hooks.ts";

interface Reviewed {
  readonly name: string;
  readonly plan: CallPlan;
  readonly inputDigest: string;
  readonly verdict: PolicyDecision;
}

/** The reviewed calls of a step, those that are the same together. */
export type Reviews = Map<string, Reviewed & { readonly calls: string[] }>;

/** The same in tool, input, and what the policy says to it. */
export function addReview(reviews: Reviews, callId: string, reviewed: Reviewed): void {
  const { name, inputDigest, verdict } = reviewed;
  const key = JSON.stringify([name, inputDigest, verdict.rule, verdict.reason, verdict.scope]);
  const same = reviews.get(key);
  if (same === undefined) reviews.set(key, { ...reviewed, calls: [callId] });
  else same.calls.push(callId);
}

/** Reviewed calls under each approval mode: ask a person, refuse, or allow with exactly the scope shown. */
export async function askPerson(
  driver: Driver,
  { calls, name, plan, inputDigest, verdict }: Reviewed & { readonly calls: readonly string[] },
  signal: AbortSignal,
): Promise<SessionEvent[]> {
  const request = await requestApproval(driver, calls, name, plan, inputDigest, verdict);
  const { id: approvalId, callId, also } = request.payload.approval;
  const answered = (answer: "allow" | "deny", by: string, note: string): SessionEvent => ({
    type: "approval.answered",
    payload: { approvalId, callId, ...(also === undefined ? {} : { also }), answer, by, note },
  });
  const refuse = (why: string): SessionEvent[] =>
    calls.map((id) => settledWithout(id, "denied", `Call ${id} was refused: ${why}`, newId(driver)));
  switch (settingsOf(driver).approvals) {
    case "ask": {
      const asked = await askHooks(driver, {
        event: "approval_asked",
        callId,
        tool: name,
        signal,
        data: () => ({ tool_name: name, tool_input: plan.input, approval_id: approvalId, reason: verdict.reason }),
      });
      if (asked.refusal === null) return [request, ...asked.ran];
      return [request, ...asked.ran, answered("deny", "a hook", asked.refusal), ...refuse(asked.refusal)];
    }
    case "allow":
      return [request, answered("allow", "--approvals allow", "")];
    case "deny":
      return [
        request,
        answered("deny", "--approvals deny", "nobody is here to be asked"),
        ...refuse(`${verdict.forModel} It needs a person's approval and nobody is here to be asked.`),
      ];
  }
}
