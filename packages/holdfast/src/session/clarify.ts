import type { CheckDefinition } from "@holdfast/protocol";
import type { Said } from "../prompts/use.ts";

export const unclearQuestion =
  "What exactly: which behaviour is wrong or missing, and how will you see that it is done? (Enter leaves it to the model)";

/** Longer than this, it says something. */
const mostWords = 12;

const verbs =
  "fix repair mend solve debug improve refactor rewrite clean tidy polish optimise optimize finish complete continue do make get change update modify adjust handle help work works working build implement add";
const things =
  "it this that these those them thing things stuff code codebase project app application program repo repository everything something anything whole bug bugs issue issues problem problems error errors feature features rest way job task";
const small =
  "a an the my our your its me us you i we can could would should will please just now again up out on in with of and or to for is are be not so some more less all here there properly correctly somehow quickly better faster nicer cleaner good well right want need like let lets";
/** Words that say nothing of what is to be done, or to what. */
const empty: ReadonlySet<string> = new Set([verbs, things, small].flatMap((words) => words.split(" ")));

/**
 * Whether words for a new session leave open what is to be done: every one of them is among those above ("fix it", "please
 * make the code better"). A name, a number, a path, a word of another language: then it isn't, and nobody is asked. Pure.
 */
export function isUnclear(text: string): boolean {
  const words = text
    .toLowerCase()
    .replaceAll(/[’']/g, "")
    .split(/[\s.,;:!?]+/)
    .filter((word) => word !== "");
  return words.length > 0 && words.length <= mostWords && words.every((word) => empty.has(word));
}

/**
 * The goal of a new session with what the person answered. Where a check says what must hold at the end, nothing is asked.
 * `ask`: null or undefined where nobody answers.
 */
export async function clarified(
  said: Said,
  checks: readonly CheckDefinition[],
  ask: (question: string) => Promise<string | null | undefined>,
): Promise<Said> {
  const isFramed = checks.some(({ constraint }) => constraint === undefined);
  if (said.trust !== "user" || isFramed || !isUnclear(said.text)) return said;
  const answer = (await ask(unclearQuestion))?.trim() ?? "";
  return answer === "" ? said : { ...said, text: `${said.text}\n\nAsked what exactly, before any work: ${answer}` };
}
