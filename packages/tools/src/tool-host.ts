import type { Tool, ToolHost } from "@holdfast/runtime/ports/tool-host";

/** Tools by name, in the order the request shows them. Two of one name are a mistake of the host. */
export function createToolHost(tools: readonly Tool[]): ToolHost {
  const byName = new Map(tools.map((tool) => [tool.spec.name, tool]));
  if (byName.size !== tools.length) throw new Error("Two tools have the same name.");
  return { specs: tools.map((tool) => tool.spec), get: (name) => byName.get(name) ?? null };
}
