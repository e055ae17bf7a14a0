import { encodeText, isAscii, type TextFile } from "../text/encoding.ts";
import { applyHunks } from "./apply.ts";
import type { Hunk } from "./parse.ts";

export type PatchedFile =
  | { readonly type: "patched"; readonly bytes: Uint8Array; readonly notes: readonly string[] }
  | { readonly type: "refused"; readonly why: "redacted" | "text"; readonly text: string };

/** A file's content after its hunks, in its own encoding. `isRedacted` tells text that holds the mark of a secret. */
export function patchFile(file: TextFile, hunks: readonly Hunk[], isRedacted: (text: string) => boolean): PatchedFile {
  const refused = (text: string): PatchedFile => ({ type: "refused", why: "text", text });
  if (hunks.some(addsRedaction(isRedacted))) return { type: "refused", why: "redacted", text: "" };
  const added = hunks.flatMap((hunk) => hunk.lines.filter((line) => line.mark === "+"));
  if (file.encoding === "8-bit" && !added.every((line) => isAscii(line.text)))
    return refused("it is not UTF-8, and only ASCII lines can be added to it safely.");
  const patched = applyHunks(file.text, hunks);
  if (patched.type === "refused") return refused(patched.text);
  const bytes = encodeText(patched.text, file);
  return bytes === null ? refused("its encoding has no bytes for the new text.") : { type: "patched", bytes, notes: patched.notes };
}

/** New lines with the mark are fine only where the lines they replace have it too. */
function addsRedaction(isRedacted: (text: string) => boolean): (hunk: Hunk) => boolean {
  const text = (hunk: Hunk, mark: string) => hunk.lines.flatMap((line) => (line.mark === mark ? [line.text] : [])).join("\n");
  return (hunk) => isRedacted(text(hunk, "+")) && !isRedacted(text(hunk, "-"));
}
