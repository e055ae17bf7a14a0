import { lstatSync, statSync, type BigIntStats, type Stats } from "node:fs";

/**
 * How a system says that a path leads to nothing: no such name; a file, or links that go round, where a folder would be; a name
 * longer than any. What may not be looked at (EACCES) is not missing.
 */
const missing: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

/** Of an open that follows no link, ELOOP says that there is one: look again. */
export function isMissing(error: unknown): boolean {
  return missing.has((error as NodeJS.ErrnoException).code);
}

/** What lies at `path`, a link as itself. `throwIfNoEntry` alone still throws where a folder above has become a file. */
export function lookAt(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** What `path` leads to, through links. */
export function lookThrough(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Either of them with times in nanoseconds. */
export function lookClosely(path: string, { throughLinks = false } = {}): BigIntStats | undefined {
  try {
    return (throughLinks ? statSync : lstatSync)(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
