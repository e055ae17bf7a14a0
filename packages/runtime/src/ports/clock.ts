/** Wall-clock milliseconds, and timers that a test can move. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
