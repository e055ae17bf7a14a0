/** An entry as it stands under `[mcp.NAME]` in our TOML. */
export type WrittenEntry = Readonly<Record<string, unknown>>;

/** What another program's file of MCP servers comes to. */
export interface Foreign {
  readonly servers: readonly { readonly name: string; readonly entry: WrittenEntry }[];
  /** Servers, or parts of them, that have no counterpart here. */
  readonly skipped: readonly { readonly name: string; readonly why: string }[];
}

type Fields = Readonly<Record<string, unknown>>;

/** A server's name here: `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`. */
function nameOf(foreign: string): string {
  const name = foreign
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64);
  return name === "" ? "server" : name;
}

/**
 * Reads what other programs write: `mcpServers` (Claude, Cursor, Gemini, a project's .mcp.json), `servers` (VS Code),
 * `mcp_servers` (Codex, from TOML). `folder` chooses the project in Claude's own file.
 */
export function readForeign(tree: unknown, folder: string | null): Foreign {
  const top = fields(tree);
  const ofProject = folder === null ? {} : fields(fields(fields(top["projects"])[folder])["mcpServers"]);
  const claude = { ...fields(top["mcpServers"]), ...ofProject };
  const found: [string, unknown, (server: Fields) => Entry][] = [
    ...Object.entries(claude).map(([name, server]): [string, unknown, typeof fromJson] => [name, server, fromJson]),
    ...Object.entries(fields(top["servers"])).map(([name, server]): [string, unknown, typeof fromJson] => [name, server, fromJson]),
    ...Object.entries(fields(top["mcp_servers"])).map(([name, server]): [string, unknown, typeof fromCodex] => [name, server, fromCodex]),
  ];
  const servers = new Map<string, WrittenEntry>();
  const skipped: { name: string; why: string }[] = [];
  for (const [foreign, server, read] of found) {
    const name = nameOf(foreign);
    const { entry, why } = isDeep(server) ? { entry: null, why: "its values lie too deep" } : read(fields(server));
    if (servers.has(name)) skipped.push({ name: foreign, why: `there is another server called ${name}` });
    else if (entry === null) skipped.push({ name: foreign, why });
    else servers.set(name, entry);
  }
  return { servers: [...servers].map(([name, entry]) => ({ name, entry })), skipped };
}

interface Entry {
  readonly entry: WrittenEntry | null;
  readonly why: string;
}

function fromJson(server: Fields): Entry {
  const url = text(server["url"]) ?? text(server["httpUrl"]) ?? text(server["serverUrl"]);
  const type = text(server["type"]) ?? text(server["transport"]);
  if (type === "sse") return { entry: null, why: "it speaks the older transport over SSE alone, which isn't supported" };
  return entryOf({
    command: text(server["command"]),
    args: texts(server["args"]),
    env: table(server["env"]),
    cwd: text(server["cwd"]),
    url,
    headers: table(server["headers"]),
    enabled: server["disabled"] === true || server["enabled"] === false ? false : undefined,
    tool_timeout_ms: count(server["timeout"]),
    tools: texts(server["includeTools"]),
    disabled_tools: texts(server["excludeTools"]),
  });
}

function fromCodex(server: Fields): Entry {
  const passed = Object.fromEntries((texts(server["env_vars"]) ?? []).map((name) => [name, `\${${name}}`]));
  const token = text(server["bearer_token_env_var"]);
  const fromEnv = Object.entries(table(server["env_http_headers"]) ?? {}).map(([name, variable]) => [name, `\${${variable}}`]);
  const headers = {
    ...table(server["http_headers"]),
    ...Object.fromEntries(fromEnv),
    ...(token === undefined ? {} : { Authorization: `Bearer \${${token}}` }),
  };
  const env = { ...passed, ...table(server["env"]) };
  return entryOf({
    command: text(server["command"]),
    args: texts(server["args"]),
    env: Object.keys(env).length === 0 ? undefined : env,
    cwd: text(server["cwd"]),
    url: text(server["url"]),
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    enabled: server["enabled"] === false ? false : undefined,
    startup_timeout_ms: count(server["startup_timeout_ms"]) ?? seconds(server["startup_timeout_sec"]),
    tool_timeout_ms: seconds(server["tool_timeout_sec"]),
    tools: texts(server["enabled_tools"]),
    disabled_tools: texts(server["disabled_tools"]),
  });
}

/** A program or an address, never both; what belongs to the other is left out. */
function entryOf(all: Fields): Entry {
  const { command, url, args, env, cwd, headers, ...rest } = all;
  if (command === undefined && url === undefined) return { entry: null, why: "it has neither a command nor a url" };
  const target = command === undefined ? { url, headers } : { command, args, env, cwd };
  const entry = Object.fromEntries(Object.entries({ ...target, ...rest }).filter(([, value]) => value !== undefined));
  return { entry, why: "" };
}

/** A server's entry has its tables and lists, and no more inside. Level by level: as deep as a file can be, calls can't go. */
function isDeep(server: unknown): boolean {
  let level = [server];
  for (let depth = 0; depth < deepest && level.length > 0; depth++) {
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return level.length > 0;
}

const deepest = 8;

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value.map(String) : undefined;
}

function table(value: unknown): Record<string, string> | undefined {
  const entries = Object.entries(fields(value)).map(([key, inner]) => [key, String(inner)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function seconds(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? Math.ceil(value * 1000) : undefined;
}
