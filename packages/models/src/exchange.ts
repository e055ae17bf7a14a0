import type { Failure } from "./failure.ts";
import { createSseReader } from "./sse.ts";
import { parseJson } from "./shape.ts";
import type { Decoder, WirePart } from "./wire.ts";
import type { Watch } from "./watch.ts";

/** For what follows a complete answer: the usage, the end mark, the end of the connection. */
const settledMs = 3_000;
const maxDocument = 64 * 1024 * 1024;

/** What of a fetch response is read. */
export interface HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): BodyReader } | null;
}

interface BodyReader {
  read(): Promise<{ readonly done?: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The body of one response. */
export interface Exchange {
  /** The next bytes; null at the end, and when the watch gave up. Throws where the connection broke. */
  read(): Promise<Uint8Array | null>;
  /** At most `max` characters of the rest. What can't be read is left out. */
  readText(max: number): Promise<string>;
  /** `isDone`: all of the answer came; then the rest is read in the background, so that the connection can be used again. */
  close(isDone: boolean): void;
}

export function openExchange(response: HttpResponse, watch: Watch): Exchange {
  const reader = response.body?.getReader() ?? null;
  const cancel = (): void => {
    // The connection may be broken already: there is nobody to tell.
    reader?.cancel().catch(() => undefined);
  };
  // A pending read of a cancelled stream resolves at once, even where the host's fetch ignores its signal.
  watch.signal.addEventListener("abort", cancel, { once: true });
  async function read(): Promise<Uint8Array | null> {
    if (reader === null || watch.state !== "open") return null;
    const { done, value } = await reader.read();
    watch.heard();
    return done || value === undefined ? null : value;
  }
  async function drain(): Promise<void> {
    watch.limit(settledMs);
    while ((await read()) !== null);
  }
  return {
    read,
    readText: async (max) => {
      const decoder = new TextDecoder();
      let text = "";
      try {
        for (let bytes = await read(); bytes !== null && text.length < max; bytes = await read()) {
          text += decoder.decode(bytes, { stream: true });
        }
      } catch {
        // What was read of a broken body is all there is to say about it.
      }
      return text.slice(0, max);
    },
    close: (isDone) => {
      if (!isDone) cancel();
      // A failure after the answer is nobody's concern.
      void (isDone ? drain() : Promise.resolve())
        .catch(() => undefined)
        .finally(() => {
          watch.close();
          watch.signal.removeEventListener("abort", cancel);
          cancel();
        });
    },
  };
}

/**
 * The parts of an answer. Servers and proxies mislabel bodies, so the first character decides: an event stream can't
 * begin with `{`, `[` or `<`. Ends without a last part when the caller aborted.
 */
export async function* readAnswer(
  exchange: Exchange,
  decoder: Decoder,
  watch: Watch,
): AsyncGenerator<WirePart | { readonly type: "started" }> {
  const first = await readStart(exchange);
  if (watch.state === "aborted") return;
  if (first.bytes.length > 0) yield { type: "started" };
  switch (first.kind) {
    case "page":
      yield {
        type: "failed",
        failure: {
          class: "invalid_request",
          code: "not_a_stream",
          message: "it sent a web page instead of an event stream. Check the base URL.",
        },
      };
      return;
    case "document":
      yield* checked(readDocument(exchange, first.bytes, decoder, watch), watch);
      return;
    case "events":
      yield* checked(readEvents(exchange, first.bytes, decoder, watch), watch);
  }
}

/** Stops at the caller's abort, and after the part that is the last by its type. */
async function* checked(parts: AsyncIterable<WirePart>, watch: Watch): AsyncGenerator<WirePart> {
  for await (const part of parts) {
    if (watch.state === "aborted") return;
    yield part;
    if (part.type === "finished" || part.type === "failed") return;
  }
}

async function* readEvents(exchange: Exchange, first: Uint8Array, decoder: Decoder, watch: Watch): AsyncGenerator<WirePart> {
  const sse = createSseReader();
  let bytes: Uint8Array | null = first;
  try {
    for (; bytes !== null; bytes = await exchange.read()) {
      for (const event of sse.feed(bytes)) {
        const { parts, isProgress } = decoder.event(event);
        if (isProgress) watch.moved();
        yield* parts;
      }
      if (decoder.isSettled) watch.limit(settledMs);
    }
    for (const event of sse.end()) yield* decoder.event(event).parts;
  } catch (error) {
    // A connection that breaks behind a complete answer took nothing away.
    if (!decoder.isSettled) throw error;
  }
  if (watch.state === "open" || decoder.isSettled) yield* decoder.end();
  else throw new Error("the answer was given up");
}

async function* readDocument(exchange: Exchange, first: Uint8Array, decoder: Decoder, watch: Watch): AsyncGenerator<WirePart> {
  const text = new TextDecoder().decode(first, { stream: true }) + (await exchange.readText(maxDocument));
  if (watch.state !== "open") throw new Error("the answer was given up");
  const value = parseJson(text);
  const failure: Failure = { class: "cut", code: "invalid_json", message: "its answer is no complete JSON" };
  yield* value === undefined ? [{ type: "failed", failure } as const] : decoder.document(value);
}

async function readStart(exchange: Exchange): Promise<{ readonly kind: "events" | "document" | "page"; readonly bytes: Uint8Array }> {
  let bytes = new Uint8Array(0);
  for (;;) {
    const at = bytes.findIndex((byte) => !blank.has(byte));
    const byte = at < 0 ? undefined : bytes[at];
    if (byte !== undefined) return { kind: byte === 0x7b || byte === 0x5b ? "document" : byte === 0x3c ? "page" : "events", bytes };
    const more = await exchange.read();
    if (more === null) return { kind: "events", bytes };
    const joined = new Uint8Array(bytes.length + more.length);
    joined.set(bytes);
    joined.set(more, bytes.length);
    bytes = joined;
  }
}

/** White space and the bytes of a UTF-8 byte order mark. */
const blank: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
