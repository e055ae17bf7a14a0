import type { Approval, Grant, Op, RefusedAnswer, SessionEvent } from "@holdfast/protocol";
import { callsOf } from "../kernel/answered.ts";
import { settledWithout } from "../kernel/settle.ts";
import { redact } from "../redact.ts";
import { requestApproval } from "./approval.ts";
import type { Driver } from "./driver.ts";
import { messageOf, newId } from "./driver.ts";
import { executedFiles } from "./executed-files.ts";
import { decisionOf, isUnchanged } from "./decision.ts";

type Answer = Extract<Op, { type: "approval.answer" }>;

/**
 * Takes an answer in, or tells why it doesn't count: the approval is another session's or nobody's, was answered before, its
 * deadline has passed, or what would run is not what was shown. In the last case it is asked again.
 */
export async function takeAnswer(driver: Driver, op: Answer): Promise<SessionEvent[]> {
  const { registers, ports } = driver;
  const refused = (code: RefusedAnswer, reason: string): SessionEvent[] => [
    { type: "approval.refused", payload: { approvalId: op.approvalId, by: op.by, code, reason } },
  ];
  const register = registers.get("approval", op.approvalId);
  if (register === null) return refused("approval_not_found", "no approval of this session has this ID");
  const { approval, status } = register;
  if (status === "expired") return refused("approval_expired", "its deadline has passed, its call has ended, or it was asked again");
  if (status !== "open") return refused("approval_closed", `it was answered before: ${status}`);
  if (op.digest !== undefined && op.digest !== approval.digest)
    return refused("approval_changed", "the answer is for something else than is shown");
  // Passed deadlines come first: the call is about to be refused, or let go.
  if (approval.deadline !== null && approval.deadline <= ports.clock.now()) return refused("approval_expired", "its deadline has passed");
  const call = registers.get("call", approval.callId);
  const isWaiting = driver.head.turn?.open.some((open) => open.id === approval.callId && open.state === "waiting") === true;
  if (call === null || !isWaiting) return refused("approval_closed", "its call has ended");
  if (op.answer === "deny") return denied(driver, approval, op.by, op.note);
  const calls = callsOf(approval);
  if (!(await isUnchanged(driver, approval))) {
    const again = await requestApproval(driver, calls, call.name, call.plan, call.inputDigest, {
      reason: `${approval.reason} (asked again: files that this command runs have changed)`,
      rule: approval.rule,
      scope: approval.scope,
      offers: approval.offers ?? [],
      ...(approval.risk === undefined ? {} : { risk: approval.risk }),
    });
    return [
      ...refused("approval_changed", "files that this command runs have changed; it is asked again"),
      { type: "approval.expired", payload: { approvalId: approval.id, callId: approval.callId, why: "asked_again" } },
      again,
    ];
  }
  if (op.grant === undefined) return [answered(approval, "allow", op.by, op.note)];
  const { for: wanted, offer: id } = op.grant;
  const offer = approval.offers?.find((one) => one.id === id);
  if (offer === undefined) return refused("approval_not_offered", `it offers no rule ${JSON.stringify(id)}`);
  if (wanted === "rule") {
    if (ports.rules === undefined) return refused("approval_not_offered", "no rule can be kept here");
    try {
      await ports.rules.keep(offer);
    } catch (error) {
      return refused("approval_not_offered", `the rule could not be kept: ${redact(messageOf(error), ports.secrets.values())}`);
    }
  }
  const files = wanted === "rule" ? [] : (await executedFiles(driver, call.plan)).files;
  return [answered(approval, "allow", op.by, op.note, { for: wanted, offer, files })];
}

function answered(approval: Approval, answer: "allow" | "deny", by: string, note: string, grant?: Grant): SessionEvent {
  const { id: approvalId, callId, also } = approval;
  return {
    type: "approval.answered",
    payload: { approvalId, callId, ...(also === undefined ? {} : { also }), answer, by, note, ...(grant === undefined ? {} : { grant }) },
  };
}

function denied(driver: Driver, approval: Approval, by: string, said: string): SessionEvent[] {
  const note = said === "" ? "" : ` They say: ${redact(said, driver.ports.secrets.values())}`;
  return [
    answered(approval, "deny", by, said),
    ...callsOf(approval).map((callId) =>
      settledWithout(callId, "denied", `Call ${callId} was refused by a person.${note} It was not run.`, newId(driver)),
    ),
  ];
}

/** The rules that a person just allowed answer what else waits and is covered by them. */
export async function answerCovered(driver: Driver): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (const approval of openApprovals(driver)) {
    const call = driver.registers.get("call", approval.callId);
    if (call === null) continue;
    const { decision, rule, scope } = await decisionOf(driver, approval.callId, call.name, call.plan, call.inputDigest);
    const isSame = JSON.stringify(scope) === JSON.stringify(approval.scope);
    if (decision === "allow" && isSame && (await isUnchanged(driver, approval)))
      events.push(answered(approval, "allow", `the rule ${rule.id}`, ""));
  }
  return events;
}

/** What becomes of approvals that nobody answered in time, where that is to allow them: if still the same would run. */
export async function answerAtDeadline(driver: Driver, now: number): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (const approval of openApprovals(driver)) {
    if (approval.atDeadline !== "allow" || approval.deadline === null || approval.deadline > now) continue;
    if (await isUnchanged(driver, approval)) events.push(answered(approval, "allow", "its deadline", ""));
  }
  return events;
}

function openApprovals({ head: { turn }, registers }: Driver): Approval[] {
  if (turn === null || turn.isInterrupted || turn.stopping !== null) return [];
  const ids = turn.open.flatMap(({ id, state }) => (state === "waiting" ? [registers.get("call", id)?.approvalId ?? ""] : []));
  return [...new Set(ids)].flatMap((id) => {
    const register = registers.get("approval", id);
    return register?.status === "open" ? [register.approval] : [];
  });
}
