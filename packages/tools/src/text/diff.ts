import type { TextFile } from "./encoding.ts";

const contextLines = 2;
const maxLines = 80;
const maxChars = 4000;
const maxLine = 200;
/** Differences after which a diff is not worked out: it costs the square of them, and nobody reads it. */
const maxDifferences = 400;
/** Characters of a changed part above which only its lines are counted. */
const maxCompared = 4_000_000;

export interface ShortDiff {
  readonly added: number;
  readonly removed: number;
  /** Unified hunks without file names; empty where it would be too long to be of use. */
  readonly hunks: string;
}

/** What changed from one text to the other, for the model to see. Null stands for no file, or for a binary one. */
export async function shortDiff(before: TextFile | null, after: TextFile | null): Promise<ShortDiff> {
  const [a, b] = [before?.text ?? "", after?.text ?? ""];
  if (a === "" || b === "") return { added: countLines(b), removed: countLines(a), hunks: "" };
  const { head, oldTail, newTail } = commonLines(a, b);
  const [oldPart, newPart] = [a.slice(head, oldTail), b.slice(head, newTail)];
  const changes = await script(oldPart, newPart);
  if (changes === null) return { added: countLines(newPart), removed: countLines(oldPart), hunks: "" };
  const lead = lastLines(a.slice(0, head));
  const around = [...lead.map(kept), ...changes, ...firstLines(a.slice(oldTail)).map(kept)];
  return {
    added: changes.filter((change) => change.mark === "+").length,
    removed: changes.filter((change) => change.mark === "-").length,
    hunks: bounded(hunks(around, countLines(a.slice(0, head)) - lead.length + 1)),
  };
}

interface Change {
  readonly mark: " " | "-" | "+";
  /** With its ending. */
  readonly line: string;
}

const kept = (line: string): Change => ({ mark: " ", line });

function countLines(text: string): number {
  let count = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Lines with their endings. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = text.indexOf("\n", from) + 1 || text.length;
    lines.push(text.slice(from, end));
    from = end;
  }
  return lines;
}

/** Where the whole lines that both texts share end at their start, and begin at their end. Files can be large: no list is made. */
function commonLines(a: string, b: string): { readonly head: number; readonly oldTail: number; readonly newTail: number } {
  const shorter = Math.min(a.length, b.length);
  let same = 0;
  while (same < shorter && a.charCodeAt(same) === b.charCodeAt(same)) same += 1;
  const head = same === a.length && same === b.length ? same : same === 0 ? 0 : a.lastIndexOf("\n", same - 1) + 1;
  let tail = 0;
  while (tail < shorter - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail += 1;
  const newline = tail === 0 ? -1 : a.indexOf("\n", a.length - tail);
  const whole = newline === -1 ? 0 : a.length - newline - 1;
  return { head, oldTail: a.length - whole, newTail: b.length - whole };
}

function lastLines(text: string): string[] {
  let from = text.length;
  for (let count = 0; count < contextLines && from > 0; count += 1) from = text.lastIndexOf("\n", from - 2) + 1;
  return linesOf(text.slice(from));
}

function firstLines(text: string): string[] {
  let end = 0;
  for (let count = 0; count < contextLines && end < text.length; count += 1) end = text.indexOf("\n", end) + 1 || text.length;
  return linesOf(text.slice(0, end));
}

/** Null where there is too much of it to be worked out, or to be looked at. */
async function script(before: string, after: string): Promise<Change[] | null> {
  if (Math.max(before.length, after.length) > maxCompared) return null;
  const [a, b] = [linesOf(before), linesOf(after)];
  const replaced = () => [...a.map((line): Change => ({ mark: "-", line })), ...b.map((line): Change => ({ mark: "+", line }))];
  if (a.length === 0 || b.length === 0) return replaced();
  // Loaded at the first edit: a session that only reads does not pay for it.
  const { diffArrays } = await import("diff");
  const parts = diffArrays(a, b, { maxEditLength: maxDifferences });
  if (parts === undefined) return replaced();
  return parts.flatMap((part) => {
    const mark = part.added ? "+" : part.removed ? "-" : " ";
    return part.value.map((line): Change => ({ mark, line }));
  });
}

/** `first` is the number of the first line in both texts. */
function hunks(changes: readonly Change[], first: number): string[] {
  const out: string[] = [];
  let oldLine = first;
  let newLine = first;
  for (let at = 0; at < changes.length;) {
    const next = changes.findIndex((change, index) => index >= at && change.mark !== " ");
    if (next === -1) break;
    const start = Math.max(at, next - contextLines);
    oldLine += start - at;
    newLine += start - at;
    let end = next;
    for (let quiet = 0; end < changes.length && quiet <= contextLines * 2; end += 1) quiet = changes[end]!.mark === " " ? quiet + 1 : 0;
    while (end > next && changes[end - 1]!.mark === " " && trailing(changes, end) > contextLines) end -= 1;
    const part = changes.slice(start, end);
    const oldCount = part.filter((change) => change.mark !== "+").length;
    const newCount = part.filter((change) => change.mark !== "-").length;
    out.push(`@@ -${oldCount === 0 ? oldLine - 1 : oldLine},${oldCount} +${newCount === 0 ? newLine - 1 : newLine},${newCount} @@`);
    for (const { mark, line } of part) {
      const text = line.replace(/\r?\n$/, "");
      out.push(mark + (text.length > maxLine ? `${text.slice(0, maxLine)}… [+${text.length - maxLine} characters]` : text));
      if (text === line) out.push("\\ No newline at end of file");
    }
    oldLine += oldCount;
    newLine += newCount;
    at = end;
  }
  return out;
}

function trailing(changes: readonly Change[], end: number): number {
  let count = 0;
  while (changes[end - 1 - count]?.mark === " ") count += 1;
  return count;
}

function bounded(lines: readonly string[]): string {
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines) {
    chars += line.length + 1;
    if (shown.length === maxLines || chars > maxChars)
      return [...shown, `… [${lines.length - shown.length} more lines of the diff]`].join("\n");
    shown.push(line);
  }
  return shown.join("\n");
}
