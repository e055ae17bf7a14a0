import { isHoldfastError } from "@holdfast/protocol/error";
import type { Approval, Question } from "@holdfast/protocol";
import { renderApproval } from "../render/ending.ts";
import { howTyped, renderQuestion } from "../render/question.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import type { Style } from "../render/style.ts";
import type { OpenHost } from "../runtime-api.ts";
import { answerTyped } from "../session/read-answer.ts";
import { approvalPrompt, readApprovalAnswer } from "./read-approval.ts";
import type { Screen } from "./screen.ts";
import { nextAnswer } from "./screen.ts";

/** What waits for the person: whether a call may run, or an answer. */
export type Asked = { readonly type: "approval"; readonly approval: Approval } | { readonly type: "question"; readonly question: Question };

export interface Asking {
  readonly host: Pick<OpenHost, "runtime" | "ports">;
  readonly session: string;
  /** Who answers, for the record. */
  readonly by: string;
  readonly screen: Screen;
  readonly style: Style;
  readonly width: () => number;
  /** Ends the waiting for a key. */
  readonly signal: () => AbortSignal;
}

const keepPrompt = "keep this rule? y/n › ";
const answerPrompt = "answer › ";

export function idOf(asked: Asked): string {
  return asked.type === "approval" ? asked.approval.id : asked.question.id;
}

export function promptOf(asked: Asked): string {
  return asked.type === "approval" ? approvalPrompt(asked.approval) : answerPrompt;
}

export function showAsked(asked: Asked, { screen, style, width }: Pick<Asking, "screen" | "style" | "width">): void {
  screen.print(
    asked.type === "approval"
      ? renderApproval(asked.approval, { style, width: width(), showsResume: false })
      : renderQuestion(asked.question, { style, width: width(), isTyped: true }),
  );
}

/** Sends what was typed as the answer. `open`: it still waits, and the person was told why; `none`: the line is no answer to it. */
export async function answerAsked(asked: Asked, line: string, asking: Asking): Promise<"taken" | "open" | "none"> {
  const { host, session, by } = asking;
  if (asked.type === "question") {
    const read = answerTyped(asked.question, line);
    if (read.type === "problem") return tell(asking, `${read.text}; ${howTyped(asked.question)}`);
    const answer = { questionId: asked.question.id, answer: read.answer, by };
    return posted(host.runtime.answerQuestion(host.ports, session, answer), asking);
  }
  const { approval } = asked;
  const read = readApprovalAnswer(line, approval);
  if (read.type === "none") return "none";
  if (read.type === "problem") return tell(asking, read.text);
  if (read.type === "grant" && read.for === "rule" && !(await keepsRule(approval, read.offer, asking)))
    return tell(asking, "not kept; the call still waits");
  const answer = {
    approvalId: approval.id,
    answer: read.type === "deny" ? ("deny" as const) : ("allow" as const),
    by,
    note: read.type === "deny" ? read.note : "",
    digest: approval.digest,
    ...(read.type === "grant" ? { grant: { for: read.for, offer: read.offer } } : {}),
  };
  return posted(host.runtime.answerApproval(host.ports, session, answer), asking);
}

async function posted(answering: Promise<unknown>, asking: Asking): Promise<"taken" | "open"> {
  try {
    await answering;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return tell(asking, `${error.message} (${error.code})`);
  }
  return "taken";
}

/** Shows the rule as it will be kept, and asks. */
async function keepsRule(approval: Approval, id: string, { screen, signal }: Asking): Promise<boolean> {
  const text = approval.offers?.find((offer) => offer.id === id)?.text ?? "";
  const lines = sanitize(text).trimEnd().split("\n");
  screen.setAside();
  screen.print(["this is kept with your own rules, and holds in every later session:", ...lines.map((line) => `  │ ${line}`)]);
  const line = await nextAnswer(screen, keepPrompt, signal());
  return /^y(?:es)?$/i.test((line ?? "").trim());
}

function tell({ screen }: Asking, text: string): "open" {
  screen.print([sanitizeLine(text)]);
  return "open";
}
