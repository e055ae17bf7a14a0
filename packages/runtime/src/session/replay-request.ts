import type { EventPayload, RequestRecord, SentBody, SessionEvent, StoredEvent, ToolSpec } from "@holdfast/protocol";
import { requestOf } from "../drive/request.ts";
import { createRequestDigests, keyedDigest } from "../kernel/request-digests.ts";
import type { State } from "../kernel/state.ts";
import { createWindow } from "../kernel/window.ts";
import type { Log, Ports, SamplingRequest } from "../ports/index.ts";

/** The digest of the body that a request to `model` has, written as `sent` says; null where this program knows no such wire. */
export type BodyDigest = (model: string, sent: SentBody, request: SamplingRequest) => Promise<string | null>;

export interface ReplayPorts extends Pick<Ports, "blobs" | "director"> {
  readonly log: ReplayLog;
  readonly bodyDigest: BodyDigest;
}

/** Replay only reads. */
export type ReplayLog = Pick<Log, "load" | "read" | "snapshot" | "inbox">;

export interface RequestReplay {
  /** Takes an event's items into the window. Throws `internal` where they can't stand there. */
  add(event: SessionEvent, salt: string | null): void;
  /** Builds the request of a sampling again from the state before its answer. Says what differs; null for nothing. */
  compare(state: State, stored: StoredEvent, payload: EventPayload<"sampling.settled">): Promise<string | null>;
  counts(): { readonly equal: number; readonly bodies: number; readonly unrecorded: number };
}

export function createRequestReplay({ blobs, director, bodyDigest }: ReplayPorts): RequestReplay {
  const window = createWindow();
  const digests = createRequestDigests();
  let tools: readonly ToolSpec[] = [];
  let equal = 0;
  let bodies = 0;
  let unrecorded = 0;

  const rebuild = (state: State, { session }: StoredEvent, recorded: RequestRecord): SamplingRequest =>
    requestOf(state, director, {
      session,
      tools,
      items: window.items,
      maxOutputTokens: recorded.maxOutputTokens,
      image: (blob) => blobs.get(blob),
    });

  return {
    add(event, salt) {
      window.add(event, salt);
      if (event.type === "sampling.settled" && event.payload.tools !== undefined) tools = event.payload.tools;
    },
    async compare(state, stored, { request: recorded, tools: brought }) {
      tools = brought ?? tools;
      const model = state.registers.get("settings", "")?.model;
      // Another behaviour version has other words.
      if (recorded === undefined || model === undefined || state.head.behaviour !== director.behaviour) {
        unrecorded += 1;
        return null;
      }
      const request = rebuild(state, stored, recorded);
      const windowDigest = window.digest();
      const rebuilt = digests.record(request, windowDigest, null);
      const part = (["instructions", "tools", "items"] as const).find((one) => rebuilt[one] !== recorded[one]);
      if (part !== undefined) return `its ${part} are not those that were sent`;
      const body = recorded.body === undefined ? null : await bodyDigest(model, recorded.body, request);
      if (body !== null && keyedDigest(windowDigest, body) !== recorded.body?.digest)
        return "the bytes of its body are not those that were sent";
      equal += 1;
      if (body !== null) bodies += 1;
      return null;
    },
    counts: () => ({ equal, bodies, unrecorded }),
  };
}
