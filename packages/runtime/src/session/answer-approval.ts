import type { Approval, Op } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { parseOp } from "../drive/op.ts";
import type { RegisterKinds } from "../kernel/state.ts";
import type { InboxRow, Ports } from "../ports/index.ts";
import { postOn } from "./post.ts";
import { loadState } from "./stored.ts";

type AnswerOp = Extract<Op, { type: "approval.answer" }>;

/**
 * Answers an approval of a session, whoever drives it now or later. It counts for what the approval shows at this moment.
 * Throws `approval_not_found`, `approval_elsewhere`, `approval_closed`, `approval_expired`, `approval_changed` or
 * `approval_not_offered`; what the session itself does in between, the driver refuses with the same codes (`approval.refused`).
 */
export async function answerApproval(
  ports: Pick<Ports, "log" | "ids" | "clock" | "wakeups">,
  session: string,
  answer: Omit<AnswerOp, "type">,
): Promise<Approval> {
  const { registers } = await postOn(ports, session, async (state) => {
    const register = state.registers.get("approval", answer.approvalId);
    if (register === null) throw await notHere(ports, session, answer.approvalId);
    return opOn(register, state.inbox, answer, session, ports.clock.now());
  });
  return registers.get("approval", answer.approvalId)!.approval;
}

/** The answer as it is posted, where the approval is open to it. */
function opOn(
  { approval, status }: RegisterKinds["approval"],
  inbox: readonly InboxRow[],
  answer: Omit<AnswerOp, "type">,
  session: string,
  now: number,
): AnswerOp {
  const id = answer.approvalId;
  const goOn = `the session takes it in when it goes on: holdfast exec resume ${session}`;
  if (status !== "open") throw closed(id, status);
  const before = answersIn(inbox, [approval]).get(id);
  if (before !== undefined) throw new HoldfastError("approval_closed", `${id} was answered before: ${before}`, { hint: goOn });
  if (approval.deadline !== null && approval.deadline <= now)
    throw new HoldfastError("approval_expired", `${id} can't be answered any more: its deadline has passed`);
  if (answer.digest !== undefined && answer.digest !== approval.digest)
    throw new HoldfastError("approval_changed", `${id} shows something else now; the answer doesn't count`);
  const { grant } = answer;
  if (grant !== undefined && (answer.answer !== "allow" || approval.offers?.some((offer) => offer.id === grant.offer) !== true))
    throw new HoldfastError("approval_not_offered", `${id} offers no rule ${grant.offer} to allow`);
  return { type: "approval.answer", ...answer, digest: approval.digest };
}

/** Sessions that are looked through for an approval of which nothing but its ID is known. */
const mostLooked = 200;

/**
 * Why an approval that isn't open can't be answered: the error that `answerApproval` has for it. Null where no approval has
 * this ID, in the session or, where none is named, in those that changed last.
 */
export async function closedApproval({ log }: Pick<Ports, "log">, id: string, session: string | null): Promise<HoldfastError | null> {
  const sessions = session === null ? (await log.list({ limit: mostLooked })).map((row) => row.session) : [session];
  for (const one of sessions) {
    // One that can't be read says nothing of this approval.
    const register = (await loadState(log, one).catch(() => null))?.registers.get("approval", id) ?? null;
    if (register !== null) return register.status === "open" ? null : closed(id, register.status);
  }
  return null;
}

function closed(id: string, status: "allowed" | "denied" | "expired"): HoldfastError {
  return status === "expired"
    ? new HoldfastError(
        "approval_expired",
        `${id} can't be answered any more: its deadline has passed, its call has ended, or it was asked again`,
      )
    : new HoldfastError("approval_closed", `${id} was answered before: it was ${status}`);
}

/** Answers, by approval, that were given and that the session takes in when it goes on. */
export async function postedAnswers(
  { log }: Pick<Ports, "log">,
  session: string,
  approvals: readonly Approval[],
): Promise<ReadonlyMap<string, AnswerOp["answer"]>> {
  return answersIn(await log.inbox(session), approvals);
}

function answersIn(inbox: readonly InboxRow[], approvals: readonly Approval[]): ReadonlyMap<string, AnswerOp["answer"]> {
  const answers = new Map<string, AnswerOp["answer"]>();
  for (const row of inbox) {
    const op = parseOp(row);
    if (op.type !== "approval.answer" || answers.has(op.approvalId)) continue;
    const approval = approvals.find(({ id }) => id === op.approvalId);
    if (approval !== undefined && (op.digest ?? approval.digest) === approval.digest) answers.set(approval.id, op.answer);
  }
  return answers;
}

async function notHere({ log }: Pick<Ports, "log">, session: string, id: string): Promise<HoldfastError> {
  for (const status of ["waiting", "running"] as const) {
    for (const row of await log.list({ status })) {
      const { registers } = await loadState(log, row.session);
      if (registers.get("approval", id) !== null)
        return new HoldfastError("approval_elsewhere", `${id} is an approval of session ${row.session}, not of ${session}`);
    }
  }
  return new HoldfastError("approval_not_found", `session ${session} has no approval ${id}`);
}
