export { configPath, defaultConfig, loadConfig } from "./load.ts";
export type { Config, HookConfig, HookEvent, McpServerConfig, ProviderConfig } from "./keys.ts";
