import type { Wakeups } from "@holdfast/runtime";

/** How long news of another process may go unheard. */
const pollMs = 100;

/** Rings listeners of this process at once; those of another find the news when they next look. */
export function createWakeups(): Wakeups {
  const listeners = new Map<string, Set<() => void>>();
  return {
    ring: (session) => {
      for (const listener of listeners.get(session) ?? []) listener();
    },
    listen: (session, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve();
          return;
        }
        const own = listeners.get(session) ?? new Set();
        listeners.set(session, own);
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          own.delete(done);
          if (own.size === 0) listeners.delete(session);
          resolve();
        };
        const timer = setTimeout(done, pollMs);
        own.add(done);
        signal.addEventListener("abort", done);
      }),
  };
}
