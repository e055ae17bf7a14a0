import type { Json } from "@holdfast/protocol";
import type { ToolHints } from "@holdfast/runtime";
import { canonical, sha256 } from "@holdfast/runtime";
import { cleanText } from "./clean.ts";
import { modelName } from "./names.ts";
import { SchemaFault, vetSchema } from "./schema.ts";

/** A tool of a server, as it is used. */
export interface McpTool {
  /** The name by which the model knows it. */
  readonly name: string;
  /** Its name at the server. */
  readonly tool: string;
  readonly description: string;
  readonly schema: Json;
  /** Digest of all that the server says of it: when it changes, what was decided for the tool as it was holds no more. */
  readonly definition: string;
  /** What the server says of it. */
  readonly hints: ToolHints;
  /** What was mended. */
  readonly notes: readonly string[];
}

/** A tool that can't be used, and why. */
export interface DroppedTool {
  readonly tool: string;
  readonly reason: string;
}

const longestDescription = 4_000;
const longestOwnName = 1_000;

/** Each tool is judged alone: one that can't be used doesn't take the others along. */
export function vetTools(server: string, given: readonly unknown[]): { readonly tools: McpTool[]; readonly dropped: DroppedTool[] } {
  const tools = new Map<string, McpTool>();
  const dropped: DroppedTool[] = [];
  for (const one of given) {
    const vetted = vetTool(server, one);
    if ("reason" in vetted) dropped.push(vetted);
    else if (tools.has(vetted.name)) dropped.push({ tool: vetted.tool, reason: "the server has two tools of this name" });
    else tools.set(vetted.name, vetted);
  }
  return { tools: [...tools.values()], dropped };
}

/** Of its annotations, those that are yes or no. */
function hintsOf(annotations: unknown): ToolHints {
  if (typeof annotations !== "object" || annotations === null) return {};
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations as Record<string, unknown>;
  return {
    ...(typeof readOnlyHint === "boolean" ? { reads: readOnlyHint } : {}),
    ...(typeof destructiveHint === "boolean" ? { destroys: destructiveHint } : {}),
    ...(typeof openWorldHint === "boolean" ? { reachesOut: openWorldHint } : {}),
  };
}

export function vetTool(server: string, given: unknown): McpTool | DroppedTool {
  if (typeof given !== "object" || given === null) return { tool: "", reason: "it is no tool" };
  const { name, title, description, inputSchema, outputSchema, annotations } = given as Record<string, unknown>;
  if (typeof name !== "string") return { tool: "", reason: "it has no name" };
  if (name.length > longestOwnName) return { tool: name.slice(0, 80), reason: "its name is endless" };
  try {
    const { schema, notes } = vetSchema(inputSchema);
    return {
      name: modelName(server, name),
      tool: name,
      description: typeof description === "string" ? cleanText(description.slice(0, longestDescription)) : "",
      schema,
      definition: sha256(canonical({ name, title, description, inputSchema, outputSchema, annotations } as unknown as Json)),
      hints: hintsOf(annotations),
      notes,
    };
  } catch (error) {
    if (error instanceof SchemaFault) return { tool: name, reason: error.message };
    // Nested so deep that it can't even be written down.
    if (error instanceof RangeError) return { tool: name, reason: "its definition is nested too deep" };
    throw error;
  }
}
