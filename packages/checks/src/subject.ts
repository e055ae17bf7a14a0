import type { CheckFiles, ManifestEntry, Place, Snapshot } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { matcher } from "./glob.ts";

/** As snapshots write the kinds of files. */
const shortKinds: Readonly<Record<ManifestEntry["kind"], string>> = { file: "f", executable: "x", link: "l", submodule: "s", other: "o" };

/** The digest a check is bound to: all of the workspace's files but those the checks may write, and `without` one. */
export async function subjectOf(
  snapshot: Snapshot,
  outputs: readonly string[],
  files: CheckFiles,
  without: Place | null = null,
): Promise<string> {
  if (outputs.length === 0 && without === null) return snapshot.subject;
  const isOutput = matcher(outputs);
  const entries = (await files.list(snapshot.manifest)).filter(
    (entry) => !isOutput(entry.path) && !(entry.path === without?.path && entry.root === without.root),
  );
  const nameOf = (kind: ManifestEntry["kind"]): string => (outputs.length === 0 ? shortKinds[kind] : kind);
  return sha256(entries.map(({ root, path, kind, digest }) => `${nameOf(kind)}\t${digest}\t${JSON.stringify([root, path])}\n`).join(""));
}

/** Files that differ between two manifests, outputs left out; a few names for a person. */
export async function movedFiles(before: string, after: string, outputs: readonly string[], files: CheckFiles): Promise<string[]> {
  if (before === after) return [];
  const isOutput = matcher(outputs);
  const old = new Map<string, string>();
  for (const { root, path, kind, digest } of await files.list(before)) old.set(JSON.stringify([root, path]), `${kind}\t${digest}`);
  const moved: string[] = [];
  for (const { root, path, kind, digest } of await files.list(after)) {
    const key = JSON.stringify([root, path]);
    if (old.get(key) !== `${kind}\t${digest}` && !isOutput(path)) moved.push(path);
    old.delete(key);
  }
  for (const key of old.keys()) {
    const path = (JSON.parse(key) as string[])[1] ?? "";
    if (!isOutput(path)) moved.push(path);
  }
  return moved;
}

export function some(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
