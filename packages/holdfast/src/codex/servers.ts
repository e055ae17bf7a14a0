import type { Leaf } from "./leaves.ts";

/** Codex's keys that mean the same here, by the last part of their name. */
const serverKeys: Readonly<Record<string, string>> = {
  command: "command",
  args: "args",
  cwd: "cwd",
  url: "url",
  enabled: "enabled",
  enabled_tools: "tools",
  disabled_tools: "disabled_tools",
  startup_timeout_ms: "startup_timeout_ms",
};
const providerKeys: Readonly<Record<string, string>> = { base_url: "base_url", env_key: "api_key_env", wire_api: "wire" };

/** A value of `mcp_servers.NAME` as values of `mcp.NAME`; null for what has no meaning here. */
export function mcpLeaves({ path: [, name = "", key = "", ...rest], value }: Leaf): Leaf[] | null {
  const at = (...parts: readonly string[]) => ["mcp", name, ...parts];
  const [inner] = rest;
  const same = rest.length === 0 && Object.hasOwn(serverKeys, key) ? serverKeys[key] : undefined;
  if (same !== undefined) return [{ path: at(same), value }];
  switch (key) {
    case "env":
      return inner === undefined ? null : [{ path: at("env", inner), value: value }];
    case "env_vars":
      return variablesOf(value)?.map((variable) => ({ path: at("env", variable), value: `\${${variable}}` })) ?? null;
    case "http_headers":
      return inner === undefined ? null : [{ path: at("headers", inner), value: value }];
    case "env_http_headers":
      return inner === undefined ? null : [{ path: at("headers", inner), value: `\${${String(value)}}` }];
    case "bearer_token_env_var":
      return [{ path: at("headers", "Authorization"), value: `Bearer \${${String(value)}}` }];
    case "startup_timeout_sec":
    case "tool_timeout_sec":
      return typeof value === "number" ? [{ path: at(key.replace("_sec", "_ms")), value: Math.ceil(value * 1000) }] : null;
    default:
      return null;
  }
}

function variablesOf(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((name) => typeof name === "string") ? value : null;
}

/**
 * Which tools the program lets be called without asking, by server: those that it approves one by one, or all (`*`) where
 * that is its rule and none is excepted.
 */
export function approvedTools(leaves: readonly Leaf[]): Leaf[] {
  const servers = new Map<string, { byDefault: boolean; approved: string[]; excepted: boolean }>();
  for (const { path, value } of leaves) {
    const [, name = "", key, tool = "", what] = path;
    const server = servers.get(name) ?? { byDefault: false, approved: [], excepted: false };
    servers.set(name, server);
    if (key === "default_tools_approval_mode") server.byDefault = value === "approve";
    if (key !== "tools" || what !== "approval_mode") continue;
    if (value === "approve") server.approved.push(tool);
    else server.excepted = true;
  }
  return [...servers].flatMap(([name, { byDefault, approved, excepted }]) => {
    const allow = byDefault && !excepted ? ["*"] : approved;
    return allow.length === 0 ? [] : [{ path: ["mcp", name, "allow"], value: allow }];
  });
}

export function isApproval({ path }: Leaf): boolean {
  return path[2] === "default_tools_approval_mode" || (path[2] === "tools" && path[4] === "approval_mode");
}

/** A value of `model_providers.NAME` as one of `providers.NAME`; null for what has no meaning here. */
export function providerLeaf({ path: [, name = "", key = "", inner], value }: Leaf): Leaf | null {
  if (key === "http_headers" && inner !== undefined) return { path: ["providers", name, "headers", inner], value };
  const same = inner === undefined && Object.hasOwn(providerKeys, key) ? providerKeys[key] : undefined;
  return same === undefined ? null : { path: ["providers", name, same], value };
}
