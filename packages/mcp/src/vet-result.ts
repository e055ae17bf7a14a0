type Fields = Record<string, unknown>;

/**
 * A tool's result as the server sent it, put right where the protocol's schema would refuse it whole: the call was made, and
 * what can be read of its answer is worth more than an error. Unknown blocks become text; metadata goes.
 */
export function vetResult(result: unknown): Fields {
  if (!isFields(result)) return { content: [textBlock(result)] };
  const { content, structuredContent, isError, _meta, ...rest } = result;
  const blocks = Array.isArray(content) ? content.map(vetBlock) : content === undefined ? [] : [textBlock(content)];
  const isTable = isFields(structuredContent);
  return {
    ...rest,
    content: structuredContent === undefined || isTable ? blocks : [...blocks, textBlock(structuredContent)],
    ...(isTable ? { structuredContent } : {}),
    ...(isError === true ? { isError } : {}),
    ...(isFields(_meta) ? { _meta } : {}),
  };
}

function vetBlock(block: unknown): Fields {
  if (!isFields(block)) return textBlock(block);
  const { type, text, data, mimeType, uri, name, description, resource } = block;
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text } : textBlock(block);
    case "image":
    case "audio":
      if (typeof data !== "string" || typeof mimeType !== "string") return textBlock(block);
      return isBase64(data) ? { type, data, mimeType } : { type: "text", text: `[${type} whose data can't be read]` };
    case "resource_link":
      if (typeof uri !== "string") return textBlock(block);
      return { type, uri, name: typeof name === "string" ? name : uri, ...strings({ description, mimeType }) };
    case "resource":
      return isFields(resource) ? vetResource(resource) : textBlock(block);
    default:
      return textBlock(block);
  }
}

function vetResource({ uri, mimeType, text, blob }: Fields): Fields {
  const about = { uri: typeof uri === "string" ? uri : "", ...strings({ mimeType }) };
  if (typeof text === "string") return { type: "resource", resource: { ...about, text } };
  if (typeof blob === "string" && isBase64(blob)) return { type: "resource", resource: { ...about, blob } };
  return { type: "text", text: `[resource ${about.uri} without content]` };
}

function textBlock(value: unknown): Fields {
  return { type: "text", text: typeof value === "string" ? value : (JSON.stringify(value) ?? "") };
}

function strings(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === "string"));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
