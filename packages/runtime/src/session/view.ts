import { checksInOrder } from "../kernel/active-checks.ts";
import type {
  Approval,
  CheckDefinition,
  Item,
  Outcome,
  PlanStep,
  Question,
  Report,
  Root,
  Settings,
  StoredEvent,
  Usage,
} from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Registers } from "../kernel/state.ts";
import { createWindow } from "../kernel/window.ts";
import type { Log, RecordedEvent, SessionRow } from "../ports/index.ts";
import { readShown } from "./shown.ts";
import { loadState, readEvents } from "./stored.ts";

export interface TurnView {
  readonly turnId: string;
  readonly startedAt: number;
  readonly goal: string;
  /** Null while it is open. */
  readonly outcome: Outcome | null;
  readonly report: Report | null;
}

/** A session as it stands: what going on with it takes. */
export interface SessionStanding {
  readonly row: SessionRow;
  readonly settings: Settings;
  readonly roots: readonly Root[];
  readonly cwd: string | null;
  readonly checks: readonly CheckDefinition[];
  readonly openApprovals: readonly Approval[];
  readonly openQuestions: readonly Question[];
  /** The model's plan as it stands; empty where it made none. */
  readonly plan: readonly PlanStep[];
  /** Of the turn that is open, from its start; empty where none is. */
  readonly openTurn: readonly RecordedEvent[];
}

/** A session as a client shows it. */
export interface SessionView extends Omit<SessionStanding, "openTurn"> {
  readonly turns: readonly TurnView[];
  readonly items: readonly Item[];
  readonly events: readonly RecordedEvent[];
  readonly usage: Usage;
  readonly cost: number | null;
  /** True where the cost of some request could not be told: `cost` is only a part. */
  readonly isCostPartial: boolean;
  /** Calls that may have happened: what was to be done, and what the model was told. */
  readonly inDoubt: readonly { readonly callId: string; readonly tool: string; readonly summary: string; readonly text: string }[];
}

/**
 * Reads where a session stands without taking it over. Works while another process drives it, and reads no more of the log
 * than the open turn: its cost doesn't depend on the age of the session.
 */
export async function readStanding({ log }: { readonly log: Log }, session: string): Promise<SessionStanding> {
  const { row, head, registers } = await loadState(log, session);
  return { ...standingOf(session, row, registers), openTurn: head.turn === null ? [] : await readOpenTurn(log, session, head.seq) };
}

/** Reads a session without taking it over. Works while another process drives it. */
export async function readSession({ log }: { readonly log: Log }, session: string): Promise<SessionView> {
  const { row, head, registers } = await loadState(log, session);
  const events = readShown(await log.read(session, 1));
  return {
    ...standingOf(session, row, registers),
    turns: turnsOf(events),
    items: itemsOf(events),
    events,
    usage: head.usage,
    cost: head.cost,
    isCostPartial: head.cost !== null && head.hasUnknownCost === true,
    inDoubt: events.flatMap((event) => {
      if (event.type !== "call.settled" || event.payload.outcome.status !== "in_doubt") return [];
      const { callId, outcome } = event.payload;
      return [{ callId, tool: toolOf(events, callId), summary: summaryOf(events, callId), text: outcome.text }];
    }),
  };
}

function standingOf(session: string, row: SessionRow, registers: Registers): Omit<SessionStanding, "openTurn"> {
  const settings = registers.get("settings", "");
  const about = registers.get("session", "");
  if (settings === null || about === null) throw new HoldfastError("session_corrupt", `session ${session} has no settings`);
  return {
    row,
    settings,
    roots: about.roots,
    cwd: about.cwd,
    checks: checksInOrder(registers),
    openApprovals: registers.entries("approval").flatMap(([, { approval, status }]) => (status === "open" ? [approval] : [])),
    openQuestions: registers.entries("question").flatMap(([, { question, status }]) => (status === "open" ? [question] : [])),
    plan: registers.get("plan", "")?.steps ?? [],
  };
}

/** Events that are read at once on the way back to a turn's start. */
const stride = 500;

/** What was erased of the turn is replaced by events that follow it, so these are read as well. */
async function readOpenTurn(log: Log, session: string, last: number): Promise<RecordedEvent[]> {
  let stored: StoredEvent[] = [];
  for (let to = last; to > 0; to -= stride) {
    stored = [...(await log.read(session, Math.max(1, to - stride + 1), to)), ...stored];
    const start = stored.findLastIndex(({ type }) => type === "turn.started");
    if (start >= 0) return readEvents(stored.slice(start));
  }
  return [];
}

function turnsOf(events: readonly RecordedEvent[]): TurnView[] {
  const turns: TurnView[] = [];
  for (const event of events) {
    if (event.type === "turn.started") {
      const goal = event.payload.message.parts.map((part) => (part.type === "text" ? part.text : "[image]")).join(" ");
      turns.push({ turnId: event.payload.turnId, startedAt: event.at, goal, outcome: null, report: null });
    } else if (event.type === "turn.ended") {
      const open = turns.pop();
      if (open !== undefined) turns.push({ ...open, outcome: event.payload.outcome, report: event.payload.report });
    }
  }
  return turns;
}

/** As the model sees them; results of calls whose siblings are still open come with the last of them. */
function itemsOf(events: readonly RecordedEvent[]): readonly Item[] {
  const window = createWindow(true, true);
  for (const event of events) window.add(event);
  return window.items;
}

function toolOf(events: readonly RecordedEvent[], callId: string): string {
  let name = "";
  for (const event of events) {
    if (event.type === "call.decided" && event.payload.callId === callId) return event.payload.tool ?? name;
    if (event.type !== "sampling.settled") continue;
    for (const item of event.payload.items) if (item.kind === "tool_call" && item.callId === callId) name = item.name;
  }
  return name;
}

/** What a call would do, in the words of its plan. */
function summaryOf(events: readonly RecordedEvent[], callId: string): string {
  const decided = events.find((event) => event.type === "call.decided" && event.payload.callId === callId);
  return decided?.type === "call.decided" ? decided.payload.plan.summary : "";
}
