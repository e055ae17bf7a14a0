/** Columns that a character takes in a terminal: 0, 1 or 2. */
function cellsOf(character: string): number {
  if (character >= " " && character <= "~") return 1;
  if (/^[\p{M}\u200c\u200d\ufe0f]/u.test(character)) return 0;
  return /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u.test(
    character,
  )
    ? 2
    : 1;
}

/** Columns that sanitized text takes on one line. */
export function cells(text: string): number {
  let sum = 0;
  for (const character of text) sum += cellsOf(character);
  return sum;
}

/** Cuts one line to `width` columns and marks the cut. */
export function fit(text: string, width: number): string {
  if (cells(text) <= width) return text;
  let sum = 0;
  let kept = "";
  for (const character of text) {
    sum += cellsOf(character);
    if (sum > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - cells(text)));
}

/** Sanitized text as a stream gets it: a terminal by its width, anything else as it is. */
export function spread(text: string, stream: { readonly isTTY: boolean; readonly columns: number }): string {
  return stream.isTTY ? wrap(text, stream.columns).join("\n") : text;
}

/** Breaks sanitized text into lines of at most `width` columns: at blanks where it can, inside a word where it must. */
export function wrap(text: string, width: number): string[] {
  const limit = Math.max(1, width);
  return text.split("\n").flatMap((line) => wrapLine(line, limit));
}

function wrapLine(line: string, width: number): string[] {
  if (cells(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const piece of line.split(/(?<= )/)) {
    const size = cells(piece.trimEnd());
    if (used > 0 && used + size > width) {
      lines.push(current.trimEnd());
      current = "";
      used = 0;
    }
    if (size <= width) {
      current += piece;
      used += cells(piece);
      continue;
    }
    for (const character of piece) {
      const cell = cellsOf(character);
      if (used > 0 && used + cell > width) {
        lines.push(current);
        current = "";
        used = 0;
      }
      current += character;
      used += cell;
    }
  }
  if (current.trimEnd() !== "" || lines.length === 0) lines.push(current.trimEnd());
  return lines;
}

/** A last column with less room than this can't be read. */
const narrowest = 14;

/**
 * A table of sanitized cells with a heading row. The last column is wrapped into what is left of `width`; where that would
 * be too narrow to read, the column `cut` gives way first, and then the last column goes below its row. Ids are never cut:
 * they are there to be copied.
 */
export function table(rows: readonly (readonly string[])[], width: number, cut: number | null = null): string[] {
  const last = (rows[0]?.length ?? 1) - 1;
  const sizes = Array.from({ length: last + 1 }, (_, column) => Math.max(...rows.map((row) => cells(row[column] ?? ""))));
  const fixed = () => sizes.slice(0, last).reduce((sum, size) => sum + size + 2, 0);
  const wanted = Math.min(sizes[last] ?? 0, 24);
  if (cut !== null) sizes[cut] = Math.min(sizes[cut] ?? 0, Math.max(12, (sizes[cut] ?? 0) - (fixed() + wanted - width)));
  const room = width - fixed();
  const goesBelow = room < Math.min(wanted, narrowest);
  return rows.flatMap((row) => {
    const start = row
      .slice(0, last)
      .map((cell, column) => `${pad(fit(cell, sizes[column] ?? 0), sizes[column] ?? 0)}  `)
      .join("");
    if (goesBelow) return [start.trimEnd(), ...wrap(row[last] ?? "", width - 2).map((line) => `  ${line}`.trimEnd())];
    const lines = wrap(row[last] ?? "", room);
    return lines.map((line, index) => ((index === 0 ? start : " ".repeat(cells(start))) + line).trimEnd());
  });
}

/** The first and last lines of a text of many, with what was left out in between. */
export function fold(lines: readonly string[], most: number): string[] {
  if (lines.length <= most) return [...lines];
  const head = Math.max(1, Math.floor((most - 1) / 3));
  const tail = Math.max(1, most - 1 - head);
  return [...lines.slice(0, head), `… ${lines.length - head - tail} more lines …`, ...lines.slice(-tail)];
}
