import type { SamplingRequest, ToolSpec } from "@holdfast/runtime";
import type { Identity } from "../identity.ts";
import { keptTools } from "../kept-tools.ts";
import { jsonText } from "../text.ts";
import { createWindow } from "../window.ts";
import { bodyLayout, type Wire, type WireOptions } from "../wire.ts";
import { createMessagesDecoder } from "./decode.ts";
import { betasOf, capabilityOf, effortFields } from "./effort.ts";
import { messageEncoding, withCacheMark } from "./encode.ts";

/**
 * Anthropic's Messages. Keys have a fixed order with what can change behind the growing `messages`, as in the Responses wire. Tools and
 * instructions end in a cache mark of their own, so they are read from the cache whatever follows.
 */
export function messagesWire(identity: Identity, options: WireOptions = {}): Wire {
  const messages = createWindow(messageEncoding(identity));
  const mostOutput = options.maxOutputTokens ?? capabilityOf(identity.model).maxOutput;
  const betas = betasOf(identity.model);
  const keptTool = keptTools(toolJson);
  let instructions = { text: "", json: "" };

  function system(request: SamplingRequest): string {
    if (request.instructions !== instructions.text) {
      const block = withCacheMark(`{"type":"text","text":${jsonText(request.instructions)}}`);
      instructions = { text: request.instructions, json: request.instructions === "" ? "" : `"system":[${block}]` };
    }
    return instructions.json;
  }
  function head(request: SamplingRequest): string {
    const fields = [`"model":${jsonText(identity.model)}`, `"stream":true`];
    const first = system(request);
    const list = request.tools.map(keptTool);
    const last = list.pop();
    if (last !== undefined) fields.push(`"tools":[${[...list, first === "" ? withCacheMark(last) : last].join(",")}]`);
    if (first !== "") fields.push(first);
    return fields.join(",");
  }
  function tail(request: SamplingRequest): string {
    const maxTokens = Math.min(request.maxOutputTokens ?? mostOutput, mostOutput);
    return [`"max_tokens":${maxTokens}`, ...effortFields(identity.model, request.effort, maxTokens)].map((field) => `,${field}`).join("");
  }
  return {
    form: { wire: "messages", mostOutput, layout: bodyLayout },
    path: "/messages",
    version: "v1",
    headers: (key) => ({
      "anthropic-version": "2023-06-01",
      ...(betas === null ? {} : { "anthropic-beta": betas }),
      ...(key === "" ? {} : { "x-api-key": key }),
    }),
    body: async (request) => {
      const start = head(request);
      const frame = { start: `{${start},"messages":[`, first: [], end: `]${tail(request)}}` };
      const { bytes, size, digest } = await messages(request.items, (blob) => request.image(blob), frame);
      return { bytes, size: start.length + size, digest };
    },
    decoder: ({ size }) => createMessagesDecoder(identity, size),
  };
}

function toolJson(spec: ToolSpec): string {
  return `{"name":${jsonText(spec.name)},"description":${jsonText(spec.description)},"input_schema":${JSON.stringify(spec.schema)}}`;
}
