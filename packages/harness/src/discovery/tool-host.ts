import type { Embedder, Tool, ToolHost, ToolSource } from "@holdfast/runtime";
import { searchTools } from "./search-tools.ts";
import { useTool } from "./use-tool.ts";

/** How long servers that are starting are waited for, ms. */
const waitMs = 10_000;

/**
 * Tools by name, in the order the request shows them. Where some are deferred, or come from sources, two more find and call
 * those; the request stays the same whatever the sources offer. Two of one name are a mistake of the host.
 */
export function createToolHost(tools: readonly Tool[], sources: readonly ToolSource[] = [], embedder?: Embedder): ToolHost {
  const deferred = tools.filter((tool) => tool.isDeferred === true);
  const finders = deferred.length === 0 && sources.length === 0 ? [] : [searchTools(deferred, sources, embedder), useTool];
  const shown = [...tools.filter((tool) => tool.isDeferred !== true), ...finders];
  const byName = new Map([...shown, ...deferred].map((tool) => [tool.spec.name, tool]));
  if (byName.size !== shown.length + deferred.length) throw new Error("Two tools have the same name.");
  return {
    ...(sources.length === 0
      ? {}
      : {
          async namesakes(name, signal) {
            for (const source of sources) source.start();
            await Promise.all(sources.map((source) => source.settled(waitMs, signal)));
            const names = sources.flatMap((source) => source.specs.map((spec) => spec.name)).filter((each) => each.endsWith(`__${name}`));
            return names.flatMap((each) => sources.flatMap((source) => source.get(each) ?? []));
          },
        }),
    specs: shown.map((tool) => tool.spec),
    get(name) {
      const own = byName.get(name);
      if (own !== undefined) return own;
      for (const source of sources) {
        const tool = source.get(name);
        if (tool !== null) return tool;
      }
      return null;
    },
  };
}
