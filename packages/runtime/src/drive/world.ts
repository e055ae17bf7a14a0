import { checksInOrder } from "../kernel/active-checks.ts";
import type { SessionEvent, Settings, ShedPart, WorldSection } from "@holdfast/protocol";
import { usesOf } from "../kernel/near.ts";
import { compareWorld, isNews, type WorldChange } from "../kernel/world.ts";
import type { PassingState, ToldWorld } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf, stage } from "./driver.ts";

/** What a look at the world gave: what is recorded of it, and what the model is told. */
export interface Look {
  readonly observed: readonly SessionEvent[];
  readonly told: readonly SessionEvent[];
}

/**
 * Looks at all of the world. At the session's beginning what is seen becomes the head of its requests; later what changed is
 * told at their end, and everything once where somebody goes on with the session.
 */
export async function lookAround(driver: Driver): Promise<Look> {
  const { ports, registers, head } = driver;
  const settings = settingsOf(driver);
  const [seen, window] = await Promise.all([ports.observer.world(settings.isTrusted), windowOf(driver)]);
  const whole = driver.wasTakenUp && head.turns > 0;
  driver.wasTakenUp = false;
  const { sections, shed } = ports.director.fit([...seen, ...described(driver, settings)], window);
  const leftOut = shed.flatMap(({ id }) => (sections.some((section) => section.id === id) ? [] : [id]));
  const changes = compareWorld(registers, sections, leftOut);
  const passing = whole ? ports.director.describePassing(passingState(driver)) : [];
  const observed = recorded(changes, passing, shed);
  if (head.turns === 0) return { observed, told: [] };
  return { observed, told: await tell(driver, whole ? [...changes, ...passing.map(atOnce)] : changes.filter(isNews), whole) };
}

/**
 * Between two steps, where something that can be seen at little cost says that the world has moved, or somebody else went on
 * with the session. A look that fails is taken again at the next boundary: it is no reason to end a turn.
 */
export async function lookBetweenSteps(driver: Driver): Promise<void> {
  if (!driver.wasTakenUp && driver.ports.observer.hasMoved?.() !== true) return;
  const look = await lookAround(driver).catch(() => null);
  if (look !== null) stage(driver, [...look.observed, ...look.told]);
}

/** What other settings change of what the model was told, within a turn; empty where it is nothing. */
export async function changedWorld(driver: Driver, settings: Settings): Promise<SessionEvent[]> {
  const sections = described(driver, settings);
  const changes = compareWorld(driver.registers, sections).filter((change) => change.now !== null && isNews(change));
  return [...recorded(changes, [], []), ...(await tell(driver, changes, false))];
}

/** As `describePassing` says it, for a conversation that was shortened. */
export function passingNow(driver: Driver): WorldSection[] {
  return driver.ports.director.describePassing({ ...passingState(driver), plan: [], tasks: [] });
}

function passingState({ head, registers }: Driver): PassingState {
  const limits = registers.get("settings", "")?.limits;
  return {
    used: limits === undefined ? [] : usesOf(head, head.turn, limits).map(({ text }) => text),
    plan: registers.get("plan", "")?.steps ?? [],
    tasks: registers.entries("task").map(([, task]) => task),
  };
}

function described(driver: Driver, settings: Settings): WorldSection[] {
  // What the user's words say the model has read as they were written.
  const checks = checksInOrder(driver.registers).filter(({ constraint }) => constraint?.source !== "words");
  return driver.ports.director.describe({ settings, checks });
}

function atOnce(now: WorldSection): WorldChange {
  return { id: now.id, before: null, now, isAtStart: false };
}

type Observed = Extract<SessionEvent, { type: "world.observed" }>["payload"];

function recorded(changes: readonly WorldChange[], passing: readonly WorldSection[], shed: readonly ShedPart[]): SessionEvent[] {
  const news = changes.filter(isNews);
  const sections = news.flatMap(({ now }) => now ?? []);
  const gone = news.flatMap(({ id, now }) => (now === null ? [id] : []));
  if (news.length === 0 && passing.length === 0) return [];
  const payload: Observed = {
    sections,
    ...(gone.length === 0 ? {} : { gone }),
    ...(passing.length === 0 ? {} : { passing: [...passing] }),
    ...(shed.length === 0 ? {} : { shed: [...shed] }),
  };
  return [{ type: "world.observed", payload }];
}

async function tell(driver: Driver, changes: readonly WorldChange[], whole: boolean): Promise<SessionEvent[]> {
  if (changes.length === 0) return [];
  const told = await driver.ports.director.tell(changes, whole);
  return told.map(({ trust, text, context }: ToldWorld): SessionEvent => {
    return { type: "notice.added", payload: { notice: { kind: "notice", id: newId(driver)("itm"), trust, text, context } } };
  });
}

/** Of the session's model, tokens; null where it is not known, or guessed. */
async function windowOf(driver: Driver): Promise<number | null> {
  const model = await driver.ports.model(settingsOf(driver).model).catch(() => null);
  return model === null || model.assumesWindow === true ? null : model.contextWindow;
}
