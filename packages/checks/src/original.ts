import type { CheckFiles, ScratchChange } from "@holdfast/runtime";
import type { CheckInput } from "./inputs.ts";

/** One input as the baseline had it and as it is now; null where it wasn't there. */
export interface InputChange {
  readonly path: string;
  readonly before: CheckInput | null;
  readonly after: CheckInput | null;
}

export function changedInputs(before: ReadonlyMap<string, CheckInput>, after: ReadonlyMap<string, CheckInput>): InputChange[] {
  const changes: InputChange[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const change = { before: before.get(key) ?? null, after: after.get(key) ?? null };
    const path = (change.after ?? change.before)?.entry.path ?? "";
    if (change.before?.isShadow === true) continue;
    if (change.before?.digest !== change.after?.digest) changes.push({ path, ...change });
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function isSamePlace(one: InputChange, other: InputChange): boolean {
  const root = ({ before, after }: InputChange): string | undefined => (after ?? before)?.entry.root;
  return one.path === other.path && root(one) === root(other);
}

/** What turns the final tree's inputs into the baseline's. `missing` are those whose earlier content is gone. */
export async function restoredInputs(
  changes: readonly InputChange[],
  manifests: { readonly before: string; readonly after: string },
  files: CheckFiles,
): Promise<{ readonly changes: ScratchChange[]; readonly missing: string[] }> {
  const restored: ScratchChange[] = [];
  const missing: string[] = [];
  for (const { path, before, after } of changes) {
    const place = (before ?? after)?.entry;
    if (place === undefined) continue;
    const earlier = before === null ? null : await files.content(manifests.before, place);
    if (before !== null && earlier === null) {
      missing.push(path);
      continue;
    }
    const later = after === null || after.part === null ? null : await files.content(manifests.after, place);
    const mixed = later === null ? null : (after?.part?.restore(decode(later), earlier === null ? null : decode(earlier)) ?? null);
    const content = mixed === null ? earlier : new TextEncoder().encode(mixed);
    restored.push({ root: place.root, path, content, kind: (before ?? after)?.entry.kind ?? "file" });
  }
  return { changes: restored, missing };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
