import type { Answer, Question } from "@holdfast/protocol";
import { answerProblem } from "@holdfast/protocol/question";

export type ReadAnswer = { readonly type: "answer"; readonly answer: Answer } | { readonly type: "problem"; readonly text: string };

/** An answer in the question's words, from choices by number (from 1 on) and free text. Pure. */
export function answerFrom(question: Question, numbers: readonly number[], text: string): ReadAnswer {
  const count = question.choices.length;
  const wrong = numbers.find((number) => !Number.isInteger(number) || number < 1 || number > count);
  if (wrong !== undefined) {
    return { type: "problem", text: count === 0 ? "the question has no choices" : `there are choices 1 to ${count}, and no ${wrong}` };
  }
  const answer = { choices: numbers.map((number) => question.choices[number - 1] ?? ""), text: text.trim() };
  const problem = answerProblem(question, answer);
  return problem === null ? { type: "answer", answer } : { type: "problem", text: problem };
}

/** What a person typed under a question: numbers are choices, as are a choice's own words; else it is an answer of their own. Pure. */
export function answerTyped(question: Question, line: string): ReadAnswer {
  const typed = line.trim();
  const named = question.choices.findIndex((choice) => choice.toLowerCase() === typed.toLowerCase());
  if (named !== -1) return answerFrom(question, [named + 1], "");
  const isNumbers = question.choices.length > 0 && /^\d+(?:[\s,]+\d+)*$/.test(typed);
  return isNumbers ? answerFrom(question, typed.split(/[\s,]+/).map(Number), "") : answerFrom(question, [], typed);
}
