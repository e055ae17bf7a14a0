/** How a stream came to be given up. */
export type WatchState = "open" | "aborted" | "idle";

/**
 * Watches one exchange: the caller's abort, silence, and liveness without progress. `signal` aborts for each of them.
 * Close it when the exchange is over, else its timer stays.
 */
export interface Watch {
  readonly signal: AbortSignal;
  readonly state: WatchState;
  /** Bytes arrived. */
  heard(): void;
  /** The answer went on. */
  moved(): void;
  /** From now on at most this many milliseconds more, whatever arrives. */
  limit(ms: number): void;
  close(): void;
}

/** Pings keep a stream alive while a model thinks, but not for ever: this many idle limits without a model's event end it. */
const pingFactor = 3;

export function createWatch(caller: AbortSignal, idleMs: number): Watch {
  const controller = new AbortController();
  let state: WatchState = caller.aborted ? "aborted" : "open";
  let heardAt = performance.now();
  let movedAt = heardAt;
  let endAt = Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function end(as: WatchState): void {
    if (state !== "open") return;
    state = as;
    controller.abort();
  }
  function arm(): void {
    clearTimeout(timer);
    const due = Math.min(heardAt + idleMs, movedAt + pingFactor * idleMs, endAt) - performance.now();
    // Times only move on, so a chunk costs no timer: one that fires too early is set again.
    if (due <= 0) end("idle");
    else timer = setTimeout(arm, Math.min(due + 1, maxTimer));
  }
  const onAbort = (): void => end("aborted");
  caller.addEventListener("abort", onAbort, { once: true });
  if (state === "open") arm();
  else controller.abort();

  return {
    signal: controller.signal,
    get state() {
      return state;
    },
    heard: () => {
      heardAt = performance.now();
    },
    moved: () => {
      movedAt = performance.now();
    },
    limit: (ms) => {
      endAt = Math.min(endAt, performance.now() + ms);
      if (state === "open") arm();
    },
    close: () => {
      clearTimeout(timer);
      caller.removeEventListener("abort", onAbort);
    },
  };
}

/** Longest delay that timers take; above it they fire at once. */
const maxTimer = 2 ** 31 - 1;
