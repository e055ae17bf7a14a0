/** How a server is reached. In `args`, `env`, `url` and `headers`, `${NAME}` and `${NAME:-default}` stand for environment variables. */
export type McpTarget =
  | {
      readonly type: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      /** Added to the few variables that every server gets. */
      readonly env: Readonly<Record<string, string>>;
      /** Relative to the workspace; the workspace itself where it is absent. */
      readonly cwd?: string;
    }
  | { readonly type: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** One `[mcp.NAME]` of the config, or one server of a project's `.mcp.json`. Tool names are the server's own; `*` matches any rest. */
export interface McpServerConfig {
  readonly name: string;
  readonly target: McpTarget;
  readonly isEnabled: boolean;
  /** From the start of the process, or of the first request, until its tools are known. */
  readonly startupTimeoutMs: number;
  /** Of one call without any sign of progress. */
  readonly toolTimeoutMs: number;
  /** Null: all that aren't disabled. */
  readonly tools: readonly string[] | null;
  readonly disabledTools: readonly string[];
  /** Called without asking. */
  readonly allow: readonly string[];
  /** Known to change nothing: run again where the answer was lost. */
  readonly safe: readonly string[];
  /** Tools that take an idempotency key, and the argument that carries it. */
  readonly keyed: Readonly<Record<string, string>>;
}

/** A server and whose word its definition is. */
export interface ConfiguredServer {
  readonly config: McpServerConfig;
  /** Of a project: it runs in the sandbox. */
  readonly isConfined: boolean;
}

export const mcpDefaults = {
  isEnabled: true,
  startupTimeoutMs: 10_000,
  toolTimeoutMs: 60_000,
  tools: null,
  disabledTools: [],
  allow: [],
  safe: [],
  keyed: {},
} as const satisfies Omit<McpServerConfig, "name" | "target">;
