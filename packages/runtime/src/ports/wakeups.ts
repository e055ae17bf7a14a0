/** What a worker takes on. */
export interface Service {
  /** Sessions that should be driven now. Asked again and again: what an engine knows of them can be lost. */
  readonly due: () => Promise<readonly string[]>;
  /** Drives one. One that throws, or is due again at once, is left alone for a while. */
  readonly work: (session: string) => Promise<void>;
  /** Sessions that are worked on together at most. */
  readonly atOnce: number;
  /** Return as soon as nothing is due; else serve until the signal aborts. */
  readonly untilIdle: boolean;
  readonly signal: AbortSignal;
}

/** Wakes drivers, and hands sessions that nobody drives to workers. It holds nothing that the log doesn't know. */
export interface Wakeups {
  /** Rings a live driver and the workers when a session's inbox has news, also those of another process. */
  ring(session: string): void;
  /** Resolves at the next ring, when the signal aborts, or at the latest after 100 ms of polling. */
  listen(session: string, signal: AbortSignal): Promise<void>;
  /** Hands what is due to `work`, a session to one at a time, and resolves when all of that has ended. */
  serve(service: Service): Promise<void>;
}
