import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ConfiguredServer, McpSource } from "@holdfast/mcp";
import { clock } from "@holdfast/node/host/clock";
import type { NetworkAccess } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { ServerSpec } from "@holdfast/runtime/ports/server-processes";
import type { BlobStore } from "@holdfast/runtime";
import type { HostOptions } from "../runtime-api.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Servers, UsableServer } from "../mcp/servers.ts";
import { confinementOf } from "./confine.ts";

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
  readonly isTrusted: boolean;
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

/**
 * A program of the user's own that no folder was named for: in a project without trust it starts away from it. `npx` runs a
 * package of the folder it starts in, and asks the registry of its `.npmrc`; `python -m` and others look there as well.
 */
function awayFrom(server: ConfiguredServer, folder: string): ConfiguredServer {
  const { config, isConfined } = server;
  if (isConfined || config.target.type !== "stdio" || config.target.cwd !== undefined) return server;
  return { isConfined, config: { ...config, target: { ...config.target, cwd: folder } } };
}

function startFolder(home: string): string {
  const folder = join(home, "servers", "empty");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Throws `config_invalid` for a project's server whose files are no longer those that were accepted. */
async function assertUnchanged({ command, args }: ServerSpec, servers: readonly UsableServer[]): Promise<void> {
  for (const { config, isStillAccepted } of servers) {
    const { target } = config;
    const isMeant = target.type === "stdio" && JSON.stringify([target.command, target.args]) === JSON.stringify([command, args]);
    if (isMeant && (await isStillAccepted?.()) === false) {
      throw new HoldfastError(
        "config_invalid",
        `a file that ${config.name} runs has changed since it was accepted: holdfast trust shows it`,
      );
    }
  }
}

/** Servers on this machine. Without a store, what their tools bring back is kept in memory. */
export async function openServers(
  servers: readonly UsableServer[],
  { env: environment, home, config }: Pick<HostOptions, "env" | "home" | "config">,
  { userHome, cwd, roots, isTrusted, network }: Place,
  blobs?: BlobStore,
): Promise<McpSource> {
  const [{ createMcpSource, secretsOf }, { createServers }, { createServerLaunch }, { redact }] = await Promise.all([
    import("@holdfast/mcp"),
    import("@holdfast/node/servers/index"),
    import("@holdfast/node/servers/launch"),
    import("@holdfast/runtime"),
  ]);
  const launch = createServerLaunch({ home, userHome, workspaceRoots: roots, environment, network, ...confinementOf(config) });
  const secrets = servers.flatMap(({ config }) => secretsOf(config, environment));
  return createMcpSource(isTrusted ? servers : servers.map((server) => awayFrom(server, startFolder(home))), {
    processes: createServers({
      launch: async (spec) => {
        if (spec.isConfined) await assertUnchanged(spec, servers);
        return launch(spec);
      },
    }),
    // The address is the user's own word, or one that the user accepted.
    fetch: (url, init) => fetch(url, init),
    clock,
    environment,
    cwd,
    blobs: blobs ?? (await import("@holdfast/stores/memory")).createMemoryBlobs(),
    redact: (text) => redact(text, secrets),
  });
}
