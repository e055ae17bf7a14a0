import { readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { RefChange } from "@holdfast/protocol";
import { regularText } from "../files/regular.ts";
import { gitFolderOf } from "../sandbox/git-places.ts";

/** Where the refs of repositories point, by name; those of repositories inside the workspace have their folder before it. */
export type Refs = ReadonlyMap<string, string>;

/** Loose refs that are looked at in one repository. */
const mostLoose = 500;
const deepest = 8;
/** Of a file of a million of them. */
const largestPacked = 100_000_000;

/** Packed refs as they were read last, by file. */
export type PackedRefs = Map<string, { readonly signature: string; readonly refs: readonly (readonly [string, string])[] }>;

/** Reads the files themselves: cheaper than asking git, and what is missed is only not listed. */
export function readRefs(root: string, repos: readonly string[], packed: PackedRefs): Refs {
  const refs = new Map<string, string>();
  for (const repo of repos) {
    const own = repo === "" ? gitFolderAbove(root) : gitFolderOf(join(root, repo));
    if (own === null) continue;
    const common = commonOf(own);
    const prefix = repo === "" ? "" : `${repo}: `;
    for (const [name, value] of packedRefs(join(common, "packed-refs"), packed)) refs.set(prefix + name, value);
    looseRefs(common, "refs", prefix, refs, { left: mostLoose });
    const head = textOf(join(own, "HEAD"));
    if (head !== "") refs.set(`${prefix}HEAD`, head);
  }
  return refs;
}

export function refChanges(before: Refs, after: Refs): RefChange[] {
  const changes: RefChange[] = [];
  for (const [ref, value] of after) if (before.get(ref) !== value) changes.push({ ref, before: before.get(ref) ?? null, after: value });
  for (const [ref, value] of before) if (!after.has(ref)) changes.push({ ref, before: value, after: null });
  return changes;
}

function gitFolderAbove(root: string): string | null {
  for (let folder = root; ; folder = dirname(folder)) {
    const found = gitFolderOf(folder);
    if (found !== null || folder === dirname(folder)) return found;
  }
}

/** Of a linked work tree: where its repository keeps what all work trees share. */
function commonOf(own: string): string {
  const named = textOf(join(own, "commondir"));
  return named === "" ? own : resolve(own, named);
}

function looseRefs(folder: string, name: string, prefix: string, refs: Map<string, string>, room: { left: number }, depth = 0): void {
  let entries;
  try {
    entries = readdirSync(join(folder, name), { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    const path = `${name}/${entry.name}`;
    if (entry.isDirectory() && depth < deepest) looseRefs(folder, path, prefix, refs, room, depth + 1);
    else if (entry.isFile() && room.left > 0) {
      room.left -= 1;
      refs.set(prefix + path, textOf(join(folder, path)));
    }
  }
}

function packedRefs(file: string, known: PackedRefs): readonly (readonly [string, string])[] {
  let signature: string;
  try {
    const { mtimeMs, size, ino } = statSync(file);
    signature = `${mtimeMs}:${size}:${ino}`;
  } catch {
    return [];
  }
  const last = known.get(file);
  if (last?.signature === signature) return last.refs;
  const refs: [string, string][] = [];
  for (const line of (regularText(file, { followsLink: true, most: largestPacked }) ?? "").split("\n")) {
    const found = /^([0-9a-f]{40,64}) (\S+)$/.exec(line);
    if (found !== null) refs.push([found[2] ?? "", found[1] ?? ""]);
  }
  known.set(file, { signature, refs });
  return refs;
}

function textOf(file: string): string {
  return (regularText(file, { followsLink: false }) ?? "").trim();
}
