import type { CallOutcome } from "@holdfast/protocol";
import type { Files } from "../ports/index.ts";

/** Larger files that an expectation names are not looked at: what it says of them stays unknown. */
const mostLooked = 64 * 1024 * 1024;

/** A file as it was found. */
interface Looked {
  /** Null where there is none. */
  readonly digest: string | null;
  /** Its mode, and where it is in truth: another where a link took its place. */
  readonly form: string;
}

/** The files that an expectation names, by the path it gives; null where nothing is to be looked at. */
export async function lookAt(files: Files, paths: readonly string[]): Promise<ReadonlyMap<string, Looked> | null> {
  if (paths.length === 0) return null;
  const looked = new Map<string, Looked>();
  for (const path of paths) {
    const { real, kind } = await files.identify(path);
    if (kind === "missing") looked.set(path, { digest: null, form: "" });
    else if (kind === "file") {
      const content = await files.read(real, mostLooked).catch(() => null);
      if (content !== null) looked.set(path, { digest: content.digest, form: `${content.mode} ${real}` });
    }
  }
  return looked;
}

export async function lookAgain(files: Files, before: ReadonlyMap<string, Looked>): Promise<NonNullable<CallOutcome["files"]>> {
  const after = await lookAt(files, [...before.keys()]);
  return [...before].flatMap(([path, was]) => {
    const is = after?.get(path);
    if (is === undefined) return [];
    const isOtherForm = was.digest !== null && is.digest !== null && was.form !== is.form;
    return [{ path, before: was.digest, after: is.digest, ...(isOtherForm ? { isOtherForm } : {}) }];
  });
}
