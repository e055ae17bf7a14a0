import type { ConfiguredServer, McpSource } from "@holdfast/mcp";
import { clock } from "@holdfast/node/host/clock";
import type { NetworkAccess } from "@holdfast/protocol";
import type { BlobStore } from "@holdfast/runtime";
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

/** Puts the servers of a config together. Nothing is loaded where there are none, and nothing is started yet. */
export async function openMcp({ usable, unaccepted }: Servers, options: HostOptions, place: Place, blobs: BlobStore): Promise<HostMcp> {
  for (const { name } of unaccepted) {
    options.onNote(`${sanitizeLine(name)} of this project isn't used: holdfast trust shows it, and how to accept it`);
  }
  const enabled = usable.filter(({ config }) => config.isEnabled);
  if (enabled.length === 0) return { source: null, secrets: [], isAllowed: () => false };
  const [{ isNamed, secretsOf }, source] = await Promise.all([import("@holdfast/mcp"), openServers(enabled, options, place, blobs)]);
  const byName = new Map(enabled.map(({ config }) => [config.name, config]));
  return {
    source,
    secrets: enabled.flatMap(({ config }) => secretsOf(config, options.env)),
    isAllowed: (server, tool) => isNamed(byName.get(server)?.allow ?? [], tool),
  };
}

/** Servers on this machine. Without a store, what their tools bring back is kept in memory. */
export async function openServers(
  servers: readonly ConfiguredServer[],
  { env: environment, home }: Pick<HostOptions, "env" | "home">,
  { userHome, cwd, roots, network }: Place,
  blobs?: BlobStore,
): Promise<McpSource> {
  const [{ createMcpSource, secretsOf }, { createServers }, { createServerLaunch }, { redact }] = await Promise.all([
    import("@holdfast/mcp"),
    import("@holdfast/node/servers/index"),
    import("@holdfast/node/servers/launch"),
    import("@holdfast/runtime"),
  ]);
  const secrets = servers.flatMap(({ config }) => secretsOf(config, environment));
  return createMcpSource(servers, {
    processes: createServers({ launch: createServerLaunch({ home, userHome, workspaceRoots: roots, environment, network }) }),
    // The address is the user's own word, or one that the user accepted.
    fetch: (url, init) => fetch(url, init),
    clock,
    environment,
    cwd,
    blobs: blobs ?? (await import("@holdfast/stores/memory")).createMemoryBlobs(),
    redact: (text) => redact(text, secrets),
  });
}
