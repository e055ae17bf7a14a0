import type { ConfiguredServer, McpPorts, McpSource } from "@holdfast/mcp";
import type { NetworkAccess } from "@holdfast/protocol";
import type { HostOptions } from "../runtime-api.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Servers } from "../mcp/servers.ts";

/** The MCP servers of a host. */
export interface HostMcp {
  readonly source: McpSource | null;
  /** Values of theirs that nothing may show. */
  readonly secrets: readonly string[];
  /** Tools that the user's config allows. */
  readonly isAllowed: (server: string, tool: string) => boolean;
}

interface Place {
  readonly userHome: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly network: NetworkAccess;
}

type Ports = Pick<McpPorts, "clock" | "blobs"> & { readonly redact: (text: string, secrets: readonly string[]) => string };

/** Puts the servers of a config together. Nothing is loaded where there are none, and nothing is started yet. */
export async function openMcp({ usable, unaccepted }: Servers, options: HostOptions, place: Place, ports: Ports): Promise<HostMcp> {
  for (const { name } of unaccepted) {
    options.onNote(`${sanitizeLine(name)} of this project isn't used: holdfast trust shows it, and how to accept it`);
  }
  const enabled = usable.filter(({ config }) => config.isEnabled);
  if (enabled.length === 0) return { source: null, secrets: [], isAllowed: () => false };
  const [{ createMcpSource, isNamed, secretsOf }, { createServers }, { createServerLaunch }] = await Promise.all([
    import("@holdfast/mcp"),
    import("@holdfast/node/servers/index"),
    import("@holdfast/node/servers/launch"),
  ]);
  const { env: environment, home } = options;
  const secrets = enabled.flatMap(({ config }) => secretsOf(config, environment));
  const launch = createServerLaunch({
    home,
    userHome: place.userHome,
    workspaceRoots: place.roots,
    environment,
    network: place.network,
  });
  const source = createMcpSource(enabled, {
    processes: createServers({ launch }),
    // The address is the user's own word, or one that the user accepted.
    fetch: (url, init) => fetch(url, init),
    clock: ports.clock,
    environment,
    cwd: place.cwd,
    blobs: ports.blobs,
    redact: (text) => ports.redact(text, secrets),
  });
  const byName = new Map(enabled.map(({ config }: ConfiguredServer) => [config.name, config]));
  return { source, secrets, isAllowed: (server, tool) => isNamed(byName.get(server)?.allow ?? [], tool) };
}
