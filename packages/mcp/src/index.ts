export type { ConfiguredServer, McpServerConfig, McpTarget } from "./config.ts";
export { mcpDefaults } from "./config.ts";
export { secretsOf } from "./expand.ts";
export { isNamed } from "./pick.ts";
export type { McpServer, ServerState } from "./server.ts";
export type { McpPorts, McpSource } from "./source.ts";
export { createMcpSource } from "./source.ts";
