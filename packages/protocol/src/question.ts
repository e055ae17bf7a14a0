import { z } from "zod";

/** What a call asks the person. It is no permission: the answer is words, and settles the call. */
export const asking = z.object({
  text: z.string(),
  /** Answers to choose from, each once; empty: none are offered. */
  choices: z.array(z.string()),
  allowsText: z.boolean(),
  /** Whether more than one choice can be taken. */
  isMultiple: z.boolean(),
});
export type Asking = z.infer<typeof asking>;

export const question = asking.extend({
  id: z.string(),
  /** The call that asks; empty where the runtime asks whether a plan is accepted. */
  callId: z.string(),
  deadline: z.number().nullable(),
  /** The message that is the plan: its first choice accepts it, words say what should be different. */
  plan: z.string().optional(),
});
export type Question = z.infer<typeof question>;

/** Longest free text of an answer, in UTF-16 units. */
export const longestAnswer = 20_000;

/** `choices` are words of the question; `text` is what the person wrote beside or instead of them. */
export const answer = z.object({ choices: z.array(z.string()).max(100), text: z.string().max(longestAnswer) });
export type Answer = z.infer<typeof answer>;

/** Why this is no answer to the question; null where it is one. Pure. */
export function answerProblem({ choices, allowsText, isMultiple }: Asking, given: Answer): string | null {
  const text = given.text.trim();
  if (given.choices.length === 0 && text === "") return "the answer is empty";
  if (text !== "" && !allowsText) return "only the choices can be taken";
  if (text.length > longestAnswer) return `the answer has more than ${longestAnswer} characters`;
  if (new Set(given.choices).size !== given.choices.length) return "a choice is taken twice";
  if (given.choices.some((choice) => !choices.includes(choice))) return "this is not one of the choices";
  if (given.choices.length > 1 && !isMultiple) return "only one choice can be taken";
  return null;
}
