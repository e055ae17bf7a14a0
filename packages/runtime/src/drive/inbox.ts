import type { SessionEvent, UserMessage } from "@holdfast/protocol";
import { answerCovered, takeAnswer } from "./answer.ts";
import { requestTokens } from "../kernel/compacted.ts";
import type { Driver } from "./driver.ts";
import { askHooks, noticesOf } from "./hooks.ts";
import { newId, stage } from "./driver.ts";
import { parseOp } from "./op.ts";
import { answerQuestion } from "./question.ts";
import { lookAround } from "./world.ts";
import { baselineRuns } from "./verify.ts";

export interface Steering {
  readonly row: number;
  readonly message: UserMessage;
}

/**
 * Takes in what came from outside. Control acts at once; text starts a turn where none is open, else it is returned and
 * waits for the next sampling boundary.
 */
export async function takeInbox(driver: Driver): Promise<Steering[]> {
  const steering: Steering[] = [];
  for (const row of await driver.ports.log.inbox(driver.session)) {
    const op = parseOp(row);
    switch (op.type) {
      case "input.send": {
        const message: UserMessage = { kind: "user_message", id: `itm_${row.messageId}`, trust: op.trust ?? "user", parts: op.parts };
        // Words that came now would be missing in the window that is being made.
        if (driver.head.turn === null && driver.head.compacting !== undefined) break;
        if (driver.head.turn === null) {
          stage(driver, await constraintsIn(driver, message));
          stage(driver, await startTurn(driver, message), [row.number]);
        } else if (!(await isRefused(driver, row.number, message))) steering.push({ row: row.number, message });
        break;
      }
      case "interrupt":
        stage(driver, interrupted(driver, op.by), [row.number]);
        break;
      case "approval.answer":
        stage(driver, await takeAnswer(driver, op), [row.number]);
        if (op.grant !== undefined) stage(driver, await answerCovered(driver));
        break;
      case "compaction.request":
        stage(driver, driver.head.compacting === undefined ? [wished(driver)] : [], [row.number]);
        break;
      case "question.answer":
        stage(driver, await answerQuestion(driver, op), [row.number]);
        break;
    }
  }
  return steering;
}

/** What a person's words limit, as checks of the turn that they start. */
async function constraintsIn(driver: Driver, message: UserMessage): Promise<SessionEvent[]> {
  const turn = driver.head.turns + 1;
  const said = message.trust === "user" ? ((await driver.ports.verifier.constraints?.(textOf(message))) ?? []) : [];
  const checks = said.map((check) => ({ ...check, from: message.id, constraint: { source: "words" as const, turn } }));
  return checks.length === 0 ? [] : [{ type: "checks.accepted", payload: { checks } }];
}

/** Between turns there may still be a shortening that somebody wished. */
function interrupted({ head }: Driver, by: string): SessionEvent[] {
  if (head.turn !== null) return [{ type: "interrupt.received", payload: { by } }];
  return head.compacting === undefined
    ? []
    : [{ type: "compaction.failed", payload: { reason: `it was interrupted by ${by}`, isCancelled: true } }];
}

function wished({ head }: Driver): SessionEvent {
  return { type: "compaction.started", payload: { trigger: "hand", tokens: requestTokens(head) } };
}

/** True where something waits that acts at once. Text alone doesn't: it stays until a turn can take it in. */
export async function hasControl(driver: Driver): Promise<boolean> {
  return (await driver.ports.log.inbox(driver.session)).some((row) => parseOp(row).type !== "input.send");
}

/** What is typed into an open turn is asked about when it comes. Refused, it is taken and goes nowhere. */
async function isRefused(driver: Driver, row: number, message: UserMessage): Promise<boolean> {
  if (driver.asked.has(row)) return false;
  const asked = await askHooks(driver, { event: "prompt_submitted", data: () => ({ prompt: textOf(message) }) });
  driver.asked.add(row);
  stage(driver, asked.ran, asked.refusal === null ? [] : [row]);
  return asked.refusal !== null;
}

function textOf(message: UserMessage): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Stands where a refused prompt would: no later request brings what it said. */
const refusedText = "[A prompt that a hook refused, or had not passed yet]";

/** What hooks say to a prompt that starts a turn, and at the first of them to the session. */
async function askAtStart(
  driver: Driver,
  message: UserMessage,
): Promise<{ readonly events: readonly SessionEvent[]; readonly taken: UserMessage }> {
  const begun = await askHooks(driver, {
    event: "session_start",
    data: () => ({ source: driver.head.turns === 0 ? "startup" : "resume" }),
  });
  const asked = await askHooks(driver, { event: "prompt_submitted", data: () => ({ prompt: textOf(message) }) });
  const events = [...begun.ran, ...asked.ran, ...noticesOf(driver, begun), ...noticesOf(driver, asked)];
  if (asked.refusal === null) return { events, taken: message };
  const stopping = asked.isInterrupted
    ? ({ outcome: "interrupted", reason: "the turn was interrupted before its prompt was taken", error: null } as const)
    : ({ outcome: "blocked", reason: `a hook refused the prompt: ${asked.refusal}`, error: null } as const);
  return {
    events: [...events, { type: "turn.stopping", payload: stopping }],
    taken: { ...message, parts: [{ type: "text", text: refusedText }] },
  };
}

/** A turn starts with a look at the world: all of it at first, later what changed, told at the end. */
async function startTurn(driver: Driver, message: UserMessage): Promise<SessionEvent[]> {
  const { observed, told } = await lookAround(driver);
  const { events: asked, taken } = await askAtStart(driver, message);
  const again = await baselineAgain(driver);
  const started: SessionEvent = { type: "turn.started", payload: { turnId: newId(driver)("trn"), message: taken, repeatsBy: "steps" } };
  return [...observed, started, ...again, ...told, ...asked];
}

/** One that ended with its turn is taken under another number, never beside itself: runs of the old one may have started. */
async function baselineAgain(driver: Driver): Promise<SessionEvent[]> {
  const { attempt, isRecorded } = driver.head.baseline;
  if (attempt === 0 || isRecorded) return [];
  await driver.ports.processes.endRuns(driver.session, baselineRuns);
  return [{ type: "baseline.started", payload: { attempt: attempt + 1 } }];
}
