import type { Clock, Model } from "@holdfast/runtime";

/** Longest that one session's failure without a named time holds up the others. */
const longestMs = 20_000;

interface Limit {
  until: number;
  failures: number;
}

/** Of this process: all its sessions, and their children, share a provider's rate. */
const limits = new Map<string, Limit>();

/**
 * A model whose provider's rate is shared by name: while one session was told to wait, the others don't ask either. They
 * end at once as `rate_limited` with what is left of the time, so that their own waiting is seen and can be interrupted.
 */
export function sharingLimit(model: Model, provider: string, clock: Pick<Clock, "now">): Model {
  return {
    ...model,
    async *sample(request, signal) {
      const limit = limits.get(provider) ?? { until: 0, failures: 0 };
      limits.set(provider, limit);
      const left = limit.until - clock.now();
      // Timers may be a little early.
      if (left > 5) {
        const message = `${provider} limits the rate of ${model.id}: another session was just told to wait`;
        yield { type: "failed", error: { class: "rate_limited", message, status: null, code: null, retryAfterMs: left } };
        return;
      }
      for await (const part of model.sample(request, signal)) {
        if (part.type === "finished") limit.failures = 0;
        if (part.type === "failed" && part.error.class === "rate_limited") {
          limit.failures += 1;
          // Less than the session's own pause: it must not find its own gate closed.
          const own = limit.failures === 1 ? 100 : Math.min(longestMs, 170 * 2 ** limit.failures);
          limit.until = Math.max(limit.until, clock.now() + (part.error.retryAfterMs ?? own));
        }
        yield part;
      }
    },
  };
}
