import { noteOwner } from "../processes/owner-note.ts";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { NetworkAccess } from "@holdfast/protocol";
import type { ServerSpec } from "@holdfast/runtime/ports/server-processes";
import { commandEnvironment } from "../processes/environment.ts";
import { defaultScripts } from "../processes/launch.ts";
import { createNetworks, commandReach } from "../sandbox/network.ts";
import { isolation, probeSandbox } from "../sandbox/problem.ts";
import { findProgram, outerPath } from "../sandbox/programs.ts";
import { defaultSandbox } from "../sandbox/options.ts";
import { nearestReal } from "../sandbox/real.ts";
import { filterFile } from "../sandbox/seccomp.ts";
import { blankFile, viewOf } from "../sandbox/view.ts";
import type { ServerLaunch } from "./index.ts";
import { lookThrough } from "../files/missing.ts";

export interface ServerPlace {
  /** HOLDFAST_HOME: hidden from confined servers. */
  readonly home: string;
  readonly userHome: string;
  readonly workspaceRoots: readonly string[];
  /** Our own environment; servers get a few named variables of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What confined servers may reach. */
  readonly network: NetworkAccess;
}

/** How servers are started on this machine. Confined ones need bubblewrap: they are never started without it. */
export function createServerLaunch(place: ServerPlace): (spec: ServerSpec) => Promise<ServerLaunch> {
  return async (spec) => {
    if (!lookThrough(spec.cwd)?.isDirectory()) {
      throw new HoldfastError("workspace_invalid", `its folder ${spec.cwd} is not there`);
    }
    return spec.isConfined ? confined(spec, place) : plain(spec, place);
  };
}

/** The user's own. The workspace's programs (`node_modules/.bin` on PATH) are not meant by a name that the user wrote. */
function plain({ command, args, cwd, env }: ServerSpec, { environment, workspaceRoots }: ServerPlace): ServerLaunch {
  const inherited = { ...environment, PATH: outerPath(environment["PATH"], workspaceRoots.map(nearestReal)) };
  return { program: command, args, cwd, env: commandEnvironment(inherited, "/bin/sh", environment["TMPDIR"] ?? tmpdir(), env) };
}

/** In the sandbox: the workspace in sight but read-only, a temporary and a cache folder of its own that go with it. */
async function confined(spec: ServerSpec, place: ServerPlace): Promise<ServerLaunch> {
  const roots = place.workspaceRoots.map(nearestReal);
  const outer = outerPath(place.environment["PATH"], roots);
  const found = await probeSandbox(defaultScripts, outer);
  if ("problem" in found) throw new HoldfastError("sandbox_unavailable", `a project's server runs in the sandbox alone: ${found.problem}`);
  const { programs } = found;
  const parent = join(place.home, "servers");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const base = mkdtempSync(join(parent, "run-"));
  noteOwner(base);
  const [tmp, cache, network] = ["tmp", "cache", "network"].map((name) => join(base, name)) as [string, string, string];
  for (const path of [tmp, cache]) mkdirSync(path, { mode: 0o700 });
  mkdirSync(join(place.home, "commands"), { recursive: true, mode: 0o700 });
  const blank = blankFile(place.home);
  writeFileSync(blank, "", { flag: "a", mode: 0o600 });
  const networks = createNetworks(place.home);
  const release = async (): Promise<void> => {
    await networks.end(network);
    await rm(base, { recursive: true, force: true });
  };
  try {
    const reach = commandReach({ network: place.network, scope: {} });
    const link = await networks.link(network, base, reach, null, programs);
    const env = commandEnvironment(place.environment, "/bin/sh", "/tmp", { XDG_CACHE_HOME: cache, ...link.environment });
    const view = viewOf({
      confinement: { mode: "read-only", network: place.network, scope: {}, roots, purpose: "session" },
      holdfastHome: nearestReal(place.home),
      userHome: nearestReal(place.userHome),
      tmp,
      cache,
      cacheMounts: [],
      blank,
      path: env["PATH"] ?? "",
      ownFolders: [],
      links: {},
    });
    // What the project sets (`LD_PRELOAD`, for one) must reach nothing but the server: the programs around it run outside.
    const variables = Object.entries({ PATH: env["PATH"] ?? "", ...spec.env }).flatMap(([name, value]) => ["--setenv", name, value]);
    const inner = [...variables, "--chdir", spec.cwd, "--", spec.command, ...spec.args];
    const filter = filterFile(join(place.home, "commands"), defaultSandbox());
    // bubblewrap reads the filter from a descriptor, and closes it.
    const [opening, filtering] =
      filter === null
        ? [[], []]
        : [
            ["/bin/sh", "-c", 'exec 9<"$0"; exec "$@"', filter],
            ["--seccomp", "9"],
          ];
    const sandbox = [programs.bwrap, ...isolation(process.getuid?.() === 0), ...link.args, ...filtering, ...view.args, ...inner];
    const [program = "", ...args] = [...programs.alone, ...opening, ...link.before, ...sandbox];
    return { program: findProgram(program, outer) ?? program, args, cwd: "/", env: { ...env, PATH: outer }, release };
  } catch (error) {
    await release();
    throw error;
  }
}
