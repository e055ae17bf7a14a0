import type { ToolSpec } from "@holdfast/runtime";
import { asRecord, asText, type Shape } from "../shape.ts";
import { jsonText } from "../text.ts";
import { wireInput } from "../wire-forms.ts";

/**
 * `search_tools` as OpenAI's `tool_search` with `execution: "client"` (its guide "Tool search"): the model asks in an item of
 * its own, and what is found comes back as definitions that it then calls by name. They stand at the end of the
 * conversation, so the head of a request stays as it is.
 */
export const searchName = "search_tools";

export function searchJson(spec: ToolSpec): string {
  return `{"type":"tool_search","execution":"client","description":${jsonText(spec.description)},"parameters":${JSON.stringify(spec.schema)}}`;
}

export function toolJson({ name, description, schema }: ToolSpec): string {
  const fields = [`"type":"function"`, `"name":${jsonText(name)}`, `"description":${jsonText(description)}`, `"strict":false`];
  return `{${fields.join(",")},"parameters":${JSON.stringify(schema)}}`;
}

/** What stands before and behind the id of a search. */
export const searchCall = {
  start: '{"type":"tool_search_call","call_id":"',
  rest: (input: string): string => `","execution":"client","status":"completed","arguments":${wireInput(input)}}`,
};

/** What was found. A search that failed or was refused has found nothing: its words follow as the runtime's. */
export const searchOutput = {
  start: '{"type":"tool_search_output","call_id":"',
  rest: (tools: readonly ToolSpec[]): string =>
    `","execution":"client","status":"completed","tools":[${tools.map((tool) => `{"defer_loading":true,${toolJson(tool).slice(1)}`).join(",")}]}`,
};

/** The input of a search as the model gave it: an object, or JSON text. */
export function searchInput(item: Shape): string {
  const given = item["arguments"];
  const text = asText(given);
  if (text !== null) return text;
  return JSON.stringify(asRecord(given) ?? {});
}
