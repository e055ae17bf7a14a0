import { closeSync, openSync, utimesSync, watch } from "node:fs";
import type { Wakeups } from "@holdfast/runtime";
import { serve } from "./serve.ts";

/** How long news of another process may go unheard where its bell isn't. */
const pollMs = 100;

/**
 * Rings listeners of this process at once. Those of another hear it through a file, the bell: ringing touches it. Where files
 * can't be watched, they find the news when they next look. `bell` null: nobody else is there.
 */
export function createWakeups(bell: string | null): Wakeups {
  const listeners = new Map<string, Set<() => void>>();
  const onAnyRing = new Set<() => void>();
  let isHearing = false;
  let hasListened = false;

  const wakeAll = (): void => {
    for (const own of listeners.values()) for (const listener of own) listener();
    for (const listener of onAnyRing) listener();
  };
  const hear = (): void => {
    if (isHearing || bell === null) return;
    isHearing = true;
    try {
      closeSync(openSync(bell, "a", 0o600));
      // What can't be watched any more is polled.
      watch(bell, { persistent: false }, wakeAll).on("error", () => undefined);
    } catch {
      // No watches left, or a file system without them.
    }
  };
  const touch = (): void => {
    if (bell === null) return;
    try {
      utimesSync(bell, new Date(), new Date());
    } catch {
      // Nobody has listened yet.
    }
  };
  const sleep = (ms: number, signal: AbortSignal, place: (wake: () => void) => () => void): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        leave();
        resolve();
      };
      const timer = setTimeout(done, ms);
      const leave = place(done);
      signal.addEventListener("abort", done);
    });

  return {
    ring: (session) => {
      for (const listener of listeners.get(session) ?? []) listener();
      for (const listener of onAnyRing) listener();
      touch();
    },
    listen: (session, signal) => {
      // What ends within the first look's time is spared the watch.
      if (hasListened) hear();
      hasListened = true;
      return sleep(pollMs, signal, (wake) => {
        const own = listeners.get(session) ?? new Set();
        listeners.set(session, own.add(wake));
        return () => {
          own.delete(wake);
          if (own.size === 0) listeners.delete(session);
        };
      });
    },
    serve: (service) => {
      hear();
      return serve(service, (ms, signal) =>
        sleep(ms, signal, (wake) => {
          onAnyRing.add(wake);
          return () => onAnyRing.delete(wake);
        }),
      );
    },
  };
}
