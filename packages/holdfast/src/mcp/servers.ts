import type { ConfiguredServer, McpServerConfig } from "@holdfast/mcp/config";
import { isAccepted } from "../config/accept-store.ts";
import type { Definition } from "../config/definitions.ts";
import { mcpDefinition } from "../config/definitions.ts";
import type { Config, McpServerConfig as WrittenServer } from "../config/keys.ts";

export interface Servers {
  readonly usable: readonly ConfiguredServer[];
  /** Of the project, and not accepted as they are now: they don't run. */
  readonly unaccepted: readonly Definition[];
}

/** The servers of a config, in its order. A project's count only where the user accepted exactly what they are. */
export async function serversOf(config: Config, home: string, projectRoot: string | undefined): Promise<Servers> {
  const usable: ConfiguredServer[] = [];
  const unaccepted: Definition[] = [];
  for (const [name, written] of Object.entries(config.mcp)) {
    const isProjects = written.origin === "project";
    const definition = mcpDefinition(name, written);
    if (isProjects && (projectRoot === undefined || !(await isAccepted(home, "mcp", projectRoot, definition.definition)))) {
      if (written.enabled) unaccepted.push(definition);
      continue;
    }
    usable.push({ config: serverOf(name, written), isConfined: isProjects });
  }
  return { usable, unaccepted };
}

function serverOf(name: string, written: WrittenServer): McpServerConfig {
  const { command = "", args = [], env = {}, cwd, url, headers = {} } = written;
  return {
    name,
    target:
      url === undefined ? { type: "stdio", command, args, env, ...(cwd === undefined ? {} : { cwd }) } : { type: "http", url, headers },
    isEnabled: written.enabled,
    startupTimeoutMs: written.startupTimeoutMs,
    toolTimeoutMs: written.toolTimeoutMs,
    tools: written.tools ?? null,
    disabledTools: written.disabledTools ?? [],
    allow: written.allow,
    safe: written.safe,
    keyed: written.keyed ?? {},
  };
}
