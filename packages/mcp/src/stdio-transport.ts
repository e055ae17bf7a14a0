import type { ServerProcess } from "@holdfast/runtime";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** What the client package tells servers on pipes by: with one, silence and a closed pipe mean an older protocol. */
type StdioTransport = Transport & { readonly stderr: null; readonly pid: null };

/**
 * Messages as lines over a server's standard streams. A line that is no message is noise and is skipped: a banner, an empty
 * line, colours around a log. A server that takes no input any more is ended: then how it ended can be told.
 */
export function stdioTransport(server: ServerProcess): StdioTransport {
  let isClosed = false;
  const transport: StdioTransport = {
    stderr: null,
    pid: null,
    async start() {
      server.onLine = (line) => {
        const message = messageIn(line);
        if (message !== null && !isClosed) transport.onmessage?.(message);
      };
      void server.ended.then(ended);
    },
    async send(message) {
      try {
        await server.send(JSON.stringify(message));
      } catch (error) {
        await server.stop();
        throw error;
      }
    },
    async close() {
      ended();
      await server.stop();
    },
  };
  return transport;

  function ended(): void {
    if (isClosed) return;
    isClosed = true;
    transport.onclose?.();
  }
}

/** JSON-RPC 2.0: a request, a notification, or an answer. Null for anything else. */
function messageIn(line: string): JSONRPCMessage | null {
  const text = line.replace(/^\uFEFF/, "").trim();
  if (!text.startsWith("{")) return null;
  try {
    const value = JSON.parse(text) as { readonly [key: string]: unknown };
    const { id } = value;
    const isAnswer = (typeof id === "number" || typeof id === "string") && (isTable(value["result"]) || isTable(value["error"]));
    return value["jsonrpc"] === "2.0" && (typeof value["method"] === "string" || isAnswer) ? (value as unknown as JSONRPCMessage) : null;
  } catch {
    return null;
  }
}

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
