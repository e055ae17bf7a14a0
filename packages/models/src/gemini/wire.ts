import type { SamplingRequest, ToolSpec } from "@holdfast/runtime";
import type { Identity } from "../identity.ts";
import { keptTools } from "../kept-tools.ts";
import { jsonText } from "../text.ts";
import { createWindow } from "../window.ts";
import { bodyLayout, type Wire } from "../wire.ts";
import { createGeminiDecoder } from "./decode.ts";
import { thinkingConfig, versionOf } from "./effort.ts";
import { contentEncoding } from "./encode.ts";

/**
 * Google's Gemini API. Keys have a fixed order with what can change behind the growing `contents`, as in the Responses wire: the prefix is
 * cached by the provider itself. Tools give their schema as it is (`parametersJsonSchema`).
 */
export function geminiWire(identity: Identity): Wire {
  const list = createWindow(contentEncoding(identity));
  const keptTool = keptTools(toolJson);
  let instructions = { text: "", json: "" };

  function head(request: SamplingRequest): string {
    if (request.instructions !== instructions.text) {
      instructions = {
        text: request.instructions,
        json: `"systemInstruction":{"parts":[{"text":${jsonText(request.instructions)}}]},`,
      };
    }
    return [
      request.instructions === "" ? "" : instructions.json,
      request.tools.length === 0 ? "" : `"tools":[{"functionDeclarations":[${request.tools.map(keptTool).join(",")}]}],`,
    ].join("");
  }
  function tail(request: SamplingRequest): string {
    const config: string[] = [];
    const thinking = thinkingConfig(identity.model, request.effort);
    if (request.maxOutputTokens !== null) config.push(`"maxOutputTokens":${request.maxOutputTokens}`);
    // Before version 3 a format and tools exclude each other (Gemini API documentation, "Structured outputs").
    if (request.output !== undefined && (request.tools.length === 0 || (versionOf(identity.model) ?? 0) >= 3)) {
      config.push(`"responseMimeType":"application/json","responseJsonSchema":${JSON.stringify(request.output.schema)}`);
    }
    if (thinking !== null) config.push(`"thinkingConfig":${thinking}`);
    return config.length === 0 ? "" : `,"generationConfig":{${config.join(",")}}`;
  }
  return {
    form: { wire: "gemini", layout: bodyLayout },
    path: `/models/${identity.model
      .replace(/^models\//, "")
      .split("/")
      .map(encodeURIComponent)
      .join("/")}:streamGenerateContent?alt=sse`,
    version: "v1beta",
    headers: (key): Readonly<Record<string, string>> => (key === "" ? {} : { "x-goog-api-key": key }),
    body: async (request) => {
      const start = head(request);
      const frame = { start: `{${start}"contents":[`, first: [], end: `]${tail(request)}}` };
      const { bytes, size, digest } = await list(request.items, (blob) => request.image(blob), frame);
      return { bytes, size: start.length + size, digest };
    },
    decoder: ({ size }) => createGeminiDecoder(identity, size),
  };
}

function toolJson(spec: ToolSpec): string {
  return `{"name":${jsonText(spec.name)},"description":${jsonText(spec.description)},"parametersJsonSchema":${JSON.stringify(spec.schema)}}`;
}
