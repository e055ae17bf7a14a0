import type {
  CheckDefinition,
  EventPayload,
  Evidence,
  InspectedEvidence,
  InspectedTurn,
  Inspection,
  StoredEvent,
  UserMessage,
} from "@holdfast/protocol";
import type { RecordedEvent } from "../ports/index.ts";
import type { SessionView } from "../session/view.ts";
import { findLogFault } from "../session/verify.ts";
import { actionsOf } from "./actions.ts";

/**
 * The causal line of a session: goal → each action → checks → outcome, of each turn. Pure: it follows from the log alone.
 * `stored`: the log as it is kept, to tell whether all of it is there.
 */
export function inspectSession({ row, cwd, settings, events }: SessionView, stored: readonly StoredEvent[]): Inspection {
  return {
    ...{ format: "holdfast-inspection", version: 1, session: row.session, title: row.title },
    folder: cwd ?? row.workspace,
    model: settings.model,
    damage: findLogFault(stored, row.seq),
    turns: turnsOf(events),
  };
}

function turnsOf(events: readonly RecordedEvent[]): InspectedTurn[] {
  const checks = new Map<string, CheckDefinition>();
  const turns: InspectedTurn[] = [];
  let from = 0;
  for (const [index, event] of events.entries()) {
    if (event.type === "checks.accepted") for (const check of event.payload.checks) checks.set(check.id, check);
    const isLast = index === events.length - 1;
    const next = events[index + 1];
    // What comes between two turns, such as checks that a person adds, belongs to the one that follows.
    const endsHere = event.type === "turn.ended" || (isLast && events.slice(from).some(({ type }) => type === "turn.started"));
    if (!endsHere) continue;
    const tip = next?.type === "tip.signed" ? next.payload : null;
    const own = events.slice(from, index + 1);
    from = index + 1;
    const turn = turnOf(own, turns.length + 1, [...checks.values()], tip);
    if (turn !== null) turns.push(turn);
  }
  return turns;
}

function turnOf(
  events: readonly RecordedEvent[],
  number: number,
  checks: readonly CheckDefinition[],
  tip: EventPayload<"tip.signed"> | null,
): InspectedTurn | null {
  const started = events.find((event) => event.type === "turn.started");
  if (started?.type !== "turn.started") return null;
  const ended = events.at(-1);
  const end = ended?.type === "turn.ended" ? ended.payload : null;
  const evidence = evidenceOf(events, checks);
  const last = Math.max(0, ...evidence.map(({ round }) => round));
  return {
    number,
    turnId: started.payload.turnId,
    startedAt: started.at,
    endedAt: end === null ? null : (ended?.at ?? null),
    goal: events.flatMap((event) =>
      event.type === "turn.started" || event.type === "input.taken" ? [saidIn(event.seq, event.payload.message)] : [],
    ),
    criteria: checks.flatMap(({ id, name, kind, authority, isRequired, constraint }) =>
      constraint?.turn === undefined || constraint.turn === number
        ? [{ checkId: id, name, kind, authority, isRequired, constraint: constraint?.source ?? null }]
        : [],
    ),
    actions: actionsOf(
      events,
      evidence.filter(({ phase, round }) => phase === "final" && round === last),
    ),
    evidence,
    rounds: events.flatMap((event) =>
      event.type === "round.judged"
        ? [{ round: event.payload.round + 1, verdict: event.payload.verdict, heading: event.payload.report.heading }]
        : [],
    ),
    outcome: end?.outcome ?? null,
    report: end === null ? null : reportOf(end),
    tip: tip === null ? null : { seq: tip.seq, hash: tip.hash, keyId: tip.keyId },
  };
}

function reportOf({ report }: EventPayload<"turn.ended">): NonNullable<InspectedTurn["report"]> {
  const { heading, message, reasons, contradicted = [], criteria, changes, changesKnown, subject } = report;
  return { heading, message, reasons, contradicted, criteria, changes, changesKnown, subject };
}

function saidIn(seq: number, { trust, parts }: UserMessage): InspectedTurn["goal"][number] {
  return { seq, trust, text: parts.map((part) => (part.type === "text" ? part.text : `[image ${part.mediaType}]`)).join(" ") };
}

function evidenceOf(events: readonly RecordedEvent[], checks: readonly CheckDefinition[]): InspectedEvidence[] {
  let round = 0;
  return events.flatMap((event) => {
    if (event.type === "checks.started") round = event.payload.round + 1;
    if (event.type === "baseline.recorded") return event.payload.evidence.map((one) => inspected(one, event, 0, checks));
    return event.type === "check.completed" ? [inspected(event.payload.evidence, event, round, checks)] : [];
  });
}

function inspected(one: Evidence, { seq, at }: RecordedEvent, round: number, checks: readonly CheckDefinition[]): InspectedEvidence {
  const { checkId, phase, subjectBefore, subjectAfter, definition, inputs, gitTree, sandboxed, weaknesses, originalInputsRun } = one;
  const { tail: _, ...run } = one.run;
  return {
    ...{ seq, at, checkId, phase, round, run, subjectBefore, subjectAfter, definition, inputs, gitTree, sandboxed, weaknesses },
    name: checks.find(({ id }) => id === checkId)?.name ?? checkId,
    applies: one.applies !== false,
    accepted: one.accepted ?? [],
    originalInputs: originalInputsRun === null ? null : originalInputsRun.passed ? "pass" : "fail",
  };
}
