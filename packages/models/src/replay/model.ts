import type { Item, ModelError } from "@holdfast/protocol";
import type { Model, ProposedItem, SamplingRequest, StreamPart } from "@holdfast/runtime";
import { createTally } from "../script/tally.ts";
import { createTranslation, named } from "./compare.ts";
import { isAnswer, newsByPlace, standingOf, type RecordedSampling, type Recording } from "./recording.ts";

/** A place where this run is no longer the recorded one. */
export interface Departure {
  /** The recorded sampling, from 1, in whose request it shows. */
  readonly step: number;
  /** What differs, in words. Holds pieces of the session's texts. */
  readonly what: string;
}

export interface ReplayOptions {
  /** `replay:SESSION`. */
  readonly id: string;
  /** Real paths of this run's workspace, in the order of the recording's. */
  readonly roots: readonly string[];
  /** Told of each departure as it shows. */
  readonly onDeparture?: (departure: Departure) => void;
}

export interface ReplayModel extends Model {
  readonly departures: readonly Departure[];
  /** Recorded samplings that were played so far. */
  readonly played: number;
}

/** The person's machine and day, of which a replay may know another. */
const ofNoMatter: ReadonlySet<string> = new Set(["environment", "time"]);

/**
 * A model that answers as one did in a recorded session: the same items, usage, finish and failures, in order. Each request
 * is compared with the recorded one, and what differs is told; the recorded answers are played on. Where the recording says
 * nothing any more (it is over, it waited for the person, it was interrupted, other answers came in between), the sampling
 * fails with class `script`. Where it stands is read from the request, so a replayed session can be resumed.
 */
export function createReplayModel(recording: Recording, options: ReplayOptions): ReplayModel {
  const { samplings } = recording;
  const departures: Departure[] = [];
  const traceless = createTally();
  const translation = createTranslation(recording.roots, options.roots);
  const recordedAnswers = samplings.flatMap(({ end }) => (end.type === "answered" ? end.items : []));
  let played = 0;
  /** Steps whose requests were compared; answers whose ids are known. */
  let compared = 0;
  let learned = 0;

  const depart = (step: number, what: string): void => {
    const departure = { step, what };
    departures.push(departure);
    options.onDeparture?.(departure);
  };

  /** Which recorded sampling is due, or why none is. */
  function due(items: readonly Item[], { place, messages }: Pick<RecordedSampling, "place" | "messages">): number | ModelError {
    const here = [...samplings.keys()].filter((index) => samplings[index]?.place === place);
    const index = here[traceless.count(items, place)];
    const sampling = index === undefined ? undefined : samplings[index];
    if (index === undefined || sampling === undefined) {
      const isOver = samplings.every((one) => one.place <= place);
      return isOver
        ? stopped(recording, "past_end", `has ${count(samplings.length)}, and this request is past the last of them`, departures)
        : stopped(recording, "misplaced", "holds no answer for this place: this session has other answers in its window", departures);
    }
    if (sampling.messages > messages)
      return stopped(recording, "turn_over", `went on after step ${index} only with another message of the person`, departures);
    return index;
  }

  /** Compares the requests up to this step that weren't yet: all of them where another process began the session. */
  function compareTo(step: number, { instructions, items }: SamplingRequest): void {
    const answers = items.filter(isAnswer);
    for (; learned < answers.length; learned++) {
      const [recorded, current] = [recordedAnswers[learned], answers[learned]];
      if (recorded !== undefined && current !== undefined) translation.learn(recorded, current);
    }
    if (compared === 0) {
      for (const { id, text } of recording.world) {
        if (!ofNoMatter.has(id) && !translation.isWithin(text, instructions)) depart(1, `the instructions (${id}) differ`);
      }
    }
    const news = newsByPlace(items);
    for (; compared < step; compared++) {
      const sampling = samplings[compared];
      if (sampling === undefined) return;
      const here = news.get(sampling.place) ?? [];
      // What came behind a request that failed belongs to the next one at the same place.
      const isLast = compared + 1 === step || samplings[compared + 1]?.place !== sampling.place;
      compareNews(compared + 1, sampling.news, isLast ? here : here.slice(0, sampling.news.length));
    }
  }

  function compareNews(step: number, recorded: readonly Item[], current: readonly Item[]): void {
    for (const [index, before] of recorded.entries()) {
      const now = current[index];
      if (now !== undefined) translation.learn(before, now);
      const what = now === undefined ? `${named(before)} is missing` : translation.difference(before, now);
      if (what !== null) depart(step, what);
    }
    for (const extra of current.slice(recorded.length)) depart(step, `${named(extra)} was not there`);
  }

  async function* sample(request: SamplingRequest, signal: AbortSignal): AsyncGenerator<StreamPart> {
    if (signal.aborted) return;
    const standing = standingOf(request.items);
    const index = due(request.items, standing);
    if (typeof index !== "number") {
      yield { type: "failed", error: index };
      return;
    }
    compareTo(index + 1, request);
    const end = samplings[index]?.end;
    if (end === undefined) return;
    if (end.type !== "answered" || end.items.length === 0) traceless.add(request.items, standing.place);
    played += 1;
    switch (end.type) {
      case "answered":
        yield { type: "started" };
        for (const [at, item] of end.items.entries()) {
          const proposed = proposedOf(item, translation.translate);
          const text = proposed.kind === "tool_call" ? proposed.input : proposed.text;
          if (text !== "") yield { type: deltas[proposed.kind], index: at, text };
          yield { type: "item", index: at, item: proposed };
        }
        yield { type: "finished", finish: end.finish, usage: end.usage, cost: end.cost };
        return;
      case "failed":
        if (end.retracted !== "") yield { type: "text.delta", index: 0, text: end.retracted };
        yield { type: "failed", error: end.error };
        return;
      case "abandoned":
        yield { type: "failed", error: stopped(recording, "interrupted", `was interrupted at step ${index + 1}`, departures) };
    }
  }
  return {
    id: options.id,
    contextWindow: null,
    isPlayed: true,
    departures,
    get played() {
      return played;
    },
    sample,
  };
}

const deltas = { assistant_message: "text.delta", reasoning: "reasoning.delta", tool_call: "call.delta" } as const;

/** The item as the model gave it, its input in this run's terms. */
function proposedOf(item: Item & { kind: keyof typeof deltas }, translate: (text: string) => string): ProposedItem {
  const { id: _id, ...rest } = item;
  if (rest.kind !== "tool_call") return rest;
  const { callId: _callId, ...call } = rest;
  return { ...call, input: translate(call.input) };
}

function stopped({ session }: Recording, code: string, what: string, departures: readonly Departure[]): ModelError {
  const [first] = departures;
  const before = first === undefined ? "" : `; this run departed from it at step ${first.step}: ${first.what}`;
  return { class: "script", message: `the recorded session ${session} ${what}${before}`, status: null, code, retryAfterMs: null };
}

function count(steps: number): string {
  return steps === 1 ? "1 step" : `${steps} steps`;
}
