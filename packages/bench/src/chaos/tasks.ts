import type { Life, LifeOptions, Manner } from "./lives.ts";
import { slowness } from "./lives.ts";
import type { Look } from "./look.ts";
import { ownEvents } from "./look.ts";
import type { Dice } from "./dice.ts";
import type { ReplayName, Seen } from "./tally.ts";
import { classes, enough, killsInFlight, points } from "./tally.ts";
import type { Addresses } from "./work.ts";
import { stepsOf } from "./work.ts";

/** What the program is started with next. */
export interface Task {
  readonly args: readonly string[];
  /** How long it usually works, ms: moments are chosen within. */
  readonly usualMs: number;
  /** It prints events as lines of JSON. */
  readonly isJson: boolean;
  /** Classes of effects that it may come to. */
  readonly ahead: readonly ReplayName[];
  /** The approval or question that it answers. */
  readonly answers?: string;
  readonly clockAheadMs?: number;
}

interface Standing {
  readonly random: Dice;
  readonly addresses: Addresses;
  /** Approvals and questions whose answer was acknowledged: the session takes it when it goes on. */
  readonly answered: ReadonlySet<string>;
  readonly forks: boolean;
  /** Nobody may answer in time, and the clock goes wrong. */
  readonly isLate: boolean;
  /** What a new session is started with. */
  readonly begin: readonly string[];
}

const hourMs = 60 * 60 * 1000;
/** Past the week that an approval or a question waits for its answer. */
const tooLateMs = 8 * 24 * hourMs;

/** What to start next, by how the sessions stand. */
export function nextTask(looks: readonly Look[], standing: Standing): Task {
  const { random, addresses, answered, forks, isLate, begin } = standing;
  const [main, fork] = looks;
  if (main === undefined) {
    const args = ["exec", "--json", "--model", "openai/test", ...begin, "branch main"];
    return { args, isJson: true, usualMs: 1_200, ahead: classes };
  }
  if (forks && fork === undefined && (main.isDone || (hasSettledCall(main) && random.chance(0.3)))) {
    return small("sessions", "fork", main.session, "--title", "another way");
  }
  const open = looks.filter(({ isDone }) => !isDone);
  const look = open[random.whole(open.length)] ?? main;
  const { session } = look;
  const work = (...args: string[]): Task => ({ args, isJson: args[0] === "exec", usualMs: 1_200, ahead: classesAhead(look, addresses) });
  const isUnanswered = (id: string): boolean => look.status === "waiting" && !answered.has(id);
  const [approval, question] = [look.approvals.find(isUnanswered), look.questions.find(isUnanswered)];
  if (approval !== undefined || question !== undefined) {
    if (isLate && random.chance(0.5)) return { ...work("exec", "resume", "--json", session), clockAheadMs: tooLateMs };
    if (approval !== undefined) return { ...small("approvals", "answer", approval, "allow"), answers: approval };
    if (question !== undefined) return { ...small("answer", session, question, "--choice", "2"), answers: question };
  }
  // Somebody answers once more, before the first answer is taken.
  const doubled = look.status === "waiting" && look.hasPost ? look.approvals[0] : undefined;
  if (doubled !== undefined && random.chance(0.7)) return small("approvals", "answer", doubled, "deny");
  // Answered in time, and taken too late.
  if (isLate && look.status === "waiting" && look.hasPost && random.chance(0.5)) {
    return { ...work("exec", "resume", "--json", session), clockAheadMs: tooLateMs };
  }
  const wrong = isLate && random.chance(0.3) ? { clockAheadMs: random.pick([-hourMs, hourMs]) } : {};
  const changed = random.chance(0.2) ? ["--timeout", `${60 + random.whole(60)}m`] : [];
  if (look.status !== "idle" || look.hasPost) {
    if (random.chance(0.3)) return { ...work("worker", "--once", "--json"), ...wrong };
    const steering = look.status === "running" && random.chance(0.2) ? ["and mind the rest"] : [];
    return { ...work("exec", "resume", "--json", ...changed, session, ...steering), ...wrong };
  }
  return { ...work("exec", "resume", "--json", ...changed, session, hasPrompt(look) ? "go on" : `branch ${look.branch}`), ...wrong };
}

/** A command that is soon over. */
export function small(...args: string[]): Task {
  return { args, isJson: false, usualMs: 250, ahead: [] };
}

/** The sessions that a killed process had driven: the one it was started for, or those that it had added to. */
export function drivenBy({ args, usualMs }: Task, before: readonly Look[], now: readonly Look[]): readonly Look[] {
  if (usualMs === small().usualMs) return [];
  const named = now.filter(({ session }) => args.includes(session));
  if (named.length > 0) return named;
  return now.filter(({ session, stored }) => stored.length > (before.find((look) => look.session === session)?.stored.length ?? 0));
}

function hasSettledCall({ events }: Look): boolean {
  return events.some(({ type }) => type === "call.settled");
}

function hasPrompt({ events, branch }: Look): boolean {
  return events.some(
    (event) =>
      (event.type === "turn.started" || event.type === "input.taken") && JSON.stringify(event.payload).includes(`branch ${branch}`),
  );
}

/** Classes of the effects that a branch has not proposed yet, and of those that have no settlement. */
function classesAhead({ branch, events }: Look, addresses: Addresses): readonly ReplayName[] {
  const own = ownEvents(events);
  const settled = new Set(own.flatMap((event) => (event.type === "call.settled" ? [event.payload.callId] : [])));
  const over = own.flatMap((event) =>
    event.type === "sampling.settled"
      ? event.payload.items.flatMap((item) => (item.kind === "tool_call" && settled.has(item.callId) ? [item.input] : []))
      : [],
  );
  const marks = stepsOf(branch, addresses).flatMap((step) => step.marks);
  return ["safe", ...marks.filter(({ name, said = name }) => !over.some((input) => input.includes(said))).map(({ replay }) => replay)];
}

/** Most kills come while something is under way, many at named points, some at any time. */
export function mannerFor(
  { usualMs, ahead }: Task,
  mayKill: boolean,
  { random, seen, fault }: LifeOptions,
  isInterrupted: boolean,
): Manner {
  const isShort = usualMs < 1_000;
  if (!mayKill) return { type: "left alone" };
  const now = usualMs * slowness();
  const at = now * (0.1 + random.next() ** 2);
  const dice = random.next();
  const latestMs = now * (0.4 + random.next());
  if (isShort) {
    if (dice < 0.15) return { type: "left alone" };
    return dice < 0.85 ? { type: "at a point", latestMs: now * 8 } : { type: "at any time", from: "start", ms: at };
  }
  const request: Manner = { type: "at a request", ms: random.whole(40), latestMs };
  if (fault !== null && random.chance(0.6)) return request;
  if (isInterrupted && random.chance(0.25)) return { type: "interrupted", ms: random.whole(60), latestMs };
  const isNeeded = ahead.some((name) => killsInFlight(seen, name) < enough.inFlight);
  if (isNeeded && random.chance(0.5)) return { type: "in flight", replay: rarest(ahead, seen, random), ms: random.whole(30), latestMs };
  // Once each class has seen its kills in flight, points that are short of theirs come first, and have time to come up.
  const isLed = !isNeeded && points.some((point) => (seen.points[point] ?? 0) < enough.atPoint);
  if (dice < (isLed ? 0.82 : 0.66)) return { type: "at a point", latestMs: isLed ? latestMs * 6 : latestMs };
  if (dice < 0.84) return { type: "in flight", replay: rarest(ahead, seen, random), ms: random.whole(80), latestMs };
  if (dice < 0.87 && ahead.some((name) => name === "keyed" || name === "never")) return request;
  if (dice < 0.9) {
    return { type: "frozen", ms: 150 + at / 2, forMs: 200 + random.whole(3_000), next: random.pick(["continued", "killed", "replaced"]) };
  }
  if (dice < 0.92) return { type: "interrupted", ms: random.whole(60), latestMs };
  if (dice < 0.99) return { type: "at any time", from: random.chance(0.6) ? "first line" : "start", ms: at };
  return { type: "left alone" };
}

/** Mostly the class that has seen the fewest kills in flight. */
function rarest(ahead: readonly ReplayName[], seen: Seen, random: Dice): ReplayName {
  const [first = "safe", ...rest] = ahead.toSorted((one, other) => killsInFlight(seen, one) - killsInFlight(seen, other));
  return random.chance(0.6) ? first : random.pick([first, ...rest]);
}

/** Verified or nothing to verify; refuted, waiting, weak; a limit; interrupted, also by who was killed before the turn had ended. */
const goodEnds: readonly (number | null)[] = [0, 3, 4, 5, 6, 130];

/** Ended in good order, or with a word that another drives or has driven the session. */
export function isExpected({ code, stderr, manner }: Life): boolean {
  if (goodEnds.includes(code)) return true;
  if (manner === "interrupted" || manner === "frozen") {
    return code === null || /stale_driver|claim_lost|session_busy|store_failed/.test(stderr);
  }
  return /session_busy|approval_closed|question_closed|question_not_found|approval_not_found/.test(stderr);
}
