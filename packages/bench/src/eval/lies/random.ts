import { createRandom } from "../../random.ts";

/** Choices of one seed, the same on every machine. */
export interface Random {
  whole(least: number, most: number): number;
  chance(likely: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Choices of their own for each seed and number, so that one ending can be made again alone. */
export function randomFor(seed: string, ...parts: readonly (string | number)[]): Random {
  let mixed = 0x811c9dc5;
  for (const char of [seed, ...parts].join("\n")) mixed = Math.imul(mixed ^ (char.codePointAt(0) ?? 0), 0x01000193);
  const next = createRandom(mixed);
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    whole,
    chance: (likely) => next() < likely,
    pick(list) {
      const found = list[whole(0, list.length - 1)];
      if (found === undefined) throw new Error("there is nothing to pick from");
      return found;
    },
  };
}
