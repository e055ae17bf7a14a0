import type { Op } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { answerProblem } from "@holdfast/protocol/question";
import { parseOp } from "../drive/op.ts";
import type { Ports } from "../ports/index.ts";
import { postOn } from "./post.ts";

type AnswerOp = Extract<Op, { type: "question.answer" }>;

/**
 * Answers a question of a session, whoever drives it now or later. The first answer counts, and whoever comes second is told.
 * Throws `question_not_found`, `question_closed`, and `usage` for an answer that the question doesn't take.
 */
export async function answerQuestion(
  ports: Pick<Ports, "log" | "ids" | "clock" | "wakeups"> & Partial<Pick<Ports, "secrets">>,
  session: string,
  answer: Omit<AnswerOp, "type">,
): Promise<void> {
  const id = answer.questionId;
  await postOn(ports, session, ({ registers, inbox }) => {
    const register = registers.get("question", id);
    if (register === null) throw new HoldfastError("question_not_found", `session ${session} has no question ${id}`);
    const { question, status } = register;
    if (status === "expired")
      throw new HoldfastError("question_closed", `${id} can't be answered any more: its deadline has passed, or its turn has ended`);
    if (status !== "open") throw new HoldfastError("question_closed", `${id} was answered before`);
    const problem = answerProblem(question, answer.answer);
    if (problem !== null) throw new HoldfastError("usage", `${id}: ${problem}`);
    const isAnswered = inbox.map(parseOp).some((op) => op.type === "question.answer" && op.questionId === id && fits(op));
    if (isAnswered) {
      throw new HoldfastError("question_closed", `${id} was answered before`, {
        hint: `the session takes that answer when it goes on: holdfast exec resume ${session}`,
      });
    }
    return { type: "question.answer", ...answer };

    function fits(op: AnswerOp): boolean {
      return answerProblem(question, op.answer) === null;
    }
  });
}
