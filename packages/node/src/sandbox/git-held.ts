import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Git } from "../observer/git.ts";
import { setAside } from "./gitlinks.ts";
import type { Order } from "./git-orders.ts";
import { newlyOrdered, ordersOf } from "./git-orders.ts";
import { heldIn, heldPlaces, leadsHome, repositoriesAt } from "./git-places.ts";
import { armedOf } from "./made.ts";
import { contains } from "./mounts.ts";

/**
 * A repository holds those of its submodules, and its part of each linked work tree. Those that were there when a command
 * began were kept from it; one that it makes is taken up by the owner's next `git submodule update`, or by git in that work
 * tree, with all that its configuration and hooks name.
 */
interface Noted {
  readonly root: string;
  readonly gitFolder: string;
  readonly known: readonly string[];
  /** What git was to do there when its owner goes on: a rebase with programs of the owner's own. */
  readonly orders: readonly Order[];
  /** What a person let the command write. */
  readonly approved: readonly string[];
}

export function noteHeld(path: string, roots: readonly string[], approved: readonly string[]): void {
  const noted = roots.flatMap((root) =>
    repositoriesAt(root).map((gitFolder): Noted => {
      // Where a work tree's part says that the repository is can't be mounted: git takes it away with the work tree.
      const known = heldPlaces(gitFolder).filter((place) => !leadsHome(place));
      return { root, gitFolder, known, orders: ordersOf(gitFolder), approved };
    }),
  );
  writeFileSync(path, JSON.stringify(noted), { mode: 0o600 });
}

/** Sets aside what a command made there for git to run, and says of each what was done. `path` is that of `noteHeld`. */
export async function disarmHeld(path: string, git: Git): Promise<string[]> {
  const said: string[] = [];
  for (const { root, gitFolder, known, orders, approved } of readNote(path)) {
    const old = new Set(known);
    const isApproved = (place: string): boolean =>
      approved.some((each) => each === place || (contains(gitFolder, each) && contains(each, place)));
    const fresh = heldPlaces(gitFolder).filter((place) => !old.has(place) && !isApproved(place));
    for (const place of await armedOf(git, root, fresh)) said.push(`${place} ${setAside(place)}`);
    for (const place of newlyOrdered(ordersOf(gitFolder), orders)) if (!isApproved(place)) said.push(`${place} ${setAside(place)}`);
    if (!heldIn(gitFolder).isWhole)
      said.push(`${gitFolder} holds more folders than are looked into: look at its modules before you use them`);
  }
  rmSync(path, { force: true });
  return said;
}

function readNote(path: string): readonly Noted[] {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as readonly Noted[];
  } catch {
    return [];
  }
}
