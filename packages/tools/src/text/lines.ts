export type Ending = "" | "\n" | "\r\n";

/** Only LF and CRLF end a line: a form feed, a lone CR or U+2028 is part of it. */
export interface Line {
  readonly text: string;
  /** Empty only for a last line without a final newline. */
  readonly ending: Ending;
}

export function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
    const isCrlf = at > from && text[at - 1] === "\r";
    lines.push({ text: text.slice(from, isCrlf ? at - 1 : at), ending: isCrlf ? "\r\n" : "\n" });
    from = at + 1;
  }
  if (from < text.length) lines.push({ text: text.slice(from), ending: "" });
  return lines;
}

export function joinLines(lines: readonly Line[]): string {
  return lines.map((line) => line.text + line.ending).join("");
}

/** The ending that most lines have; LF where there is none. */
export function commonEnding(lines: readonly Line[]): "\n" | "\r\n" {
  let balance = 0;
  for (const line of lines) balance += line.ending === "\r\n" ? 1 : line.ending === "\n" ? -1 : 0;
  return balance > 0 ? "\r\n" : "\n";
}

export function describeEndings(lines: readonly Line[]): string | null {
  const crlf = lines.filter((line) => line.ending === "\r\n").length;
  const lf = lines.filter((line) => line.ending === "\n").length;
  if (crlf === 0) return null;
  return lf === 0 ? "CRLF line endings" : "mixed line endings (LF and CRLF)";
}

/** How many items two lists share at their start, and then at their end. */
export function commonEnds<T>(a: readonly T[], b: readonly T[]): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return { head, tail };
}

/**
 * Gives new text (LF only) the endings of the text it replaces, line by line: unchanged lines at both ends keep theirs,
 * a changed one takes that of the line it stands for, any other that of the line before it. A last piece without a
 * newline gets none.
 */
export function withEndingsOf(before: readonly Line[], text: string, fallback: "\n" | "\r\n"): string {
  const fresh = splitLines(text);
  const { tail } = commonEnds(
    before.map((line) => line.text),
    fresh.map((line) => line.text),
  );
  let last: Ending = before[0]?.ending || fallback;
  return joinLines(
    fresh.map((line, index) => {
      const fromEnd = fresh.length - index;
      const twin = fromEnd <= tail ? before[before.length - fromEnd] : index < before.length - tail ? before[index] : undefined;
      if (line.ending === "") return line;
      last = twin?.ending || last;
      return { text: line.text, ending: last };
    }),
  );
}
