import type { ServerProcess } from "@holdfast/runtime";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** What the client package tells servers on pipes by: with one, silence and a closed pipe mean an older protocol. */
type StdioTransport = Transport & { readonly stderr: null; readonly pid: null };

/**
 * Messages as lines over a server's standard streams. A line that is no message is noise and is skipped: a banner, an empty
 * line, colours around a log. `parse` throws for what is none.
 */
export function stdioTransport(server: ServerProcess, parse: (line: string) => JSONRPCMessage): StdioTransport {
  let isClosed = false;
  const transport: StdioTransport = {
    stderr: null,
    pid: null,
    async start() {
      server.onLine = (line) => {
        const message = messageIn(line, parse);
        if (message !== null && !isClosed) transport.onmessage?.(message);
      };
      void server.ended.then(ended);
    },
    send: (message) => server.send(JSON.stringify(message)),
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

function messageIn(line: string, parse: (line: string) => JSONRPCMessage): JSONRPCMessage | null {
  const text = line.replace(/^\uFEFF/, "").trim();
  if (!text.startsWith("{")) return null;
  try {
    return parse(text);
  } catch {
    return null;
  }
}
