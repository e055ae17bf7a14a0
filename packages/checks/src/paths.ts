/** `path` (relative to `folder`, or absolute with a leading `/`) without `.` and `..`; null where it leaves the top. */
export function resolvePath(folder: string, path: string): string | null {
  const parts: string[] = path.startsWith("/") || folder === "" ? [] : folder.split("/");
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join("/");
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** `path` below `folder`, both absolute; null where it lies elsewhere. */
export function below(folder: string, path: string): string | null {
  if (path === folder) return "";
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(base) ? path.slice(base.length) : null;
}
