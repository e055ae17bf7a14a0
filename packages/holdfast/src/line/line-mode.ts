import { isHoldfastError } from "@holdfast/protocol/error";
import type { DriveEnd, RecordedEvent } from "@holdfast/runtime";
import type { Io, StopSignal } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import type { Said } from "../prompts/use.ts";
import { inputsOf, sayPrompt } from "../prompts/use.ts";
import { renderEnding } from "../render/ending.ts";
import { wrap } from "../render/layout.ts";
import { createProgress } from "../render/progress.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import { clarified } from "../session/clarify.ts";
import { driveTurn } from "../session/drive-turn.ts";
import { letGo } from "../session/let-go.ts";
import type { ReadySession } from "../session/start.ts";
import { inputParts } from "../session/start.ts";
import { createAnswerStream } from "./answer-stream.ts";
import type { Asked, Asking } from "./asked.ts";
import { answerAsked, idOf, promptOf, showAsked } from "./asked.ts";
import type { SlashContext } from "./run-slash.ts";
import { runSlash } from "./run-slash.ts";
import type { Screen } from "./screen.ts";
import type { Typed } from "./slash.ts";
import { readTyped, usableDuringTurn } from "./slash.ts";

export interface LineModeOptions {
  readonly io: Io;
  readonly screen: Screen;
  /** The session, made with the first prompt as its title. */
  readonly begin: (prompt: string) => Promise<ReadySession>;
  readonly slash: SlashContext;
  /** Lines shown once at the start. */
  readonly welcome: readonly string[];
  /** How long a failed request to the model is tried again, where it was said. */
  readonly retryForMs?: number;
  /** A resumed session whose turn is still open goes on at once. */
  readonly goesOn: boolean;
}

const readyPrompt = "› ";
const steerPrompt = "… ";

/** Runs until the person leaves or the input ends. Returns the exit status: of the last turn where nobody sits at a terminal. */
export async function runLineMode(options: LineModeOptions): Promise<number> {
  const { io, screen, slash } = options;
  screen.print(options.welcome);
  let status = 0;
  let isLeaving = false;
  let goesOn = options.goesOn;
  while (!isLeaving) {
    let prompt: Said | null = null;
    if (!goesOn) {
      const typed = await readIdle(options);
      if (typed === null) break;
      if (typed.type === "command") {
        if (typed.name === "quit") break;
        screen.print(await runSlash(typed.name, typed.rest, slash), "answer");
      }
      prompt = await saidBy(typed, options);
      if (prompt === null) continue;
    }
    goesOn = false;
    const isNew = slash.current() === null;
    const ready = await options.begin(prompt?.text ?? "");
    if (prompt !== null && isNew && screen.isInteractive) {
      prompt = await clarified(prompt, ready.checks, (question) => askBefore(question, options));
    }
    const turn = await runTurn(options, ready, prompt);
    status = turn.end.exitStatus;
    isLeaving = turn.isLeaving;
  }
  const current = slash.current();
  if (current !== null) {
    await letGo(io, current.host, current.session);
    screen.print([`go on with: holdfast resume ${current.session}`]);
  }
  return screen.isInteractive && io.stdin.isTTY ? 0 : status;
}

/** One line of the person's; null where they would rather not say. */
async function askBefore(question: string, { screen, io }: LineModeOptions): Promise<string | null | undefined> {
  const left = new AbortController();
  const releases = [screen.onInterrupt(() => left.abort()), io.onStop(() => left.abort())];
  screen.print(wrap(question, Math.max(40, io.stdout.columns)));
  try {
    return await screen.next("? ", left.signal);
  } finally {
    for (const release of releases) release();
  }
}

/** Ctrl-C twice at an empty prompt leaves, as does the end of the input. */
async function readIdle({ screen, io }: LineModeOptions): Promise<Typed | null> {
  const leave = new AbortController();
  let wasPressed = false;
  const releases = [
    screen.onInterrupt((typed) => {
      if (typed !== "") {
        wasPressed = false;
      } else if (wasPressed) {
        leave.abort();
      } else {
        wasPressed = true;
        screen.print(["Ctrl-C once more to leave"]);
      }
    }),
    io.onStop(() => leave.abort()),
  ];
  try {
    let text = "";
    for (;;) {
      const line = await screen.next(text === "" ? readyPrompt : steerPrompt, leave.signal);
      if (line === null || line === undefined) return text === "" ? null : readTyped(text);
      // A backslash at the end of a line says that more follows.
      if (!line.endsWith("\\")) return readTyped(text + line);
      text += `${line.slice(0, -1)}\n`;
    }
  } finally {
    for (const release of releases) release();
  }
}

/** What goes to the model: what was typed, or the reusable prompt that it names; null where there is nothing to send. */
async function saidBy(typed: Typed, { slash, screen }: LineModeOptions): Promise<Said | null> {
  if (typed.type === "command") {
    const isPlanned = typed.name === "plan" && typed.rest !== "" && typed.rest !== "off";
    return isPlanned ? { text: typed.rest, trust: "user" } : null;
  }
  if (typed.type === "prompt" && !typed.text.startsWith("$")) return typed.text === "" ? null : { text: typed.text, trust: "user" };
  try {
    if (typed.type === "prompt") return (await skillNamed(typed.text, slash)) ?? { text: typed.text, trust: "user" };
    const found = await slash.prompts();
    if (found.prompts.some(({ name }) => name === typed.name)) return sayPrompt(found, typed.name, typed.rest);
    const skill = await skillNamed(`/${typed.name} ${typed.rest}`, slash);
    if (skill !== null) return skill;
    if (found.untrusted.includes(typed.name)) return sayPrompt(found, typed.name, typed.rest);
    screen.print(unknownCommand(typed));
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    screen.print([sanitizeLine(error.message), ...(error.hint === undefined ? [] : [sanitizeLine(error.hint)])]);
  }
  return null;
}

async function skillNamed(text: string, { skills }: SlashContext): Promise<Said | null> {
  const { readSkillCall, saySkill } = await import("../skills/use.ts");
  const call = readSkillCall(text);
  return call === null ? null : saySkill(await skills(), call.name, call.args);
}

function unknownCommand(typed: Extract<Typed, { type: "unknown" }>): string[] {
  return [`no command /${sanitizeLine(typed.name)}${typed.near === null ? "" : `: did you mean /${typed.near}?`} (/help names them)`];
}

async function runTurn(options: LineModeOptions, ready: ReadySession, prompt: Said | null): Promise<{ end: DriveEnd; isLeaving: boolean }> {
  const { io, screen, slash } = options;
  const { host, session } = ready;
  const width = () => Math.max(40, io.stdout.columns);
  const style = createStyle(screen.isInteractive && usesColour(io.stdout, io.env));
  const progress = createProgress({ style, width, outputLines: 4, showsAnswer: false, checks: ready.checks });
  for (const event of ready.earlier) progress(event);
  const answer = createAnswerStream(width);
  const ended = new AbortController();
  const state = { asked: [] as Asked[], isLeaving: false, unread: 0, turns: 0 };
  let changed = new AbortController();
  let stop: ((signal: StopSignal) => void) | null = null;

  const asking: Asking = {
    host,
    session,
    by: io.env["USER"] || "the person at the terminal",
    screen,
    style,
    width,
    signal: () => AbortSignal.any([ended.signal, changed.signal]),
  };
  const show = (asked: Asked) => {
    screen.setAside();
    showAsked(asked, asking);
  };
  const wait = (asked: Asked) => {
    if (state.asked.length === 0) show(asked);
    state.asked.push(asked);
    changed.abort();
  };
  const settle = (id: string) => {
    const isFirst = state.asked[0] !== undefined && idOf(state.asked[0]) === id;
    state.asked = state.asked.filter((asked) => idOf(asked) !== id);
    if (isFirst && state.asked[0] !== undefined) show(state.asked[0]);
    changed.abort();
  };
  const send = async (said: Said) => {
    for (const { text, trust } of inputsOf(said)) {
      state.unread += 1;
      await host.runtime.post(host.ports, session, { type: "input.send", parts: await inputParts(host, text, []), trust });
    }
  };
  const onEvent = (event: RecordedEvent) => {
    if (event.type === "turn.started" || event.type === "input.taken") state.unread = Math.max(0, state.unread - 1);
    // What the person has just typed stands above, and an approval is shown as a question of its own.
    const isShownElsewhere =
      event.type === "approval.requested" ||
      event.type === "question.asked" ||
      event.type === "input.taken" ||
      (event.type === "turn.started" && state.turns++ === 0);
    if (!isShownElsewhere) screen.print(progress(event));
    if (event.type === "sampling.settled") {
      for (const item of event.payload.items) if (item.kind === "assistant_message") screen.print(answer.complete(item), "answer");
    }
    if (event.type === "approval.requested") wait({ type: "approval", approval: event.payload.approval });
    if (event.type === "question.asked") wait({ type: "question", question: event.payload.question });
    if (event.type === "approval.answered" || event.type === "approval.expired") settle(event.payload.approvalId);
    if (event.type === "question.answered" || event.type === "question.expired") settle(event.payload.questionId);
  };

  /** Reads what is typed while the turn runs: answers where something is asked, steering otherwise. */
  const listen = async () => {
    while (!ended.signal.aborted) {
      changed = new AbortController();
      const [asked] = state.asked;
      if (asked === undefined) screen.restore();
      const read = await screen.nextTyped(
        asked === undefined ? steerPrompt : promptOf(asked),
        AbortSignal.any([ended.signal, changed.signal]),
      );
      if (read === undefined) continue;
      if (read === null) {
        state.isLeaving = true;
        stop?.("SIGHUP");
        return;
      }
      const typed = readTyped(read.text);
      const isText = typed.type === "prompt" && typed.text !== "";
      // What was typed before it was shown steers, as it would have without it.
      const what = asked !== undefined && isText && !read.isEarlier ? await answerAsked(asked, typed.text, asking) : "none";
      if (what === "none") await takeDuringTurn(typed, asked?.type === "approval");
      if (what !== "taken") continue;
      state.asked = state.asked.filter((open) => open !== asked);
      if (state.asked[0] !== undefined) show(state.asked[0]);
    }
  };
  const takeDuringTurn = async (typed: Typed, isAsked: boolean) => {
    if (typed.type === "command" && typed.name === "quit") {
      state.isLeaving = true;
      stop?.("SIGHUP");
    } else if (typed.type === "command" && usableDuringTurn.includes(typed.name)) {
      screen.print(await runSlash(typed.name as "help" | "steps" | "cost", typed.rest, slash), "answer");
    } else if (typed.type === "command") screen.print([`/${typed.name} waits until the turn is over`]);
    else {
      const said = await saidBy(typed, options);
      if (said === null) return;
      await send(said);
      screen.print([style.dim(isAsked ? "noted; the call above still waits for an answer" : "noted: taken in at the next step")]);
    }
  };
  const drive = () =>
    driveTurn(host, session, {
      waiting: screen.isInteractive ? "stay" : "return",
      ...(options.retryForMs === undefined ? {} : { retryForMs: options.retryForMs }),
      onEvent,
      onDelta: (delta) => screen.print(answer.take(delta), "answer"),
      onWait: (message) => screen.print([sanitizeLine(message)]),
      onStop: (handler) => {
        stop = handler;
        const releases = [screen.onInterrupt(() => handler("SIGINT")), io.onStop(handler)];
        return () => {
          stop = null;
          for (const release of releases) release();
        };
      },
      onStopping: (isForced) => screen.print([isForced ? "stopping at once" : "interrupting; Ctrl-C once more to stop at once"]),
    });

  if (prompt !== null) await send(prompt);
  // A turn of an earlier process may already wait for an answer.
  else {
    const { openApprovals, openQuestions } = await host.runtime.readStanding(host.ports, session);
    for (const approval of openApprovals) state.asked.push({ type: "approval", approval });
    for (const question of openQuestions) state.asked.push({ type: "question", question });
  }
  if (state.asked[0] !== undefined && screen.isInteractive) show(state.asked[0]);
  const listening = screen.isInteractive ? listen() : Promise.resolve();
  try {
    let end = await drive();
    for (;;) {
      if (end.standing === "waiting" && !screen.isInteractive) {
        const isGone = !(await answerFromPipe(end, asking));
        if (isGone) break;
      } else if (state.unread === 0 || end.standing === "interrupted" || end.standing === "idle") break;
      // Typed when the turn was already ending: it begins the next one.
      end = await drive();
    }
    printEnding(end, options, style, width());
    screen.print(host.remarks().flatMap((remark) => wrap(sanitizeLine(remark), width())));
    return { end, isLeaving: state.isLeaving || (end.standing === "waiting" && !screen.isInteractive) };
  } finally {
    ended.abort();
    await listening;
  }
}

/** Whatever is open takes the next line of the input; false where there is none, or where it is no answer, and it stays open. */
async function answerFromPipe({ approvals, questions }: DriveEnd, asking: Asking): Promise<boolean> {
  const open: Asked[] = [
    ...approvals.map((approval): Asked => ({ type: "approval", approval })),
    ...questions.map((question): Asked => ({ type: "question", question })),
  ];
  for (const asked of open) {
    const line = await asking.screen.next(promptOf(asked));
    if (line === null || line === undefined) return false;
    const what = await answerAsked(asked, line, asking);
    // What is no answer to an approval is no yes.
    if (what === "none") await answerAsked(asked, "n", asking);
    if (what === "open") return false;
  }
  return open.length > 0;
}

/** A turn that changed and proved nothing is told in one line. */
function printEnding(end: DriveEnd, { screen }: LineModeOptions, style: ReturnType<typeof createStyle>, width: number): void {
  const { report } = end;
  const isPlain = end.standing === "unverified" && report !== null && report.criteria.length === 0 && report.changes.length === 0;
  if (isPlain) screen.print(wrap(`${end.standing} · ${sanitizeLine(report.heading)}`, width).map(style.dim));
  else screen.print(renderEnding(end, { style, width, session: null, showsResume: !screen.isInteractive }));
}
