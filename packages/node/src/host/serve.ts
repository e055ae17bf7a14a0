import type { Service } from "@holdfast/runtime";

/** How often it is asked what is due: deadlines and dead drivers ring no bell. */
const askEveryMs = 1_000;
/** How long a session is left alone that couldn't be driven; doubled each time, up to an hour. */
const firstRestMs = 10_000;
const longestRestMs = 60 * 60_000;

interface Rest {
  readonly until: number;
  readonly ms: number;
}

/** Workers of one process. `wait` resolves after a time, or earlier when somebody rings. */
export async function serve(
  { due, work, atOnce, untilIdle, signal }: Service,
  wait: (ms: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const running = new Map<string, Promise<void>>();
  const rests = new Map<string, Rest>();

  const rest = (session: string): void => {
    const ms = Math.min(longestRestMs, (rests.get(session)?.ms ?? firstRestMs / 2) * 2);
    rests.set(session, { ms, until: performance.now() + ms });
  };
  const start = (session: string): void => {
    const run = work(session)
      .then(
        // Driven, it is due no more; where it is, it rests longer each time.
        () => rest(session),
        () => rest(session),
      )
      .finally(() => running.delete(session));
    running.set(session, run);
  };
  const isResting = (session: string): boolean => (rests.get(session)?.until ?? 0) > performance.now();

  try {
    while (!signal.aborted) {
      const sessions = await due();
      for (const session of rests.keys()) if (!sessions.includes(session) && !running.has(session)) rests.delete(session);
      for (const session of sessions) {
        if (running.size >= atOnce) break;
        if (!running.has(session) && !isResting(session)) start(session);
      }
      if (running.size === 0 && untilIdle) break;
      await Promise.race([wait(askEveryMs, signal), ...running.values()]);
    }
  } finally {
    // Also where it can't be asked any more what is due: what was begun is brought to its end.
    await Promise.all(running.values());
  }
}
