/** Lines of what differs, before times after, up to which they are matched; beyond it only lines that stand there once are. */
const mostPairs = 4_000_000;

/** The lines of a text, without their ends. The last is empty where the text ends with a line end, and then isn't one. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * Which line of the earlier text a line of the later one was (both from 0); null where it was not there: it was written, or
 * changed, between the two. Of equal lines those are matched that keep the most of the others in their order.
 */
export function lineBefore(before: readonly string[], after: readonly string[], line: number): number | null {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  if (line < head) return line;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  if (line >= after.length - tail) return line - after.length + before.length;
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  const at = old.length * fresh.length <= mostPairs ? matched(old, fresh, line - head) : onlyOne(old, fresh, line - head);
  return at === null ? null : at + head;
}

/** By the longest common subsequence. */
function matched(old: readonly string[], fresh: readonly string[], line: number): number | null {
  const width = fresh.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      longest[at] = old[i] === fresh[j] ? (longest[at + width + 1] ?? 0) + 1 : Math.max(longest[at + width] ?? 0, longest[at + 1] ?? 0);
    }
  }
  for (let i = 0, j = 0; i < old.length && j <= line;) {
    const at = i * width + j;
    if (old[i] === fresh[j]) {
      if (j === line) return i;
      i += 1;
      j += 1;
    } else if ((longest[at + width] ?? 0) >= (longest[at + 1] ?? 0)) i += 1;
    else j += 1;
  }
  return null;
}

function onlyOne(old: readonly string[], fresh: readonly string[], line: number): number | null {
  const text = fresh[line] ?? "";
  const first = old.indexOf(text);
  const isOne = first !== -1 && old.lastIndexOf(text) === first && fresh.indexOf(text) === fresh.lastIndexOf(text);
  return isOne ? first : null;
}
