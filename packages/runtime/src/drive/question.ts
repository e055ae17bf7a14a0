import type { Op, SessionEvent } from "@holdfast/protocol";
import { answerProblem } from "@holdfast/protocol/question";
import { settled } from "../kernel/settle.ts";
import { redact } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { newId } from "./driver.ts";
import { answerPlan } from "./plan.ts";

/** A late, doubled or unfitting answer changes nothing; the first that fits settles the call, with the person's own words. */
export async function answerQuestion(driver: Driver, op: Extract<Op, { type: "question.answer" }>): Promise<SessionEvent[]> {
  const register = driver.registers.get("question", op.questionId);
  const { turn } = driver.head;
  if (register === null || register.status !== "open" || turn === null) return [];
  const { question } = register;
  // What ends the turn, and a passed deadline, come first: the call is about to be settled without an answer.
  if (turn.isInterrupted || turn.stopping !== null) return [];
  if (question.deadline !== null && question.deadline <= driver.ports.clock.now()) return [];
  if (answerProblem(question, op.answer) !== null) return [];
  const text = redact(op.answer.text.trim(), driver.ports.secrets.values());
  const answer = { choices: op.answer.choices, text };
  if (question.plan !== undefined) return answerPlan(driver, question, answer, op.by);
  return [
    { type: "question.answered", payload: { questionId: question.id, callId: question.callId, answer, by: op.by } },
    settled(
      question.callId,
      { status: "completed", text: [...answer.choices, text].filter((part) => part !== "").join("\n"), trust: "user" },
      null,
      newId(driver),
    ),
  ];
}
