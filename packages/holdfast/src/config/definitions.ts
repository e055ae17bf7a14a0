import type { Json } from "@holdfast/protocol";
import type { DefinitionKind } from "./accept-store.ts";
import { definitionHash } from "./accept-store.ts";
import type { Config, HookConfig, McpServerConfig } from "./keys.ts";

/** Something of a project's config that runs only after a person accepted it. */
export interface Definition {
  readonly kind: DefinitionKind;
  /** As it stands in the file: `mcp.docs`, `hooks.before_tool`. */
  readonly name: string;
  /** What is hashed, and shown to the person: all that decides what would run. */
  readonly definition: Json;
  readonly hash: string;
}

/** An MCP server's definition: what runs, and which of its tools there are. How long it may take changes nothing of that. */
export function mcpDefinition(name: string, server: McpServerConfig): Definition {
  const { command, args, env, cwd, url, headers, tools, disabledTools } = server;
  return define("mcp", `mcp.${name}`, { name, command, args, env, cwd, url, headers, tools, disabledTools });
}

export function hookDefinition(event: string, { command, matcher }: HookConfig): Definition {
  const snake = event.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return define("hook", `hooks.${snake}`, { event: snake, command, matcher });
}

function define(kind: DefinitionKind, name: string, what: Readonly<Record<string, unknown>>): Definition {
  // Plain data that came out of TOML; fields that are not set are left out.
  const definition = JSON.parse(JSON.stringify(what)) as Json;
  return { kind, name, definition, hash: definitionHash(kind, definition) };
}

/** All that the project's own file defines, in the order of the file. */
export function projectDefinitions(config: Config): Definition[] {
  const servers = Object.entries(config.mcp).filter(([, server]) => server.origin === "project");
  const hooks = Object.entries(config.hooks).flatMap(([event, list = []]) =>
    list.filter((hook) => hook.origin === "project").map((hook) => hookDefinition(event, hook)),
  );
  return [...servers.map(([name, server]) => mcpDefinition(name, server)), ...hooks];
}
