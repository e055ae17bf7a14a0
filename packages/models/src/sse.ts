import { HoldfastError } from "@holdfast/protocol/error";
import { createParser } from "eventsource-parser";

/** One event of a stream. `name` is null where the server gave none. */
export interface SseEvent {
  readonly name: string | null;
  readonly data: string;
}

export interface SseReader {
  /** Events completed by these bytes; a chunk may end inside a line, or inside a character. Throws `model_cut` past the bound. */
  feed(bytes: Uint8Array): SseEvent[];
  /** Events completed by the end of the stream. */
  end(): SseEvent[];
}

/** Characters that one event may have. Images and whole files fit; a stream without line ends doesn't fill the memory. */
const maxEvent = 64 * 1024 * 1024;

/**
 * Server-sent events from raw bytes (WHATWG HTML, "Parsing an event stream"), with one deviation: an event without its
 * blank line at the end of the stream counts. Some servers leave that line out, and an event that was really cut off
 * is no valid JSON.
 */
export function createSseReader(max = maxEvent): SseReader {
  const decoder = new TextDecoder();
  let events: SseEvent[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: max,
    onEvent: (event) => events.push({ name: event.event ?? null, data: event.data }),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") isTooLarge = true;
    },
  });
  function take(text: string): SseEvent[] {
    if (text !== "") parser.feed(text);
    if (isTooLarge) throw new HoldfastError("model_cut", `one event of the stream is larger than ${max} characters`);
    const taken = events;
    events = [];
    return taken;
  }
  return {
    feed: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(`${decoder.decode()}\n\n`),
  };
}
