/** Wall-clock milliseconds, and timers that a test can move. */
export interface Clock {
  now(): number;
  /** Milliseconds that the machine was awake since some moment, whatever is done to the wall clock; none where nobody knows. */
  awake?(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
