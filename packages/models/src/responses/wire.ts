import type { Json } from "@holdfast/protocol";
import type { SamplingRequest, ToolSpec } from "@holdfast/runtime";
import type { Identity } from "../identity.ts";
import { isStrict, outputName } from "../output-format.ts";
import { keptTools } from "../kept-tools.ts";
import { jsonText } from "../text.ts";
import { createWindow } from "../window.ts";
import { bearer, type Wire } from "../wire.ts";
import { wireCacheKey } from "../wire-forms.ts";
import { createResponsesDecoder } from "./decode.ts";
import { inputEncoding } from "./encode.ts";

/**
 * OpenAI's Responses, stateless: nothing is stored there, encrypted reasoning comes back with each request. Keys have a
 * fixed order with the growing `input` last, so the bytes of a request begin with those of the one before it (but for
 * its closing brackets).
 */
export function responsesWire(identity: Identity): Wire {
  const input = createWindow(inputEncoding(identity));
  const keptTool = keptTools(toolJson);
  let instructions = { text: "", json: '""' };

  function head(request: SamplingRequest): string {
    if (request.instructions !== instructions.text) instructions = { text: request.instructions, json: jsonText(request.instructions) };
    const fields = [`"model":${jsonText(identity.model)}`];
    if (request.instructions !== "") fields.push(`"instructions":${instructions.json}`);
    if (request.tools.length > 0) fields.push(`"tools":[${request.tools.map(keptTool).join(",")}]`, `"parallel_tool_calls":true`);
    fields.push(`"stream":true`, `"store":false`);
    if (canReason(identity.model)) fields.push(`"include":["reasoning.encrypted_content"]`);
    if (request.cacheKey !== "") fields.push(`"prompt_cache_key":${jsonText(wireCacheKey(request.cacheKey))}`);
    if (request.effort !== null) fields.push(`"reasoning":{"effort":${jsonText(request.effort)},"summary":"auto"}`);
    if (request.maxOutputTokens !== null) fields.push(`"max_output_tokens":${request.maxOutputTokens}`);
    if (request.output !== undefined) fields.push(`"text":{"format":${formatJson(request.output.schema)}}`);
    return fields.join(",");
  }
  return {
    form: { wire: "responses" },
    path: "/responses",
    version: null,
    headers: bearer,
    body: async (request) => {
      const start = head(request);
      const frame = { start: `{${start},"input":[`, first: [], end: "]}" };
      const { bytes, size, digest } = await input(request.items, (blob) => request.image(blob), frame);
      return { bytes, size: start.length + size, digest };
    },
    decoder: (requestSize) => createResponsesDecoder(identity, requestSize),
  };
}

/**
 * OpenAI's older families don't reason, and answer a request for encrypted reasoning with an error. `reasoning` itself
 * is sent only where the session names an effort: without one the model's own default holds, for every model.
 */
function canReason(model: string): boolean {
  return !/^(gpt-3|gpt-4|chatgpt-)/.test(model) && !/-chat(-latest)?$/.test(model);
}

function formatJson(schema: Json): string {
  return `{"type":"json_schema","name":"${outputName}","strict":${isStrict(schema)},"schema":${JSON.stringify(schema)}}`;
}

function toolJson(spec: ToolSpec): string {
  const fields = [`"type":"function"`, `"name":${jsonText(spec.name)}`, `"description":${jsonText(spec.description)}`, `"strict":false`];
  return `{${fields.join(",")},"parameters":${JSON.stringify(spec.schema)}}`;
}
