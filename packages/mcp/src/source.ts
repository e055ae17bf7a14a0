import type { ToolSource } from "@holdfast/runtime";
import type { ConfiguredServer } from "./config.ts";
import { serverPart, serverPartOf } from "./names.ts";
import type { OutcomePorts } from "./outcome.ts";
import type { McpServer, ServerPorts } from "./server.ts";
import { createServer, describeState } from "./server.ts";
import { mcpTool } from "./tool.ts";

export interface McpPorts extends ServerPorts, OutcomePorts {}

export interface McpSource extends ToolSource {
  readonly servers: readonly McpServer[];
  /** Ends every server. */
  close(): Promise<void>;
}

/** The tools of MCP servers, for one session. Nothing is started before it is needed. */
export function createMcpSource(configured: readonly ConfiguredServer[], ports: McpPorts): McpSource {
  const servers = configured.map(({ config, isConfined }) => createServer(config, isConfined, ports));
  const byPart = new Map(servers.map((server) => [serverPart(server.config.name), server]));
  return {
    servers,
    trust: "untrusted",
    start: () => {
      for (const server of servers) server.start();
    },
    async settled(maxMs, signal) {
      await Promise.all(servers.map((server) => server.settled(maxMs, signal)));
    },
    get specs() {
      return servers.flatMap((server) => {
        const state = server.state();
        return state.type === "ready" ? state.tools.map(({ name, description, schema }) => ({ name, description, schema })) : [];
      });
    },
    get(name) {
      const server = byPart.get(serverPartOf(name) ?? "");
      return server === undefined || server.state().type === "disabled" ? null : mcpTool(name, server, ports);
    },
    absent: () =>
      servers.flatMap((server) => {
        const state = server.state();
        return state.type === "ready" || state.type === "disabled" ? [] : [describeState(server.config.name, state, ports.clock.now())];
      }),
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
