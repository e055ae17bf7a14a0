import { commonEnding, joinLines, splitLines, type Ending, type Line } from "../text/lines.ts";
import type { Hunk } from "./parse.ts";
import { placeHunks, type Placed } from "./place.ts";

export type Patched =
  | { readonly type: "patched"; readonly text: string; readonly notes: readonly string[] }
  | { readonly type: "refused"; readonly text: string };

/**
 * Applies hunks to a text. Lines that are only context keep their bytes; a new line gets the ending of the line it stands
 * for, else of the line before it. The end of the file keeps or lacks its newline as before unless the patch says so.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Patched {
  const lines = splitLines(text);
  const placement = placeHunks(
    lines.map((line) => line.text),
    hunks,
  );
  if (placement.type === "refused") return placement;
  const changes = changesOf(placement.hunks);
  if (changes === null) return { type: "refused", text: "Two hunks remove the same line. Join them to one." };
  const last = lines.at(-1);
  const marked = hunks.flatMap((hunk) => hunk.lines).filter((line) => line.lacksNewline);
  const endsWithNewline = marked.some((line) => line.mark === "+")
    ? false
    : marked.some((line) => line.mark === "-") || last === undefined || last.ending !== "";
  const result = joinLines(closed(rebuilt(lines, changes), endsWithNewline, commonEnding(lines)));
  if (result === text) return { type: "refused", text: "The hunks change nothing." };
  return { type: "patched", text: result, notes: placement.hunks.flatMap(noteOf) };
}

/** What happens at each line of the original: new lines before it, and whether it goes. */
interface Changes {
  readonly removed: ReadonlySet<number>;
  readonly added: ReadonlyMap<number, readonly Addition[]>;
}

interface Addition {
  readonly text: string;
  /** The removed line that it stands for. */
  readonly twin: number | null;
}

/** Null where two hunks remove the same line. */
function changesOf(placed: readonly Placed[]): Changes | null {
  const removed = new Set<number>();
  const added = new Map<number, Addition[]>();
  for (const { hunk, at } of placed) {
    let line = at;
    let gone: number[] = [];
    let fresh: { readonly before: number; readonly text: string }[] = [];
    const flush = () => {
      for (const [order, { before, text }] of fresh.entries()) {
        added.set(before, [...(added.get(before) ?? []), { text, twin: gone[order] ?? null }]);
      }
      gone = [];
      fresh = [];
    };
    for (const { mark, text } of hunk.lines) {
      if (mark === "+") fresh.push({ before: line, text });
      else {
        if (mark === " ") flush();
        else if (removed.has(line)) return null;
        else {
          removed.add(line);
          gone.push(line);
        }
        line += 1;
      }
    }
    flush();
  }
  return { removed, added };
}

function rebuilt(lines: readonly Line[], { removed, added }: Changes): Line[] {
  const result: Line[] = [];
  for (let at = 0; at <= lines.length; at += 1) {
    for (const { text, twin } of added.get(at) ?? []) {
      const ending = (twin === null ? "" : lines[twin]!.ending) || result.at(-1)?.ending || lines[at]?.ending || "";
      result.push({ text, ending });
    }
    if (at < lines.length && !removed.has(at)) result.push(lines[at]!);
  }
  return result;
}

/** Every line but the last has an ending, and the last has one exactly where the file is to end with a newline. */
function closed(lines: readonly Line[], endsWithNewline: boolean, common: Ending): Line[] {
  return lines.map((line, index) => {
    const isLast = index === lines.length - 1;
    if (isLast && !endsWithNewline) return { text: line.text, ending: "" };
    return line.ending === "" ? { text: line.text, ending: (index > 0 && lines[index - 1]!.ending) || common } : line;
  });
}

function noteOf({ hunk, at, loosened }: Placed): string[] {
  const notes: string[] = [];
  if (loosened !== null) notes.push(`The hunk at line ${at + 1} was matched without regard to ${loosened}.`);
  if (hunk.lines.every((line) => line.mark === "+") && hunk.headers.length === 0 && !hunk.atEnd) {
    notes.push("The hunk without context was added at the end of the file.");
  }
  return notes;
}
