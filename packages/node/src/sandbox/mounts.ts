/** One change of what a sandboxed command sees. Paths are absolute and real. */
export type Mount =
  | { readonly type: "bind"; readonly from: string; readonly to: string; readonly writable: boolean }
  /** `blank` is an empty file that is shown in place of a file. */
  | { readonly type: "hide"; readonly to: string; readonly isFolder: boolean; readonly blank: string };

/**
 * Bubblewrap's arguments for `mounts`. A deeper path is mounted later and so wins; of equal paths, the last given. What is
 * to be hidden but is already out of sight, below a folder that hides or replaces it, is left out: bubblewrap would
 * make it just to mount on it. `replaced` are folders whose real content is not shown (the private /tmp).
 */
export function mountArguments(mounts: readonly Mount[], replaced: readonly string[]): string[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) {
    byPath.delete(mount.to);
    byPath.set(mount.to, mount);
  }
  const sorted = [...byPath.values()].sort((a, b) => depth(a.to) - depth(b.to));
  const done: Mount[] = [];
  const sealed: string[] = [];
  const args: string[] = [];
  for (const mount of sorted) {
    if (mount.type === "bind") {
      args.push(mount.writable ? "--bind" : "--ro-bind", mount.from, mount.to);
    } else {
      const around = done.filter((other) => contains(other.to, mount.to)).at(-1);
      const isHidden = around !== undefined && (around.type === "hide" || replaced.includes(around.to));
      if (isHidden) continue;
      if (mount.isFolder) {
        args.push("--tmpfs", mount.to);
        sealed.push(mount.to);
      } else {
        args.push("--ro-bind", mount.blank, mount.to);
      }
    }
    done.push(mount);
  }
  return [...args, ...sealed.flatMap((path) => ["--remount-ro", path])];
}

export function contains(folder: string, path: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}
