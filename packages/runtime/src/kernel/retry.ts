import type { ModelError } from "@holdfast/protocol";

/** How long a lost connection is tried again before the turn gives up, where nothing else is said. */
const lostConnectionMs = 10 * 60 * 1000;
const longestPauseMs = 30_000;

/**
 * When to sample again after a failure, ms; null where trying again can't help or the time is up. The first retry comes
 * within 0.3 s, later ones double with jitter; a time the provider named is kept exactly. Bounded by time, never by their
 * number: a provider that is too busy now is waited for as long as the turn has time (`leftMs`).
 */
export function retryDelay(
  error: ModelError,
  attempt: number,
  sinceFirstFailureMs: number,
  random: number,
  leftMs: number,
  retryForMs?: number,
): number | null {
  switch (error.class) {
    case "rate_limited":
    case "overloaded":
    case "network":
    case "cut": {
      const own = attempt === 1 ? 150 + 150 * random : Math.min(longestPauseMs, 250 * 2 ** attempt) * (0.75 + 0.5 * random);
      const delay = Math.round(error.retryAfterMs ?? own);
      const isBusy = error.class === "rate_limited" || error.class === "overloaded";
      const bound = retryForMs ?? (isBusy ? Infinity : lostConnectionMs);
      return sinceFirstFailureMs + delay > bound || delay > leftMs ? null : delay;
    }
    case "auth":
    case "invalid_request":
    case "context_overflow":
    case "refused":
    case "script":
      return null;
  }
}
