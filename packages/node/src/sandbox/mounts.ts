/** One change of what a sandboxed command sees. Paths are absolute and real. */
export type Mount =
  | { readonly type: "bind"; readonly from: string; readonly to: string; readonly writable: boolean }
  /** `blank` is an empty file that is shown in place of a file. */
  | { readonly type: "hide"; readonly to: string; readonly isFolder: boolean; readonly blank: string }
  /** An empty folder in memory that holds so many bytes and no more. */
  | { readonly type: "fresh"; readonly to: string; readonly size: number };

/**
 * Bubblewrap's arguments for `mounts`. A deeper path is mounted later and so wins; of equal paths, the last given. What is
 * to be hidden but is already out of sight, below a folder that hides or replaces it, is left out: bubblewrap would
 * make it just to mount on it. `ground` is what stands already; `at` is put before each place.
 */
export function mountArguments(mounts: readonly Mount[], ground: readonly Mount[] = [], at = ""): string[] {
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
    const to = `${at}${mount.to}`;
    if (mount.type === "bind") {
      args.push(mount.writable ? "--bind" : "--ro-bind", mount.from, to);
    } else if (mount.type === "fresh") {
      args.push("--perms", "1777", "--size", String(mount.size), "--tmpfs", to);
    } else {
      const around = deepestAround(mount.to, [...ground, ...done]);
      if (around !== undefined && around.type !== "bind") continue;
      if (mount.isFolder) {
        args.push("--tmpfs", to);
        sealed.push(to);
      } else {
        args.push("--ro-bind", mount.blank, to);
      }
    }
    done.push(mount);
  }
  return [...args, ...sealed.flatMap((path) => ["--remount-ro", path])];
}

/**
 * What to mount for one command on top of `ground`, which stands already: `mounts`, and again those of the ground that they
 * would cover, or that would be in their way (nothing can be made in a hidden folder any more).
 */
export function mountsUpon(ground: readonly Mount[], mounts: readonly Mount[]): Mount[] {
  const again = new Set<Mount>();
  for (let before = -1; before !== again.size;) {
    before = again.size;
    const placed = [...mounts, ...again];
    for (const { to } of placed) {
      const around = deepestAround(to, ground);
      if (around?.type === "hide") again.add(around);
    }
    for (const mount of ground) {
      if (placed.some(({ to }) => to !== mount.to && contains(to, mount.to))) again.add(mount);
    }
  }
  return [...again, ...mounts];
}

/** Of equal ones the last. */
function deepestAround(path: string, mounts: readonly Mount[]): Mount | undefined {
  return deepest(mounts.filter((mount) => contains(mount.to, path) && mount.to !== path));
}

function deepest(mounts: readonly Mount[]): Mount | undefined {
  return mounts.toSorted((a, b) => depth(a.to) - depth(b.to)).at(-1);
}

/** Whether a real path can be written where these are mounted on what can't. */
export function isWritableAt(path: string, mounts: readonly Mount[]): boolean {
  const mount = deepest(mounts.filter(({ to }) => contains(to, path)));
  return mount?.type === "fresh" || (mount?.type === "bind" && mount.writable);
}

export function contains(folder: string, path: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}
