import { isHoldfastError } from "@holdfast/protocol/error";
import type { FileContent, Files } from "@holdfast/runtime/ports/files";
import type { CallContext, CallRefusal } from "@holdfast/runtime/ports/tool-host";
import { maxFileBytes } from "./changes.ts";
import { refuse } from "./define.ts";
import { shownPath, type Place } from "./place.ts";
import { decodeText, type TextFile } from "./text/encoding.ts";

export interface CurrentFile {
  readonly content: FileContent;
  readonly file: TextFile;
}

/** The file an edit starts from. Null where there is none; refuses what can't be read, or changed since the model saw it. */
export async function currentContent(files: Files, place: Place, context: CallContext): Promise<FileContent | CallRefusal | null> {
  if (place.identity.kind === "missing") return null;
  try {
    const content = await files.read(place.real, maxFileBytes);
    const seen = context.seenDigest(place.real);
    if (seen === null || seen === content.digest) return content;
    return refuse(`${place.shown} has changed since you last saw it (file_changed). Nothing was changed; read it again first.`);
  } catch (error) {
    if (isHoldfastError(error, "file_missing")) return null;
    if (isHoldfastError(error)) return refuse(error.message);
    throw error;
  }
}

/** The same for a file that has to be there and to be text. */
export async function currentText(files: Files, place: Place, context: CallContext): Promise<CurrentFile | CallRefusal> {
  const content = await currentContent(files, place, context);
  if (content === null) return refuse(await missingText(files, place, context.cwd));
  if ("type" in content) return content;
  const file = decodeText(content.bytes);
  return file === null ? refuse(`${place.shown} is a binary file; it can't be edited as text.`) : { content, file };
}

/** Names files of the same name elsewhere: the usual slip is the folder. */
export async function missingText(files: Files, place: Place, cwd: string): Promise<string> {
  const name = place.real.slice(Math.max(place.real.lastIndexOf("/"), place.real.lastIndexOf("\\")) + 1);
  const text = `${place.shown} does not exist (file_missing).`;
  if (place.identity.root === null || name === "") return text;
  const { paths } = await files.glob(`**/${name.replace(/[*?[\]{}!\\]/g, "\\$&")}`, files.cwd, 3);
  return paths.length === 0 ? text : `${text} Files of that name: ${paths.map((path) => shownPath(path, cwd)).join(", ")}.`;
}
