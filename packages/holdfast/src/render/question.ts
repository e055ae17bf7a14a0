import type { PlanStep, Question } from "@holdfast/protocol";
import { wrap } from "./layout.ts";
import { sanitize, sanitizeLine } from "./sanitize.ts";
import type { Style } from "./style.ts";

export interface QuestionOptions {
  readonly style: Style;
  readonly width: number;
  /** Whether the person simply types the answer, or needs a command for it. */
  readonly isTyped: boolean;
}

/** An open question with its choices by number; every line of what the model wrote is marked as its own. */
export function renderQuestion(question: Question, { style, width, isTyped }: QuestionOptions): string[] {
  const { id, text, choices, deadline } = question;
  const until = deadline === null ? "" : ` (until ${new Date(deadline).toISOString()})`;
  return [
    "",
    style.care(`question ${id}`) + until,
    ...sanitize(text)
      .split("\n")
      .flatMap((line) => wrap(line, width - 4).map((part, index) => `  ${index === 0 ? "│" : "┆"} ${part}`)),
    ...choices.flatMap((choice, index) => {
      const number = `  ${index + 1}  `;
      return wrap(sanitizeLine(choice), width - number.length).map((part, at) => (at === 0 ? number : " ".repeat(number.length)) + part);
    }),
    ...(isTyped ? [style.dim(howTyped(question))] : howAnswered(question)),
  ];
}

/** What a person at the prompt can type. */
export function howTyped({ choices, allowsText, isMultiple }: Question): string {
  if (choices.length === 0) return "type the answer";
  const numbers = isMultiple ? `numbers from 1 to ${choices.length}, with blanks between` : `a number from 1 to ${choices.length}`;
  return `type ${numbers}${allowsText ? ", or an answer of your own" : ""}`;
}

function howAnswered(question: Question): string[] {
  const start = `holdfast answer ${question.id}`;
  const ways = [
    ...(question.choices.length === 0 ? [] : [`${start} --choice N${question.isMultiple ? "   (repeatable)" : ""}`]),
    ...(question.allowsText ? [`${start} "…"`] : []),
  ];
  return ways.map((way, index) => `${index === 0 ? "answer with:" : "         or:"} ${way}`);
}

/** A plan, a step a line. */
export function renderPlan(steps: readonly PlanStep[], width: number): string[] {
  const mark = { completed: "[x]", in_progress: "[>]", pending: "[ ]" } as const;
  return steps.flatMap((step) =>
    wrap(sanitizeLine(step.text), width - 4).map((line, index) => `${index === 0 ? mark[step.status] : "   "} ${line}`),
  );
}
