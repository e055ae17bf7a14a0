import { chmodSync, lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { TreeNode } from "@holdfast/protocol";
import type { RestoreStep } from "@holdfast/runtime/ports/checkpoints";
import { lookAt } from "../files/missing.ts";
import { encoded, inFolder } from "./hold.ts";
import type { RestoreNote } from "./restore-note.ts";

export interface RestorePlaces {
  /** Holdfast's own folder, for the notes of restores that are under way. */
  readonly home: string;
  /** The workspace's roots, real paths. */
  readonly roots: readonly string[];
  /** The content of a node piece by piece; null where it isn't kept any more. */
  readonly pieces: (node: TreeNode) => AsyncIterable<Uint8Array | null>;
  /** Called before each thing that is done: where a test ends the process. */
  readonly onStop?: (what: string) => void;
}

/** Folders in which something is to be done and which may not be written now. */
export function lockedFolders(places: RestorePlaces, steps: readonly RestoreStep[]): RestoreNote["opened"] {
  const folders = new Set(steps.flatMap(({ path }) => (places.roots.includes(path) ? [] : [dirname(path)])));
  return [...folders].sort().flatMap((path) => {
    const stat = statOf(path);
    if (stat === null || !stat.isDirectory() || (stat.mode & 0o300) === 0o300) return [];
    return [{ path, mode: stat.mode & 0o7777 }];
  });
}

/** Null where there is nothing, also below a file. */
function statOf(path: string): Stats | null {
  return lookAt(encoded(path)) ?? null;
}

export function setMode(places: RestorePlaces, path: string, mode: number): void {
  if (places.roots.includes(path)) return chmodSync(path, mode);
  try {
    inFolder(rootOf(places, path), path, (at) => {
      if (lstatSync(at).isDirectory()) chmodSync(at, mode);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

export function rootsOf(places: RestorePlaces, steps: readonly RestoreStep[]): readonly string[] {
  return [...new Set(steps.map(({ path }) => rootOf(places, path)))];
}

/** The path's root, or the folder of a file that lies outside all of them. */
export function rootOf({ roots }: Pick<RestorePlaces, "roots">, path: string): string {
  let found = "";
  for (const root of roots) if (root.length > found.length && path.startsWith(`${root}/`)) found = root;
  return found === "" ? dirname(path) : found;
}

export function stop({ onStop }: RestorePlaces, what: string): void {
  onStop?.(what);
}
