/**
 * A request of several parts can be several wishes. Each part's best tools have places beside what fits the whole, and a part
 * whose tools have places already leaves the next to the others: many alike for one wish don't take those of the rest.
 */

/** How the best part weighs against the whole; a part that matches little counts almost as much. */
const partWeight = 1;
const partPower = 0.25;
/** What a part loses for each tool before that fits it, by how well it does. */
const served = 0.4;
/** Of so many tools the order is looked at. */
export const mostInTurn = 100;

/** What each tool scores for the whole and for each part, the highest of each, and what its parameters make of that. */
export interface Wishes {
  readonly whole: Float64Array;
  readonly highestOfWhole: number;
  readonly parts: readonly { readonly scores: Float64Array; readonly highest: number; readonly weight: number }[];
  readonly factors: Float64Array;
}

/** None where there is but one part, or nothing is found. */
export function wishesOf(whole: Float64Array, parts: readonly Float64Array[]): Wishes | null {
  const found = parts.map((scores) => ({ scores, highest: maximum(scores) })).filter(({ highest }) => highest > 0);
  const highestOfWhole = maximum(whole);
  if (parts.length < 2 || found.length === 0 || highestOfWhole === 0) return null;
  const top = Math.max(...found.map(({ highest }) => highest));
  return {
    whole,
    highestOfWhole,
    parts: found.map((part) => ({ ...part, weight: (part.highest / top) ** partPower })),
    factors: new Float64Array(whole.length).fill(1),
  };
}

/** What each tool scores where no part is served yet, without the factors. */
export function withParts(wishes: Wishes): Float64Array {
  const open = wishes.parts.map(() => 1);
  return wishes.whole.map((score, tool) => (score === 0 ? 0 : scoreOf(wishes, tool, open)));
}

function scoreOf({ whole, highestOfWhole, parts }: Wishes, tool: number, open: readonly number[]): number {
  let most = 0;
  for (let number = 0; number < parts.length; number += 1) {
    const { scores, highest, weight } = parts[number]!;
    most = Math.max(most, (scores[tool]! / highest) * weight * open[number]!);
  }
  return whole[tool]! / highestOfWhole + partWeight * most;
}

/** The tools found, best first, where each takes something from the parts that it fits. Scores only fall on the way. */
export function inTurn(
  wishes: Wishes,
  scores: Float64Array,
  found: readonly number[],
): { readonly tool: number; readonly score: number }[] {
  const open = wishes.parts.map(() => 1);
  const left = found.slice(0, mostInTurn);
  const taken: { tool: number; score: number }[] = [];
  while (left.length > 0) {
    let at = 0;
    let score = -1;
    left.forEach((tool, place) => {
      const one = scoreOf(wishes, tool, open) * wishes.factors[tool]!;
      if (one <= score) return;
      at = place;
      score = one;
    });
    const [tool] = left.splice(at, 1) as [number];
    taken.push({ tool, score });
    wishes.parts.forEach(({ scores: ofPart, highest }, number) => {
      open[number]! *= 1 - served * (ofPart[tool]! / highest);
    });
  }
  const lowest = taken.at(-1)?.score ?? 0;
  return [...taken, ...found.slice(mostInTurn).map((tool) => ({ tool, score: Math.min(scores[tool]!, lowest) }))];
}

function maximum(numbers: Float64Array): number {
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  return most;
}
