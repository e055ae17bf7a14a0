import type { ReplayModel } from "@holdfast/models";
import type { Model } from "@holdfast/runtime";
import { plural } from "../render/numbers.ts";
import type { OpenStore } from "../runtime-api.ts";
import { sessionById } from "../session/find-session.ts";

export interface Replays {
  /** The model that plays a recorded session back, by `replay:SESSION`; the beginning of an id is enough. */
  readonly open: (name: string) => Promise<Model>;
  /** How each replay compared with its recording, for a person at a turn's end. */
  readonly remarks: () => readonly string[];
}

export interface ReplayHost {
  readonly openStore: () => Promise<OpenStore>;
  /** Real paths of this session's workspace. */
  readonly roots: readonly string[];
  readonly onNote: (message: string) => void;
}

/** Most departures that the end names; each was told as it showed. */
const mostNamed = 3;

/** Plays sessions of the store back. Reading one takes nothing over: it may be driven at the same time. */
export function createReplays({ openStore, roots, onNote }: ReplayHost): Replays {
  const models = new Map<string, { readonly model: ReplayModel; readonly session: string; readonly steps: number }>();
  return {
    async open(name) {
      const [{ createReplayModel }, { readRecording }] = await Promise.all([
        import("@holdfast/models/replay/model"),
        import("@holdfast/models/replay/recording"),
      ]);
      const store = await openStore();
      try {
        const row = await sessionById(store.ports, name.slice("replay:".length));
        const { events } = await store.runtime.readSession(store.ports, row.session);
        const recording = readRecording(row.session, events);
        const model = createReplayModel(recording, {
          id: name,
          roots,
          onDeparture: ({ step, what }) => onNote(`replay departs at step ${step}: ${what}`),
        });
        models.set(name, { model, session: row.session, steps: recording.samplings.length });
        return model;
      } finally {
        await store.close();
      }
    },
    remarks: () => [...models.values()].flatMap((one) => remarksOn(one.model, one.session, one.steps)),
  };
}

function remarksOn({ played, departures }: ReplayModel, session: string, steps: number): string[] {
  if (played === 0 && departures.length === 0) return [];
  const whole = `replayed ${played} of ${plural(steps, "recorded step")} of ${session}`;
  if (departures.length === 0) return [`${whole}; no departure`];
  const named = departures.slice(0, mostNamed).map(({ step, what }) => `- at step ${step}: ${what}`);
  const more = departures.length > mostNamed ? [`- and ${departures.length - mostNamed} more`] : [];
  return [`${whole}; departed from it at ${plural(departures.length, "place")}:`, ...named, ...more];
}
