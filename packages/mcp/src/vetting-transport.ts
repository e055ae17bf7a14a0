import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { vetResult } from "./vet-result.ts";
import { vetTool } from "./vet-tool.ts";

/**
 * Stands between a connection and the protocol's own checks, which refuse a whole list for one odd tool and a whole result
 * for one odd block. Lists come through with the tools that can be used; `onTools` gets each page as it was sent.
 */
export function vettingTransport(server: string, inner: Transport, onTools: (page: readonly unknown[]) => void): Transport {
  const asked = new Map<string | number, "tools/list" | "tools/call">();

  const vetted = (message: JSONRPCMessage): JSONRPCMessage => {
    if (!("id" in message) || "method" in message || message.id === undefined) return message;
    const method = asked.get(message.id);
    asked.delete(message.id);
    if (method === undefined || !("result" in message)) return message;
    return { ...message, result: method === "tools/call" ? vetResult(message.result) : vetPage(message.result) } as JSONRPCMessage;
  };

  const vetPage = (result: { readonly [key: string]: unknown }): object => {
    const page = Array.isArray(result["tools"]) ? (result["tools"] as unknown[]) : [];
    onTools(page);
    const tools = page.flatMap((one) => {
      const tool = vetTool(server, one);
      return "reason" in tool ? [] : [{ name: tool.tool, inputSchema: tool.schema }];
    });
    const { nextCursor, _meta: _, ...rest } = result;
    return { ...rest, tools, ...(typeof nextCursor === "string" && nextCursor !== "" ? { nextCursor } : {}) };
  };

  const outer: Transport = {
    async start() {
      inner.onclose = () => outer.onclose?.();
      inner.onerror = (error) => outer.onerror?.(error);
      inner.onmessage = (message, extra) => outer.onmessage?.(vetted(message), extra);
      await inner.start();
    },
    async send(message, options) {
      if ("method" in message && "id" in message && (message.method === "tools/list" || message.method === "tools/call")) {
        asked.set(message.id, message.method);
      }
      await inner.send(message, options);
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
    ...("stderr" in inner && "pid" in inner ? { stderr: null, pid: null } : {}),
    ...(inner.hasPerRequestStream === undefined ? {} : { hasPerRequestStream: inner.hasPerRequestStream }),
  };
  // A session's id is known once the server gave it.
  return Object.defineProperty(outer, "sessionId", { get: () => inner.sessionId, enumerable: true });
}
