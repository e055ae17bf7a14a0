import type { SamplingRequest, ToolSpec } from "@holdfast/runtime";
import type { Identity } from "../identity.ts";
import { isStrict, outputName } from "../output-format.ts";
import { keptTools } from "../kept-tools.ts";
import { jsonText } from "../text.ts";
import { createWindow } from "../window.ts";
import { bearer, bodyLayout, type Wire } from "../wire.ts";
import { createChatDecoder } from "./decode.ts";
import { messageEncoding } from "./encode.ts";

/**
 * OpenAI's Chat Completions as other servers speak it: only fields that all of them take, `max_tokens` rather than its
 * newer name, no cache key. Keys have a fixed order with what can change behind the growing `messages`, as in the Responses wire.
 */
export function chatWire(identity: Identity): Wire {
  const messages = createWindow(messageEncoding(identity));
  const keptTool = keptTools(toolJson);
  let instructions = { text: "", json: "" };

  function head(request: SamplingRequest): string {
    const fields = [`"model":${jsonText(identity.model)}`, `"stream":true`, `"stream_options":{"include_usage":true}`];
    if (request.tools.length > 0) fields.push(`"tools":[${request.tools.map(keptTool).join(",")}]`);
    return fields.join(",");
  }
  function tail(request: SamplingRequest): string {
    const fields: string[] = [];
    if (request.effort !== null) fields.push(`"reasoning_effort":${jsonText(request.effort)}`);
    if (request.maxOutputTokens !== null) fields.push(`"max_tokens":${request.maxOutputTokens}`);
    if (request.output !== undefined) fields.push(...outputFields(identity, request, request.output));
    return fields.map((field) => `,${field}`).join("");
  }
  function system(request: SamplingRequest): string {
    if (request.instructions !== instructions.text) {
      instructions = { text: request.instructions, json: `{"role":"system","content":${jsonText(request.instructions)}}` };
    }
    return instructions.json;
  }
  return {
    form: { wire: "chat", layout: bodyLayout },
    path: "/chat/completions",
    version: null,
    headers: bearer,
    body: async (request) => {
      const start = head(request);
      const first = system(request);
      const frame = { start: `{${start},"messages":[`, first: first === "" ? [] : [first], end: `]${tail(request)}}` };
      const { bytes, size, digest } = await messages(request.items, (blob) => request.image(blob), frame);
      return { bytes, size: start.length + first.length + size, digest };
    },
    decoder: ({ size }) => createChatDecoder(identity, size),
  };
}

/**
 * Local servers hold every word to the format, so that no call could be made, or refuse it beside tools: there it comes with
 * the correction of an answer, which needs no call.
 */
function outputFields(
  { provider }: Identity,
  { tools }: SamplingRequest,
  { schema, isRepair }: NonNullable<SamplingRequest["output"]>,
): string[] {
  const isFree = provider === "openai" || tools.length === 0;
  if (!isFree && !isRepair) return [];
  const format = `{"name":"${outputName}","strict":${isStrict(schema)},"schema":${JSON.stringify(schema)}}`;
  return [...(isFree ? [] : [`"tool_choice":"none"`]), `"response_format":{"type":"json_schema","json_schema":${format}}`];
}

function toolJson(spec: ToolSpec): string {
  const fields = [
    `"name":${jsonText(spec.name)}`,
    `"description":${jsonText(spec.description)}`,
    `"parameters":${JSON.stringify(spec.schema)}`,
  ];
  return `{"type":"function","function":{${fields.join(",")}}}`;
}
