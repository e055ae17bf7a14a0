/** Rings a live driver when its inbox has news, also from another process. */
export interface Wakeups {
  ring(session: string): void;
  /** Resolves at the next ring, when the signal aborts, or at the latest after 100 ms of polling. */
  listen(session: string, signal: AbortSignal): Promise<void>;
}
