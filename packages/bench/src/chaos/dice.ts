import { createRandom } from "../random.ts";

export interface Dice {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from 0 to below `below`. */
  whole(below: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

export function createDice(seed: number): Dice {
  const next = createRandom(seed);
  const whole = (below: number): number => Math.floor(next() * below);
  return { next, whole, chance: (probability) => next() < probability, pick: (choices) => choices[whole(choices.length)] ?? choices[0] };
}
