import { readlinkSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { kindOf, realOf } from "./git-places.ts";
import { contains } from "./mounts.ts";
import { nearestReal } from "./real.ts";

/** Names of places below folders that a command writes in. */
export interface OwnedPlaces {
  /** Written in, but not moved away. */
  readonly pinned: readonly string[];
  /** Neither changed nor made. */
  readonly places: readonly string[];
  /** Real paths of what isn't seen. */
  readonly hidden: readonly string[];
}

/** What holds them there. Real paths, all of them in one of the folders. */
export interface Owned {
  /** Mounted on themselves and writable, so that they can't be moved away and replaced. */
  readonly pinned: readonly string[];
  readonly readOnly: readonly string[];
  /**
   * What doesn't exist, which no mount can keep that way: if a command makes it, the wrapper moves it away when it ends. Places
   * of one folder follow each other.
   */
  readonly absent: readonly string[];
  /** Links right in a root, which no mount can keep: whoever looks at the end finds another one there. */
  readonly links: readonly string[];
}

/** More links than people lay one behind the other. */
const mostLinks = 8;

/**
 * Works out what is mounted below `roots`, and the folders `outside` of them that a command writes in, for names that a command may have laid itself. A link on the way opens
 * nothing and guards nothing: its folder is kept, so that it stays this link, and what it leads to is kept as if it had been
 * named, where that lies below one of these. All are real paths. The folders on the way to whatever is kept or hidden can't be moved away with it.
 */
export function ownedBelow(roots: readonly string[], outside: readonly string[], { pinned, places, hidden }: OwnedPlaces): Owned {
  const kinds = new Map<string, ReturnType<typeof kindOf>>();
  const kind = (path: string): ReturnType<typeof kindOf> => {
    const known = kinds.get(path);
    if (known !== undefined) return known;
    const looked = kindOf(path);
    kinds.set(path, looked);
    return looked;
  };
  const bases = [...roots, ...outside];
  // The outermost: all the folders below it are on the way.
  const outermost = bases.toSorted((a, b) => a.length - b.length);
  const baseOf = (path: string): string | undefined => outermost.find((base) => contains(base, path) && base !== path);
  const near = hidden.filter((path) => bases.some((base) => contains(base, path) || contains(path, base)));
  const isHidden = (path: string): boolean => near.some((each) => contains(each, path));
  const found = { pinned: new Set<string>(), readOnly: new Set<string>(), absent: new Set<string>(), links: new Set<string>() };

  const pin = (folders: readonly string[]): void => {
    for (const folder of folders) found.pinned.add(folder);
  };
  const keep = (path: string, isPinned: boolean, left = mostLinks): void => {
    const base = baseOf(path);
    if (base === undefined || left === 0) return;
    const folders: string[] = [];
    for (const at of wayTo(base, path)) {
      switch (kind(at)) {
        case "link":
          // A root itself can't be kept.
          if (roots.includes(dirname(at))) found.links.add(at);
          else {
            pin(folders);
            found.readOnly.add(dirname(at));
          }
          keep(targetOf(at, relative(at, path)), isPinned, left - 1);
          return;
        case "folder":
          if (at === path && !isPinned) found.readOnly.add(path);
          else folders.push(at);
          break;
        case "file":
          // One where a folder would be stays one.
          pin(folders);
          if (!isPinned) found.readOnly.add(at);
          return;
        case null:
          if (!isPinned) found.absent.add(path);
          return;
      }
    }
    pin(folders);
  };
  for (const path of pinned) keep(path, true);
  for (const path of places) keep(path, false);
  for (const path of near) {
    const base = baseOf(path);
    if (base !== undefined) pin(wayTo(base, dirname(path)));
  }
  // What is hidden stays so: in a home folder, `.claude` and its like are a project's places and the user's.
  const seen = (paths: ReadonlySet<string>): string[] => [...paths].filter((path) => !isHidden(path));
  const readOnly = seen(found.readOnly);
  return {
    // On the way to one place, in another: that stays as it is.
    pinned: seen(found.pinned).filter((path) => !readOnly.some((each) => contains(each, path))),
    readOnly,
    absent: byFolder(seen(found.absent)),
    links: seen(found.links),
  };
}

/** The folders below `base` on the way to a path, and the path. */
function wayTo(base: string, path: string): string[] {
  const parts = path === base ? [] : relative(base, path).split(sep);
  return parts.map((_, index) => join(base, ...parts.slice(0, index + 1)));
}

/** Where a link leads, and from there to `rest`, also where nothing is. */
function targetOf(link: string, rest: string): string {
  return realOf(join(link, rest)) ?? nearestReal(join(nearestReal(resolve(dirname(link), readlinkSync(link))), rest));
}

function byFolder(paths: readonly string[]): string[] {
  const folders = new Map<string, string[]>();
  for (const path of paths) folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), path]);
  return [...folders.values()].flat();
}
