import { sha256 } from "@holdfast/runtime";

/** What every provider takes as a tool's name: `^[a-zA-Z0-9_-]{1,64}$`. */
const longestName = 64;
const longestServer = 20;
const start = "mcp__";
const hashChars = 8;

/**
 * A server's part in the names of its tools: its own name where that is short and plain, else a legal form with a hash.
 * It holds no `__` and doesn't end in `_`, so that it can be told from what follows.
 */
export function serverPart(server: string): string {
  return /^[a-zA-Z0-9](?:_?[a-zA-Z0-9-])*$/.test(server) && server.length <= longestServer ? server : marked(server, server, longestServer);
}

/**
 * The name under which the model sees a server's tool: `mcp__SERVER__TOOL` where that is legal, else a legal form with a hash.
 * It depends on the two names alone, so it is the same in every session.
 */
export function modelName(server: string, tool: string): string {
  const prefix = `${start}${serverPart(server)}__`;
  const left = longestName - prefix.length;
  return prefix + (/^[a-zA-Z0-9_-]+$/.test(tool) && tool.length <= left ? tool : marked(tool, `${server}\0${tool}`, left));
}

/** The server part of a name that the model used; null where it is no name of an MCP tool. */
export function serverPartOf(name: string): string | null {
  const end = name.indexOf("__", start.length);
  return name.startsWith(start) && end > start.length ? name.slice(start.length, end) : null;
}

/** A legal form of a text, at most `chars` long, that ends with a hash of what it stands for. */
function marked(text: string, whole: string, chars: number): string {
  const plain = text
    .replaceAll(/[^a-zA-Z0-9]+/g, "_")
    .slice(0, chars - hashChars - 1)
    .replaceAll(/^_+|_+$/g, "");
  const hash = sha256(whole).slice(0, hashChars);
  return plain === "" ? `t${hash}` : `${plain}-${hash}`;
}
