import { z } from "zod";
import { defineTool, failed, refuse } from "./define.ts";
import { decoded, flag } from "./input.ts";

/** A person has to read all of it. In UTF-16 units. */
const longestQuestion = 4_000;
const longestChoice = 400;
const mostChoices = 20;

const input = z.strictObject({
  question: z.string(),
  choices: decoded(z.array(z.string())).optional(),
  multiple: flag().optional(),
  free_text: flag().optional().describe("false: choices only"),
});
type Input = z.infer<typeof input>;

/** Puts a question to the person. The runtime asks it and settles the call with the answer. */
export const askUser = defineTool({
  name: "ask_user",
  description: "Ask the user what you can't find out; waits for the answer.",
  input,
  async plan(wanted) {
    const text = wanted.question.trim();
    const choices = (wanted.choices ?? []).map((choice) => choice.trim());
    const problem = problemOf(text, choices, wanted);
    if (problem !== null) return refuse(`The input of ask_user is invalid; nothing was asked.\n- ${problem}`);
    const allowsText = choices.length === 0 || wanted.free_text !== false;
    return { summary: `Ask: ${text}`, question: { text, choices, allowsText, isMultiple: wanted.multiple === true } };
  },
  run: async () => failed("This version of Holdfast can't ask anyone."),
});

function problemOf(text: string, choices: readonly string[], wanted: Input): string | null {
  if (text === "") return "question: empty";
  if (text.length > longestQuestion) return `question: more than ${longestQuestion} characters`;
  if (choices.length > mostChoices) return `choices: more than ${mostChoices}`;
  if (choices.some((choice) => choice === "" || choice.length > longestChoice)) return `choices: each has 1 to ${longestChoice} characters`;
  if (new Set(choices).size !== choices.length) return "choices: two are the same";
  if (wanted.multiple === true && choices.length === 0) return "multiple: there are no choices";
  return null;
}
