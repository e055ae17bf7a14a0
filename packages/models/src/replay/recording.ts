import type { EventPayload, Item, ModelError, ModelItem, SessionEvent, Usage, WorldSection } from "@holdfast/protocol";
import { createWindow } from "@holdfast/runtime";

/** How one recorded request to a model ended. */
export type RecordedEnd =
  | {
      readonly type: "answered";
      readonly items: readonly ModelItem[];
      readonly usage: Usage;
      readonly cost: number | null;
      readonly finish: EventPayload<"sampling.settled">["finish"];
    }
  | { readonly type: "failed"; readonly error: ModelError; readonly retracted: string }
  /** The turn was interrupted, or ended, while the answer came. */
  | { readonly type: "abandoned"; readonly retracted: string };

export interface RecordedSampling {
  /** Items of earlier answers in its window: where in the conversation it stands. */
  readonly place: number;
  /** What the window held behind the last answer, oldest first. */
  readonly news: readonly Item[];
  /** Messages of the person in its window. */
  readonly messages: number;
  readonly end: RecordedEnd;
}

/** A recorded session, as far as a model took part in it. */
export interface Recording {
  readonly session: string;
  /** Real paths of its workspace. */
  readonly roots: readonly string[];
  /** The world as its first request told it. */
  readonly world: readonly WorldSection[];
  readonly samplings: readonly RecordedSampling[];
}

/** What a session's events say of its samplings. A sampling without an end, the process having been killed, is left out. */
export function readRecording(session: string, events: readonly SessionEvent[]): Recording {
  const window = createWindow();
  const samplings: RecordedSampling[] = [];
  const world = new Map<string, WorldSection>();
  let roots: readonly string[] = [];
  let hasTurn = false;
  const record = (end: RecordedEnd): void => {
    samplings.push({ ...standingOf(window.items), end });
  };
  for (const event of events) {
    switch (event.type) {
      case "session.created":
        roots = event.payload.roots.map(({ path }) => path);
        break;
      case "world.observed":
        if (!hasTurn) for (const section of event.payload.sections) if (!world.has(section.id)) world.set(section.id, section);
        break;
      case "turn.started":
        hasTurn = true;
        break;
      case "sampling.settled": {
        const { items, usage, cost, finish } = event.payload;
        record({ type: "answered", items, usage, cost, finish });
        break;
      }
      case "sampling.failed":
        record({ type: "failed", error: event.payload.error, retracted: event.payload.retracted });
        break;
      case "sampling.abandoned":
        record({ type: "abandoned", retracted: event.payload.retracted });
        break;
      default:
        break;
    }
    window.add(event);
  }
  return { session, roots, world: [...world.values()], samplings };
}

/** Where a request stands, by the items it is made of. */
export function standingOf(items: readonly Item[]): Pick<RecordedSampling, "place" | "news" | "messages"> {
  let [place, messages, last] = [0, 0, -1];
  for (const [index, item] of items.entries()) {
    if (isAnswer(item)) [place, last] = [place + 1, index];
    else if (item.kind === "user_message") messages += 1;
  }
  return { place, messages, news: items.slice(last + 1) };
}

/** What stands between answers, by how many items of answers come before it. */
export function newsByPlace(items: readonly Item[]): ReadonlyMap<number, readonly Item[]> {
  const news = new Map<number, Item[]>();
  let place = 0;
  for (const item of items) {
    if (isAnswer(item)) place += 1;
    else news.set(place, [...(news.get(place) ?? []), item]);
  }
  return news;
}

export function isAnswer(item: Item): item is ModelItem {
  return item.kind === "assistant_message" || item.kind === "reasoning" || item.kind === "tool_call";
}
