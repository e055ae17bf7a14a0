import type { Undone } from "../session/undo.ts";
import { sanitize, sanitizeLine } from "./sanitize.ts";

/** What an undo did, or would do, line by line: the diff, the files, and what stays as it is. */
export function renderUndone(
  { files, diff, left, isFinished }: Undone,
  isDry: boolean,
): { readonly lines: string[]; readonly notes: string[] } {
  const would = isDry ? "would be " : "";
  return {
    lines: [...diff.map(sanitize), ...files.map(({ change, path }) => `${would}${change}  ${sanitizeLine(path)}`)],
    notes: [
      ...(isFinished ? ["an undo that was interrupted was finished"] : []),
      ...(left.length === 0 ? [] : ["not undone:", ...left.map((line) => `  ${sanitizeLine(line)}`)]),
    ],
  };
}
