import type { CheckFiles, ScratchChange } from "@holdfast/runtime";
import { matcher } from "./glob.ts";
import { type CheckInputs, keyOf } from "./inputs.ts";
import { folderOf, nameOf } from "./paths.ts";

/** Manifests of the baseline, and of right before and after a run. */
interface Trees {
  readonly baseline: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Files that a check may write and that a run found there and left as they were: a stamp that says the tests have run, say.
 * As changes that put them back to how the baseline had them. `own`: its report, which each run must write.
 */
export async function leftOutputs(
  files: CheckFiles,
  outputs: readonly string[],
  own: string | null,
  { baseline, before, after }: Trees,
): Promise<ScratchChange[]> {
  if (outputs.length === 0) return [];
  const isOutput = matcher(outputs);
  const digestsOf = async (manifest: string): Promise<ReadonlyMap<string, string>> =>
    new Map((await files.list(manifest)).filter(({ path }) => isOutput(path)).map((entry) => [keyOf(entry), entry.digest]));
  const [first, last] = [await digestsOf(baseline), await digestsOf(after)];
  const changes: ScratchChange[] = [];
  for (const { root, path, kind, digest } of await files.list(before)) {
    const key = keyOf({ root, path });
    if (path === own || !isOutput(path) || last.get(key) !== digest || first.get(key) === digest) continue;
    const content = first.has(key) ? await files.content(baseline, { root, path }) : null;
    changes.push({ root, path, kind, content });
  }
  return changes;
}

/** A stamp is small; what is larger is work. */
const mostBytes = 64 * 1024;
const mostTargets = 200;
const rules = /(?:^|\/)(?:(?:GNUm|[Mm])akefile|[^/]+\.mk)$/;

/**
 * Files that came since the baseline, that a run of make left as they were, and that its rules may name as something to be
 * made: it takes one that is newer than what it is made from for done. As changes that make them older than all else.
 */
export async function newTargets(
  files: CheckFiles,
  { inputs, named }: CheckInputs,
  { baseline, before, after }: Trees,
): Promise<ScratchChange[]> {
  if (!/\bmake\b/.test(named.text)) return [];
  const contents = [...inputs.values()].map(({ entry }) => (rules.test(entry.path) ? files.content(after, entry) : null));
  const text = (await Promise.all(contents)).map((bytes) => (bytes === null ? "" : new TextDecoder().decode(bytes))).join("\n");
  const isNamed = (path: string): boolean => {
    const [name, ending] = [nameOf(path), /.(\.[^.]+)$/.exec(nameOf(path))?.[1]];
    return text.includes(name) || (ending !== undefined && text.includes(ending)) || (path !== name && text.includes(`${folderOf(path)}/`));
  };
  const known = new Set((await files.list(baseline)).map(keyOf));
  const last = new Map((await files.list(after)).map((entry) => [keyOf(entry), entry.digest]));
  const found = (await files.list(before)).filter(
    (entry) =>
      (entry.kind === "file" || entry.kind === "executable") &&
      entry.size <= mostBytes &&
      !known.has(keyOf(entry)) &&
      !inputs.has(keyOf(entry)) &&
      last.get(keyOf(entry)) === entry.digest &&
      isNamed(entry.path),
  );
  const changes: ScratchChange[] = [];
  for (const { root, path, kind } of found.slice(0, mostTargets)) {
    const content = await files.content(before, { root, path });
    if (content !== null) changes.push({ root, path, kind, content, isOld: true });
  }
  return changes;
}
