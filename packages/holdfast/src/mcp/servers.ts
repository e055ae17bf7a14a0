import type { ConfiguredServer, McpServerConfig } from "@holdfast/mcp/config";
import { isAccepted } from "../config/accept-store.ts";
import type { Definition } from "../config/definitions.ts";
import { mcpDefinition } from "../config/definitions.ts";
import type { Config, McpServerConfig as WrittenServer } from "../config/keys.ts";

export interface UsableServer extends ConfiguredServer {
  /** Of a project's: asked again before each start, as a file that it names may have changed. */
  readonly isStillAccepted?: () => Promise<boolean>;
}

export interface Servers {
  readonly usable: readonly UsableServer[];
  /** Of the project, and not accepted as they are now: they don't run. */
  readonly unaccepted: readonly Definition[];
}

/** The servers of a config, in its order. A project's count only where the user accepted exactly what they are. */
export async function serversOf(config: Config, home: string, projectRoot: string | undefined): Promise<Servers> {
  const usable: UsableServer[] = [];
  const unaccepted: Definition[] = [];
  for (const [name, written] of Object.entries(config.mcp)) {
    const isProjects = written.origin === "project";
    const server = { config: serverOf(name, written), isConfined: isProjects };
    if (!isProjects) usable.push(server);
    if (!isProjects || projectRoot === undefined) continue;
    const define = () => mcpDefinition(name, written, projectRoot);
    const accepts = ({ definition }: Definition) => isAccepted(home, "mcp", projectRoot, definition);
    const definition = await define();
    if (await accepts(definition)) usable.push({ ...server, isStillAccepted: async () => accepts(await define()) });
    else if (written.enabled) unaccepted.push(definition);
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
