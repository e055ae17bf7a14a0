import type { Question, SessionEvent } from "@holdfast/protocol";
import { settledWithout } from "./settle.ts";
import type { State, Turn } from "./state.ts";

/** How long an approval or a question may stay unanswered before the call counts as refused. */
export const answerWithinMs = 7 * 24 * 60 * 60 * 1000;

interface Now {
  readonly now: number;
  readonly newId: (prefix: string) => string;
}

/** Questions of calls that may go on: each is asked once, and the call waits. */
export function unaskedQuestions(state: State, turn: Turn, { now, newId }: Now): SessionEvent[] {
  return turn.open.flatMap((call): SessionEvent[] => {
    const asking = call.state === "ready" ? state.registers.get("call", call.id)?.plan.question : undefined;
    if (asking === undefined) return [];
    const question = { ...asking, id: newId("qst"), callId: call.id, deadline: now + answerWithinMs };
    return [{ type: "question.asked", payload: { question } }];
  });
}

export function expiredQuestions(state: State, turn: Turn, { now, newId }: Now): SessionEvent[] {
  return turn.open.flatMap((call): SessionEvent[] => {
    const questionId = call.state === "waiting" ? state.registers.get("call", call.id)?.questionId : undefined;
    const register = questionId === undefined ? null : state.registers.get("question", questionId);
    if (register === null || register.question.deadline === null || register.question.deadline > now) return [];
    return [
      { type: "question.expired", payload: { questionId: register.question.id, callId: call.id } },
      settledWithout(call.id, "denied", `Nobody answered call ${call.id} before its deadline.`, newId),
    ];
  });
}

/** Words that come while a plan waits are about it: it is worked on, and asked about anew. So does its deadline end the question. */
export function supersededPlan(
  state: State,
  turn: Turn,
  { now, steering }: Pick<Now, "now"> & { readonly steering: readonly unknown[] },
): SessionEvent[] {
  const register = turn.proposed?.isOpen === true ? state.registers.get("question", turn.proposed.questionId) : null;
  if (register === null) return [];
  const isPast = register.question.deadline !== null && register.question.deadline <= now;
  return isPast || steering.length > 0 ? closedPlan(turn) : [];
}

export function closedPlan({ proposed }: Turn): SessionEvent[] {
  return proposed?.isOpen === true ? [{ type: "question.expired", payload: { questionId: proposed.questionId, callId: "" } }] : [];
}

/** The first choice of a plan's question. */
export const acceptPlan = "Accept the plan, and carry it out";

/** In a session that only plans, the answer that would end the turn is the plan: a person is asked about it. */
export function askAboutPlan({
  now,
  newId,
  lastAnswer,
}: Now & { readonly lastAnswer: () => { readonly id: string; readonly text: string } | null }): SessionEvent {
  const message = lastAnswer();
  const question: Question = {
    id: newId("qst"),
    callId: "",
    plan: message?.id ?? "",
    text: message?.text ?? "",
    choices: [acceptPlan, "Leave it at the plan"],
    allowsText: true,
    isMultiple: false,
    deadline: now + answerWithinMs,
  };
  return { type: "question.asked", payload: { question } };
}
