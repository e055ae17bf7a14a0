import type { Spread } from "./statistics.ts";
import { isSteady, spreadOf } from "./statistics.ts";

/** A line of a table: what was measured, what came out, and how that stands to its goal. */
export interface Row {
  readonly figure: string;
  readonly value: string;
  readonly goal: string | null;
  /** Null where there is no goal. */
  readonly isMet: boolean | null;
  /** False: the rounds lie too far apart, or are too few, to quote the figure. */
  readonly isSteady: boolean;
  /** Least and most of the rounds; where the value is one of several figures, of the one that the goal is about. */
  readonly spread: string;
}

export interface Goal {
  readonly text: string;
  readonly most?: number;
  readonly least?: number;
}

/** A row of one figure, taken in several rounds. `unit` stands behind the number. */
export function rowOf(figure: string, values: readonly number[], unit: string, goal?: Goal, note = ""): Row {
  const spread = spreadOf(values);
  if (Number.isNaN(spread.median)) throw new Error(`${figure}: nothing was measured`);
  return {
    figure,
    value: `${number(spread.median)}${unit}${note === "" ? "" : `; ${note}`}`,
    goal: goal?.text ?? null,
    isMet: goal === undefined ? null : spread.median <= (goal.most ?? Infinity) && spread.median >= (goal.least ?? -Infinity),
    isSteady: isSteady(values),
    spread: spreadText(spread, unit),
  };
}

/** A row that counts something: it is the same each time, or it is wrong. */
export function countOf(figure: string, value: string, goal: string, isMet: boolean): Row {
  return { figure, value, goal, isMet, isSteady: true, spread: "" };
}

function spreadText({ least, most, rounds }: Spread, unit: string): string {
  return `${number(least)} to ${number(most)}${unit}, ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
}

export function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });
}
