import type { DocumentChunk } from "@holdfast/runtime";

/** Characters of a piece: about what answers a question, and no more. */
const longestChunk = 1_500;
const shortestChunk = 300;
const longestHeading = 120;
/** Pieces of one document: a text of nothing but headings has no end of them. */
export const mostChunks = 5_000;

/**
 * A document in pieces, each with its lines and the headings it stands under (`#` of Markdown and AsciiDoc's `=`, or a line that
 * is underlined). A piece ends before a heading, else after a blank line, else where it would grow too long. Pure.
 */
export function chunksOf(text: string): DocumentChunk[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const chunks: DocumentChunk[] = [];
  const headings: string[] = [];
  let begun = 0;
  let size = 0;
  let isFenced = false;
  const close = (end: number): void => {
    if (chunks.length >= mostChunks) return;
    const own = lines.slice(begun, end).join("\n");
    if (own.trim() !== "") {
      const heading = headings.filter((one) => one !== undefined && one !== "").join(" > ");
      for (const part of parts(own)) chunks.push({ line: begun + 1, endLine: end, heading, text: part });
    }
    [begun, size] = [end, 0];
  };
  lines.forEach((line, number) => {
    if (/^\s*(?:```|~~~)/.test(line)) isFenced = !isFenced;
    const heading = isFenced ? null : headingAt(lines, number);
    if (heading !== null) {
      close(number);
      headings.length = heading.level - 1;
      headings[heading.level - 1] = heading.text.slice(0, longestHeading);
    } else if (size + line.length > longestChunk && size > 0) close(number);
    else if (line.trim() === "" && !isFenced && size > longestChunk - shortestChunk) close(number);
    size += line.length + 1;
  });
  close(lines.length);
  return chunks;
}

function headingAt(lines: readonly string[], number: number): { level: number; text: string } | null {
  const line = lines[number]!;
  if (line.length > longestHeading * 2) return null;
  const marked = /^(#{1,6}|={1,6})\s+(\S.*?)\s*#*$/.exec(line);
  if (marked !== null) return { level: marked[1]!.length, text: marked[2]! };
  const under = lines[number + 1] ?? "";
  if (line.trim() === "" || /^\s/.test(line) || line.length > longestHeading) return null;
  if (/^={3,}\s*$/.test(under)) return { level: 1, text: line.trim() };
  return /^-{3,}\s*$/.test(under) && !line.includes("|") ? { level: 2, text: line.trim() } : null;
}

/** Lines that are too long by themselves are cut. */
function parts(text: string): string[] {
  if (text.length <= longestChunk * 2) return [text];
  return Array.from({ length: Math.ceil(text.length / longestChunk) }, (_, at) =>
    text.slice(at * longestChunk, (at + 1) * longestChunk).toWellFormed(),
  );
}
