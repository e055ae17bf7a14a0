import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Larger than any file of rules or settings that a person wrote. */
const largest = 1_000_000;

/**
 * The text of a file that whoever wrote the workspace may have made, null where it isn't a regular file of a bearable
 * size: a pipe would be waited for, a device (also behind a link) has no end.
 */
export function regularText(
  path: string | Buffer,
  { followsLink, most = largest }: { readonly followsLink: boolean; readonly most?: number },
): string | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (followsLink ? 0 : constants.O_NOFOLLOW));
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > most) return null;
    const bytes = Buffer.alloc(stat.size);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read) read = readSync(fd, bytes, length, bytes.length - length, length);
    return bytes.toString("utf8", 0, length);
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
