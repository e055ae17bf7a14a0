import type { Answer, Question, SessionEvent } from "@holdfast/protocol";
import { acceptPlan } from "../kernel/question.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";
import { changedWorld } from "./world.ts";

/**
 * Accepted, the session goes on in workspace mode, in the same turn; words change the plan; left at the plan, the turn ends.
 */
export async function answerPlan(driver: Driver, question: Question, answer: Answer, by: string): Promise<SessionEvent[]> {
  // The words are said in the message, and nowhere else: who erases it erases them.
  const said = { choices: answer.choices, text: "" };
  const answered: SessionEvent = { type: "question.answered", payload: { questionId: question.id, callId: "", answer: said, by } };
  const isAccepted = answer.choices.includes(acceptPlan);
  if (!isAccepted && answer.text === "") return [answered];
  const words = [...(isAccepted ? ["The plan is accepted: carry it out."] : []), ...(answer.text === "" ? [] : [answer.text])].join("\n");
  const taken: SessionEvent = {
    type: "input.taken",
    payload: { message: { kind: "user_message", id: newId(driver)("itm"), trust: "user", parts: [{ type: "text", text: words }] } },
  };
  if (!isAccepted) return [answered, taken];
  const settings = { ...settingsOf(driver), sandbox: "workspace-write" as const, isPlanning: false };
  return [answered, { type: "session.changed", payload: { settings } }, ...(await changedWorld(driver, settings)), taken];
}
