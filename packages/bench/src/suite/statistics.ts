/** The arithmetic of the suite: nothing here measures. */

/** The value below which the part `q` of the values lies, interpolated. NaN where there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** What several rounds say of one figure. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly rounds: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const known = values.filter((value) => !Number.isNaN(value));
  return { median: median(known), least: quantile(known, 0), most: quantile(known, 1), rounds: known.length };
}

/** Ratios pair by pair: each round's value over the same round's value of the other. A machine that slows down slows both. */
export function ratios(values: readonly number[], others: readonly number[]): number[] {
  return values.slice(0, others.length).map((value, round) => value / (others[round] ?? Number.NaN));
}

/** Differences step by step, so that each is taken at the same length of history; of the steps both have. */
export function differences(steps: readonly number[], others: readonly number[]): number[] {
  return steps.slice(0, others.length).map((value, step) => value - (others[step] ?? Number.NaN));
}

/** Where "early" and "late" in a run are: a tenth of its steps, 100 at most, without the first ones that load and warm. */
export function windowsOf(steps: number): { readonly early: readonly [number, number]; readonly late: readonly [number, number] } {
  const width = Math.max(1, Math.min(100, Math.floor(steps / 4)));
  const first = steps > 2 * width ? width : 0;
  return { early: [first, first + width], late: [steps - width, steps] };
}

/**
 * Whether a figure can be quoted: at least three rounds, and the half of them in the middle within a third of the median.
 * What is taken while other work loads the machine usually is not.
 */
export function isSteady(values: readonly number[]): boolean {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length < 3) return false;
  return quantile(known, 0.75) - quantile(known, 0.25) <= Math.abs(median(known)) / 3;
}
