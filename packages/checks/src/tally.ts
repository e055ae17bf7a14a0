/** What is known of an output so far. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  /** Some summary was found. */
  isKnown: boolean;
  /** Tests by name, and whether one of that name passed. */
  readonly names: Map<string, boolean>;
  readonly summaries: Summary[];
  /** The runner whose reader is at work. */
  runner: string;
  /** Runners that say more than what failed, as this output shows. */
  readonly talks: { readonly go: boolean; readonly maven: boolean };
}

/** What one summary in the output says. */
export interface Summary {
  readonly runner: string;
  /** Passed and failed tests. */
  readonly ran: number;
  /** Its runner, called like this, sums up only what failed: a pass shows no counts. */
  readonly onlyOnFailure: boolean;
}

/** Reads one line of output; true where the line was a summary or a test of its runner. */
export type Reader = (line: string, tally: Tally) => void;

export function add(tally: Tally, counts: { passed?: number; failed?: number; skipped?: number }, onlyOnFailure = false): void {
  tally.passed += counts.passed ?? 0;
  tally.failed += counts.failed ?? 0;
  tally.skipped += counts.skipped ?? 0;
  tally.isKnown = true;
  const isOfSkipped = counts.skipped !== undefined && counts.passed === undefined;
  if (!isOfSkipped) tally.summaries.push({ runner: tally.runner, ran: (counts.passed ?? 0) + (counts.failed ?? 0), onlyOnFailure });
}

/** The number before each of `words` in a summary such as `3 passed | 1 failed`. */
export function before(line: string, words: string): number {
  return [...line.matchAll(new RegExp(`(\\d+) (?:${words})\\b`, "g"))].reduce((sum, [, count]) => sum + Number(count), 0);
}

export function addName({ names }: Tally, name: string, hasPassed: boolean): void {
  names.set(name, hasPassed || names.get(name) === true);
}
