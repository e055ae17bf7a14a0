import type { CheckFiles, ScratchChange } from "@holdfast/runtime";
import { matcher } from "./glob.ts";
import { keyOf } from "./inputs.ts";

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
