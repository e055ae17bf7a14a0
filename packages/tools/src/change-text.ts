import type { BlobStore } from "@holdfast/runtime/ports/blobs";
import { shownPath } from "./place.ts";
import type { StoredEdit } from "./stored-edit.ts";
import { shortDiff, type ShortDiff } from "./text/diff.ts";
import { decodeText, type TextFile } from "./text/encoding.ts";

/** After this many characters only the names of further files are given. */
const maxChars = 6000;

/** What changed, for the model: a line a file, and the hunks of those that existed. The same edits give the same text. */
export async function describeChanges(blobs: BlobStore, edits: readonly StoredEdit[], cwd: string): Promise<string> {
  const sources = new Map(edits.map((edit) => [edit.path, edit]));
  const movedAway = new Set(edits.map((edit) => edit.movedFrom));
  const parts: string[] = [];
  let chars = 0;
  for (const edit of edits) {
    if (edit.after === null && movedAway.has(edit.path)) continue;
    const source = edit.movedFrom === null ? edit : sources.get(edit.movedFrom)!;
    const name = shownPath(edit.path, cwd);
    const diff = await shortDiff(await contentOf(blobs, source.beforeBlob), await contentOf(blobs, edit.afterBlob));
    const heading = `${headingOf(edit, name, cwd)} (${countsOf(diff)})`;
    const isFresh = source.before === null || edit.after === null;
    const text = isFresh || diff.hunks === "" || chars + diff.hunks.length > maxChars ? heading : `${heading}\n${diff.hunks}`;
    chars += text.length;
    parts.push(text);
  }
  return parts.join("\n");
}

function headingOf(edit: StoredEdit, name: string, cwd: string): string {
  if (edit.movedFrom !== null) return `Moved ${shownPath(edit.movedFrom, cwd)} to ${name}`;
  if (edit.after === null) return `Deleted ${name}`;
  return `${edit.before === null ? "Added" : "Changed"} ${name}`;
}

function countsOf(diff: ShortDiff): string {
  return `+${diff.added} -${diff.removed}`;
}

async function contentOf(blobs: BlobStore, id: string | null): Promise<TextFile | null> {
  const bytes = id === null ? null : await blobs.get(id);
  return bytes === null ? null : decodeText(bytes);
}
