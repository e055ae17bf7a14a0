/**
 * For the lines of one text, by their place in it: the lines that have one near them, and what it counts there. A byte each, as
 * a session can have hundreds of thousands of lines: how far, and in which way.
 */
export interface Around {
  /** Where the ties of each line begin; one more at the end. */
  readonly starts: Uint32Array;
  readonly ties: Uint8Array;
}

/** Added to the distance of a line that stands below the one it is near to; of one that is its equal there. */
const isBelow = 100;
const isEqual = 150;

interface Ties {
  /** `line` belongs with one above it, or below it. In the order of `line`. */
  above(line: number, other: number): void;
  below(line: number, other: number, isAlike: boolean): void;
  readonly count: number;
  readonly lines: number;
  readonly each: (take: (other: number, tie: number) => void) => void;
}

/** Distances above are below 100, those below are below 50. */
export function createTies(lines: number): Ties {
  let to = new Uint32Array(64);
  let ties = new Uint8Array(64);
  let count = 0;
  const put = (other: number, tie: number): void => {
    if (count === to.length) {
      const [longerTo, longerTies] = [new Uint32Array(count * 2), new Uint8Array(count * 2)];
      longerTo.set(to);
      longerTies.set(ties);
      [to, ties] = [longerTo, longerTies];
    }
    to[count] = other;
    ties[count] = tie;
    count += 1;
  };
  return {
    above: (line, other) => put(other, line - other),
    below: (line, other, isAlike) => put(other, other - line + (isAlike ? isEqual : isBelow)),
    get count() {
      return count;
    },
    lines,
    each(take) {
      for (let at = 0; at < count; at += 1) take(to[at]!, ties[at]!);
    },
  };
}

/** The other way round than they were found: it says of each line what it is near to. */
export function aroundOf({ lines, count, each }: Ties): Around {
  const starts = new Uint32Array(lines + 1);
  each((other) => (starts[other + 1]! += 1));
  for (let at = 1; at < starts.length; at += 1) starts[at]! += starts[at - 1]!;
  const next = starts.slice();
  const ties = new Uint8Array(count);
  each((other, tie) => (ties[next[other]!++] = tie));
  return { starts, ties };
}

/** Each line that has `line` near it, with what that counts there. */
export function eachAround({ starts, ties }: Around, line: number, take: (near: number, weight: number) => void): void {
  for (let at = starts[line]!; at < starts[line + 1]!; at += 1) {
    const tie = ties[at]!;
    if (tie < isBelow) take(line + tie, Math.max(0.3, 0.9 - 0.03 * tie));
    else if (tie < isEqual) take(line - (tie - isBelow), 0.25);
    else take(line - (tie - isEqual), 0.6);
  }
}
