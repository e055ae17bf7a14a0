import type { Approval, CallPlan, SessionEvent } from "@holdfast/protocol";
import { sha256 } from "../hash.ts";
import { answerWithinMs } from "../kernel/question.ts";
import type { PolicyDecision } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";
import { executedFiles } from "./executed-files.ts";

export type ApprovalRequested = Extract<SessionEvent, { type: "approval.requested" }>;

/** `calls`: the call, and those of its step that are the same. */
export async function requestApproval(
  driver: Driver,
  calls: readonly string[],
  tool: string,
  plan: CallPlan,
  inputDigest: string,
  verdict: Pick<PolicyDecision, "reason" | "rule" | "scope" | "risk" | "offers">,
): Promise<ApprovalRequested> {
  const [callId = "", ...also] = calls;
  const { approvalMs = answerWithinMs, approvalAtDeadline } = settingsOf(driver);
  const approval: Approval = {
    id: newId(driver)("apr"),
    callId,
    ...(also.length === 0 ? {} : { also }),
    digest: await approvalDigest(driver, calls, plan, inputDigest),
    shown: plan.command ?? `${tool} ${JSON.stringify(plan.input)}${plan.typed === undefined ? "" : `\nto ${plan.typed.command}`}`,
    reason: verdict.reason,
    rule: verdict.rule,
    scope: verdict.scope,
    ...(verdict.risk === undefined ? {} : { risk: verdict.risk }),
    deadline: driver.ports.clock.now() + approvalMs,
    ...(approvalAtDeadline === undefined ? {} : { atDeadline: approvalAtDeadline }),
    ...(verdict.offers === undefined || verdict.offers.length === 0
      ? {}
      : { offers: verdict.offers.map(({ rule, text }, index) => ({ id: String(index + 1), rule, text })) }),
  };
  return { type: "approval.requested", payload: { approval } };
}

/** What an approval is bound to: session, calls, exact input, and the workspace files that the command executes. */
export async function approvalDigest(driver: Driver, calls: readonly string[], plan: CallPlan, inputDigest: string): Promise<string> {
  const { files: programs } = await executedFiles(driver, plan);
  return sha256(JSON.stringify([driver.session, calls.length === 1 ? calls[0] : calls, inputDigest, programs]));
}
