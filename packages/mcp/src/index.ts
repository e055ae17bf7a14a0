export type { ConfiguredServer, McpServerConfig, McpTarget } from "./config.ts";
export { mcpDefaults } from "./config.ts";
export { cleanLine, cleanText } from "./clean.ts";
export { secretsOf, variablesOf } from "./expand.ts";
export { isNamed } from "./pick.ts";
export type { McpServer, ServerState } from "./server.ts";
export type { McpPorts, McpSource } from "./source.ts";
export { createMcpSource } from "./source.ts";
