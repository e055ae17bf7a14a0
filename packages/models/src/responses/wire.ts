import type { Json } from "@holdfast/protocol";
import type { SamplingRequest } from "@holdfast/runtime";
import type { Identity } from "../identity.ts";
import { isStrict, outputName } from "../output-format.ts";
import { keptTools } from "../kept-tools.ts";
import { jsonText } from "../text.ts";
import { createWindow } from "../window.ts";
import { bearer, bodyLayout, type Wire, type WireOptions } from "../wire.ts";
import { wireCacheKey } from "../wire-forms.ts";
import { createResponsesDecoder } from "./decode.ts";
import { inputEncoding } from "./encode.ts";
import { searchJson, searchName, toolJson } from "./tool-search.ts";

/**
 * OpenAI's Responses. Nothing is stored there, and encrypted reasoning comes back with each request, unless the user lets the
 * provider keep answers: then a request names the one it follows on, and holds only what came since. Instructions and tools
 * come each time, as the protocol doesn't carry them over. Keys have a fixed order with what can change behind the growing
 * `input`, so the bytes of a request begin with those of the one before it.
 */
export function responsesWire(identity: Identity, { isStored = false, loadsTools = false }: WireOptions = {}): Wire {
  const input = createWindow(inputEncoding(identity, { isStored, loadsTools }));
  const keptTool = keptTools((spec) => (loadsTools && spec.name === searchName ? searchJson(spec) : toolJson(spec)));
  let instructions = { text: "", json: '""' };

  function head(request: SamplingRequest): string {
    if (request.instructions !== instructions.text) instructions = { text: request.instructions, json: jsonText(request.instructions) };
    const fields = [`"model":${jsonText(identity.model)}`];
    if (request.instructions !== "") fields.push(`"instructions":${instructions.json}`);
    if (request.tools.length > 0) fields.push(`"tools":[${request.tools.map(keptTool).join(",")}]`, `"parallel_tool_calls":true`);
    fields.push(`"stream":true`, `"store":${isStored}`);
    if (canReason(identity.model)) fields.push(`"include":["reasoning.encrypted_content"]`);
    if (request.cacheKey !== "") fields.push(`"prompt_cache_key":${jsonText(wireCacheKey(request.cacheKey))}`);
    return fields.join(",");
  }
  function tail(request: SamplingRequest): string {
    const fields: string[] = [];
    if (request.effort !== null) fields.push(`"reasoning":{"effort":${jsonText(request.effort)},"summary":"auto"}`);
    if (request.maxOutputTokens !== null) fields.push(`"max_output_tokens":${request.maxOutputTokens}`);
    if (request.output !== undefined) fields.push(`"text":{"format":${formatJson(request.output.schema)}}`);
    return fields.map((field) => `,${field}`).join("");
  }
  return {
    form: { wire: "responses", layout: bodyLayout, ...(isStored ? { isStored } : {}), ...(loadsTools ? { loadsTools } : {}) },
    path: "/responses",
    version: null,
    headers: bearer,
    body: async (request, whole = false) => {
      const start = head(request);
      const frame = { start: `{${start},"input":[`, first: [], end: `]${tail(request)}}`, isWhole: whole };
      const { size, ...rendered } = await input(request.items, (blob) => request.image(blob), frame);
      return { ...rendered, size: start.length + size };
    },
    decoder: ({ size, window }) => createResponsesDecoder(identity, size, window),
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
