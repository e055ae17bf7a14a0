/** What an evaluation found: its figures, each with the goal it is held to. */
export interface Figure {
  readonly name: string;
  /** A share from 0 to 1, a count, or milliseconds, as the name says. */
  readonly value: number;
  /** As a person reads it: `0 of 100`, `≥ 0.95`. Without one the figure only informs. */
  readonly goal?: string;
  readonly isMet?: boolean;
  /** How many cases the figure stands on. */
  readonly n?: number;
  /** Where the value lies with 95 % confidence. */
  readonly interval?: readonly [low: number, high: number];
}

export interface Evaluation {
  readonly figures: readonly Figure[];
  /** What a person wants to see when a figure falls short: the cases that failed, one an entry, JSON. */
  readonly misses: readonly object[];
}

export interface EvaluationOptions {
  /** Where the cases are; each evaluation has its own default. */
  readonly data?: string;
  readonly count?: number;
  readonly seed?: string;
  /** What else was given, as `--name value` pairs of this evaluation's own. */
  readonly rest: readonly string[];
}

export type Evaluate = (options: EvaluationOptions) => Promise<Evaluation>;
