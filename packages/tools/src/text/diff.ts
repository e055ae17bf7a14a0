import type { TextFile } from "./encoding.ts";
import { commonEnds, splitLines, type Line } from "./lines.ts";

const contextLines = 2;
const maxLines = 80;
const maxChars = 4000;
const maxLine = 200;
/** Differences after which a diff is not worked out: it costs the square of them, and nobody reads it. */
const maxDifferences = 400;

export interface ShortDiff {
  readonly added: number;
  readonly removed: number;
  /** Unified hunks without file names; empty where it would be too long to be of use. */
  readonly hunks: string;
}

/** What changed from one text to the other, for the model to see. Null stands for no file, or for a binary one. */
export async function shortDiff(before: TextFile | null, after: TextFile | null): Promise<ShortDiff> {
  const a = splitLines(before?.text ?? "");
  const b = splitLines(after?.text ?? "");
  const { head, tail } = commonEnds(a.map(whole), b.map(whole));
  const oldPart = a.slice(head, a.length - tail);
  const newPart = b.slice(head, b.length - tail);
  const changes = await script(oldPart, newPart);
  const added = changes.filter((change) => change.mark === "+").length;
  const removed = changes.filter((change) => change.mark === "-").length;
  const around = [...a.slice(0, head).map(kept), ...changes, ...a.slice(a.length - tail).map(kept)];
  return { added, removed, hunks: bounded(hunks(around)) };
}

interface Change {
  readonly mark: " " | "-" | "+";
  readonly line: Line;
}

const kept = (line: Line): Change => ({ mark: " ", line });
const whole = (line: Line): string => line.text + line.ending;

async function script(a: readonly Line[], b: readonly Line[]): Promise<Change[]> {
  const replaced = () => [...a.map((line): Change => ({ mark: "-", line })), ...b.map((line): Change => ({ mark: "+", line }))];
  if (a.length === 0 || b.length === 0) return replaced();
  // Loaded at the first edit: a session that only reads does not pay for it.
  const { diffArrays } = await import("diff");
  const parts = diffArrays(a.map(whole), b.map(whole), { maxEditLength: maxDifferences });
  if (parts === undefined) return replaced();
  return parts.flatMap((part) => {
    const mark = part.added ? "+" : part.removed ? "-" : " ";
    return part.value.flatMap((text) => splitLines(text).map((line): Change => ({ mark, line })));
  });
}

function hunks(changes: readonly Change[]): string[] {
  const out: string[] = [];
  let oldLine = 1;
  let newLine = 1;
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
      out.push(
        mark + (line.text.length > maxLine ? `${line.text.slice(0, maxLine)}… [+${line.text.length - maxLine} characters]` : line.text),
      );
      if (line.ending === "") out.push("\\ No newline at end of file");
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
