import type { DriveEnd } from "@holdfast/runtime";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import type { Asked } from "../line/asked.ts";
import { answerAsked, promptOf, showAsked } from "../line/asked.ts";
import { nextAnswer, openForQuestion, openScreen } from "../line/screen.ts";
import { wrap } from "../render/layout.ts";
import { createStyle } from "../render/style.ts";
import type { ReadySession } from "./start.ts";

/**
 * Asks the person at the terminal what a turn waits for, on stderr. While they think nothing is driven: others may answer as
 * well. Where they leave (Ctrl-C, end of the input) the rest stays open.
 */
export async function askAtTerminal(
  io: Io,
  { host, session }: ReadySession,
  { approvals, questions }: DriveEnd,
): Promise<{ readonly answered: number; readonly isLeaving: boolean }> {
  const screen = await openForQuestion(io, io.stderr);
  const leaving = new AbortController();
  const release = screen.onInterrupt(() => leaving.abort());
  const asking = {
    host,
    session,
    by: io.env["USER"] || "the person at the terminal",
    screen,
    style: createStyle(usesColour(io.stderr, io.env)),
    width: () => Math.max(40, io.stderr.columns),
    signal: () => leaving.signal,
  };
  const open: Asked[] = [
    ...approvals.map((approval): Asked => ({ type: "approval", approval })),
    ...questions.map((question): Asked => ({ type: "question", question })),
  ];
  let answered = 0;
  try {
    for (const asked of open) {
      screen.setAside();
      showAsked(asked, asking);
      for (;;) {
        const line = await nextAnswer(screen, promptOf(asked), leaving.signal);
        if (line === null || line === undefined) return { answered, isLeaving: true };
        if ((await answerAsked(asked, line, asking)) === "taken") {
          answered += 1;
          break;
        }
        const { openApprovals, openQuestions } = await host.runtime.readStanding(host.ports, session);
        if (![...openApprovals, ...openQuestions].some(({ id }) => id === (asked.type === "approval" ? asked.approval : asked.question).id))
          break;
      }
    }
    return { answered, isLeaving: open.length === 0 };
  } finally {
    release();
    screen.close();
  }
}

/** One line of the person's at the terminal; null or undefined where they leave or end the input. */
export async function askLine(io: Io, question: string): Promise<string | null | undefined> {
  const screen = openScreen(io, [], io.stderr);
  const leaving = new AbortController();
  const release = screen.onInterrupt(() => leaving.abort());
  try {
    screen.print(wrap(question, Math.max(40, io.stderr.columns)));
    return await screen.next("? ", leaving.signal);
  } finally {
    release();
    screen.close();
  }
}
