import type { Json } from "@holdfast/protocol";
import type { Tool, ToolHost } from "../ports/index.ts";

interface Named {
  readonly name: string;
  /** Of ours, with this name. */
  readonly tool?: Tool;
  readonly input: Json;
}

/**
 * The one tool of a server that is called so there, whose input this is, and not that of a tool of ours with the name:
 * models leave out the server's part. Null where ours could have been meant, or there is none, or more than one.
 */
export async function namesakeOf(tools: ToolHost, { name, tool, input }: Named, signal: AbortSignal): Promise<Tool | null> {
  if (tools.namesakes === undefined || (tool !== undefined && fits(tool.spec.schema, input))) return null;
  const found = (await tools.namesakes(name, signal)).filter((other) => fits(other.spec.schema, input));
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** By the names of its fields: all that are required, and no others. */
function fits(schema: Json, input: Json): boolean {
  if (!isTable(schema) || !isTable(input)) return false;
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(input);
  return (
    isTable(properties) &&
    Array.isArray(required) &&
    required.every((name) => typeof name === "string" && names.includes(name)) &&
    names.every((name) => Object.hasOwn(properties, name))
  );
}

function isTable(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
