import type { CheckpointsInput } from "@holdfast/node/checkpoints/create";
import type { Checkpoints } from "@holdfast/runtime";

/** Loaded when a command is about to run or something is to be taken back: until then there is nothing to follow. */
export function lazyCheckpoints(input: CheckpointsInput): Checkpoints {
  let loaded: Checkpoints | null = null;
  const load = async (): Promise<Checkpoints> => {
    if (loaded !== null) return loaded;
    const { createCheckpoints } = await import("@holdfast/node/checkpoints/create");
    return (loaded ??= createCheckpoints(input));
  };
  return {
    take: async (request) => (await load()).take(request),
    begun: async (session) => loaded?.begun(session),
    ended: (session, approved) => loaded?.ended(session, approved),
    close: async (session) => (loaded === null ? null : loaded.close(session)),
    ready: async () => loaded?.ready(),
    changed: (session, changes) => loaded?.changed(session, changes),
    changesOf: async (checkpoint) => (await load()).changesOf(checkpoint),
    tree: async (base) => (await load()).tree(base),
    nodesAt: async (paths) => (await load()).nodesAt(paths),
    content: async (node, mostBytes) => (await load()).content(node, mostBytes),
    contentAt: async (path) => (await load()).contentAt(path),
    restore: async (session, restore) => (await load()).restore(session, restore),
    unfinished: async (session) => (await load()).unfinished(session),
    finish: async (session) => (await load()).finish(session),
    settled: async (session) => (await load()).settled(session),
  };
}
