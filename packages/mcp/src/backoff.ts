/** How long a server that ended, or did not start, is left alone before it is tried again, ms, by how often in a row. */
const delays = [0, 1_000, 5_000, 15_000, 60_000] as const;

/** `failures` counts from 1. The first time it is tried again as soon as it is needed. */
export function retryAfter(failures: number): number {
  return delays[Math.min(failures, delays.length) - 1] ?? 0;
}
