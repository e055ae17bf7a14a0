import { isAscii, type TextFile } from "./encoding.ts";
import { describeEndings, joinLines, splitLines, withEndingsOf, type Line } from "./lines.ts";

export interface Rewritten {
  readonly text: string;
  readonly hasBom: boolean;
  readonly notes: readonly string[];
}

/** New content for a whole file, which keeps the file's byte order mark and, unless the content spells out CRLF, its line endings. */
export async function inStyleOf(before: TextFile, content: string): Promise<Rewritten> {
  const text = content.startsWith("\ufeff") ? content.slice(1) : content;
  if (!before.text.includes("\r\n") || text.includes("\r\n")) return { text, hasBom: before.hasBom, notes: [] };
  const lines = splitLines(before.text);
  const isUniform = lines.every((line) => line.ending !== "\n");
  const kept = isUniform ? text.replaceAll("\n", "\r\n") : await aligned(lines, text);
  return { text: kept, hasBom: before.hasBom, notes: [`Kept the file's ${describeEndings(lines)}.`] };
}

/** Whether the file's unknown encoding forbids this content. */
export function asciiOnly(before: TextFile, content: string): boolean {
  return before.encoding === "8-bit" && !isAscii(content);
}

/** In a file of mixed endings each line that stays keeps its own, and one that changes takes that of the line it replaces. */
async function aligned(lines: readonly Line[], text: string): Promise<string> {
  const { diffArrays } = await import("diff");
  const fresh = splitLines(text).map((line) => line.text);
  const parts = diffArrays(
    lines.map((line) => line.text),
    fresh,
    { maxEditLength: 2000 },
  );
  if (parts === undefined) return withEndingsOf(lines, text, "\n");
  const endsWithNewline = text.endsWith("\n");
  const result: Line[] = [];
  let at = 0;
  let gone: readonly Line[] = [];
  for (const part of parts) {
    if (part.removed) {
      gone = lines.slice(at, at + part.value.length);
      at += part.value.length;
    } else if (part.added) {
      for (const [index, text] of part.value.entries()) {
        result.push({ text, ending: gone[index]?.ending || result.at(-1)?.ending || lines[at]?.ending || "\n" });
      }
    } else {
      gone = [];
      for (const text of part.value) result.push({ text, ending: lines[at++]?.ending || "\n" });
    }
  }
  return joinLines(result.map((line, index) => (index === result.length - 1 && !endsWithNewline ? { text: line.text, ending: "" } : line)));
}
