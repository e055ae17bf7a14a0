/** Differences between two texts, line by line. */

/** `old[oldStart, oldEnd)` was replaced by `next[newStart, newEnd)`. */
export interface Change {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Edits looked for before the rest counts as replaced whole; bounds time and memory. */
const mostEdits = 2_000;

/** Lines with their line ends, so that a changed line end is a change. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Shortest edit script (Myers 1986, "An O(ND) Difference Algorithm"), as changes in order. */
export function lineChanges(old: readonly string[], next: readonly string[]): Change[] {
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < next.length - head && old[old.length - 1 - tail] === next[next.length - 1 - tail]) tail += 1;
  const a = old.slice(head, old.length - tail);
  const b = next.slice(head, next.length - tail);
  if (a.length === 0 && b.length === 0) return [];
  const pairs = a.length === 0 || b.length === 0 ? [] : commonLines(a, b);
  const changes: Change[] = [];
  let [x, y] = [0, 0];
  for (const [i, j] of [...pairs, [a.length, b.length] as const]) {
    if (i > x || j > y) changes.push({ oldStart: head + x, oldEnd: head + i, newStart: head + y, newEnd: head + j });
    [x, y] = [i + 1, j + 1];
  }
  return changes;
}

/** Indexes of the lines that stay, in order; none where there are too many edits. */
function commonLines(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const most = Math.min(a.length + b.length, mostEdits);
  const offset = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(reach.slice(offset - d - 1, offset + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(reach, offset + k - 1) < at(reach, offset + k + 1));
      let x = down ? at(reach, offset + k + 1) : at(reach, offset + k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach[offset + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length, d);
    }
  }
  return [];
}

function walkBack(trace: readonly Int32Array[], endX: number, endY: number, edits: number): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [endX, endY];
  for (let d = edits; d > 0; d -= 1) {
    const reach = trace[d] ?? new Int32Array();
    const k = x - y;
    // `reach` covers diagonals -d-1…d+1 as they stood before round d.
    const down = k === -d || (k !== d && at(reach, k + d) < at(reach, k + d + 2));
    const fromK = down ? k + 1 : k - 1;
    const fromX = at(reach, fromK + d + 1);
    const startX = down ? fromX : fromX + 1;
    while (x > startX) pairs.push([--x, --y]);
    [x, y] = [fromX, fromX - fromK];
  }
  while (x > 0 && y > 0) pairs.push([--x, --y]);
  return pairs.reverse();
}

function at(values: Int32Array, index: number): number {
  return values[index] ?? 0;
}
