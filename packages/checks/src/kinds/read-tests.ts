import type { FileChange } from "@holdfast/protocol";
import { type ChangedFile, isOfTests, type Kept, mostCode } from "../tests/kept.ts";
import { isCode } from "../tests/languages.ts";
import type { Content, Contents } from "./contents.ts";

/** In UTF-16 units: what is read of all files of tests together. */
const mostRead = 64 * 1024 * 1024;

interface ReadTests {
  readonly read: readonly ChangedFile[];
  /** Of which nothing can be said but that they changed. */
  readonly unread: readonly Kept[];
}

export async function readTests(changes: readonly FileChange[], contents: Contents): Promise<ReadTests> {
  const read: ChangedFile[] = [];
  const unread: Kept[] = [];
  let left = mostRead;
  for (const { path, change } of changes) {
    const [isNew, isGone] = [change === "added", change === "deleted"];
    // Of others it counts only whether they are still there.
    const text = async (side: Contents["after"]): Promise<string | null> => (isOfTests(path) ? textIn(await side(path), left) : "");
    const was = isNew ? "" : await text(contents.before);
    left -= was?.length ?? 0;
    const is = isGone ? "" : await text(contents.after);
    left -= is?.length ?? 0;
    const isLarge = !isNew && !isGone && isCode(path) && Math.max(was?.length ?? 0, is?.length ?? 0) > mostCode;
    if (was !== null && is !== null && !isLarge) read.push({ path, was: isNew ? null : was, is: isGone ? null : is });
    else if (isGone) unread.push({ path, lost: [`${path} was deleted`], changed: "" });
    // A large file of data that came takes nothing away.
    else if (!isNew || isCode(path)) unread.push({ path, lost: [], changed: `${path} (it can't be read, or is too large)` });
  }
  return { read, unread };
}

function textIn(content: Content | null, most: number): string | null {
  return content?.text !== null && content !== null && content.text.length <= most ? content.text : null;
}
