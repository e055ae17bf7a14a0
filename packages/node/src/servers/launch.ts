import { noteOwner } from "../processes/owner-note.ts";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { NetworkAccess } from "@holdfast/protocol";
import type { CommandLimits } from "@holdfast/runtime/ports/processes";
import type { ServerSpec } from "@holdfast/runtime/ports/server-processes";
import { delegatedGroup, makeGroup } from "../processes/cgroup.ts";
import { commandEnvironment } from "../processes/environment.ts";
import { defaultScripts } from "../processes/launch.ts";
import { confinedLine } from "../sandbox/line.ts";
import { createNetworks, commandReach } from "../sandbox/network.ts";
import { probeSandbox } from "../sandbox/problem.ts";
import { findProgram, outerPath } from "../sandbox/programs.ts";
import { defaultLimits, defaultSandbox } from "../sandbox/options.ts";
import type { SandboxOptions } from "../sandbox/options.ts";
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
  /** Parts of the sandbox that are otherwise than usual, as for commands. */
  readonly sandbox?: Partial<SandboxOptions>;
  /** What a confined server may use, where it is otherwise than usual: held where a control group can be made for it. */
  readonly limits?: Partial<CommandLimits>;
  /** The folder of the kernel's hierarchy in which each gets its group. Default: what is delegated to us. */
  readonly groups?: string;
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

/** Where bubblewrap reads its filter of system calls and further arguments; it closes both. */
const descriptors = { filter: 9, arguments: 8 } as const;

/** In the sandbox: the workspace in sight but read-only, a temporary and a cache folder of its own that go with it. */
async function confined(spec: ServerSpec, place: ServerPlace): Promise<ServerLaunch> {
  const roots = place.workspaceRoots.map(nearestReal);
  const outer = outerPath(place.environment["PATH"], roots);
  const found = await probeSandbox(defaultScripts, outer);
  if ("problem" in found) throw new HoldfastError("sandbox_unavailable", `a project's server runs in the sandbox alone: ${found.problem}`);
  const { programs } = found;
  const options = { ...defaultSandbox(), ...place.sandbox };
  const parent = join(place.home, "servers");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const base = mkdtempSync(join(parent, "run-"));
  noteOwner(base, place.home);
  const [cache, network, variables] = ["cache", "network", "arguments"].map((name) => join(base, name)) as [string, string, string];
  mkdirSync(cache, { mode: 0o700 });
  mkdirSync(join(place.home, "commands"), { recursive: true, mode: 0o700 });
  const blank = blankFile(place.home);
  writeFileSync(blank, "", { flag: "a", mode: 0o600 });
  const networks = createNetworks(place.home);
  const groups = place.groups ?? delegatedGroup();
  const group = groups === null ? null : makeGroup(groups, base, { ...defaultLimits(), ...place.limits });
  const release = async (): Promise<void> => {
    await networks.end(network);
    group?.remove();
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
      environment: place.environment,
      tmp: options.tmpBytes,
      cache,
      cacheMounts: [],
      blank,
      path: env["PATH"] ?? "",
      ownFolders: [],
      links: {},
      named: {},
      hide: options.hide,
    });
    // What the project sets (`LD_PRELOAD`, for one) must reach nothing but the server: the programs around it run outside. And
    // everybody on the machine can read what stands on a command line.
    const set = Object.entries({ PATH: env["PATH"] ?? "", ...spec.env }).flatMap(([name, value]) => ["--setenv", name, value]);
    writeFileSync(variables, set.map((word) => `${word}\0`).join(""), { mode: 0o600 });
    const filter = filterFile(join(place.home, "commands"), options);
    const line = confinedLine({
      programs,
      link,
      filter: filter === null ? null : descriptors.filter,
      view: view.args,
      options: ["--args", String(descriptors.arguments)],
      cwd: spec.cwd,
      command: [spec.command, ...spec.args],
    });
    const opening = [
      ...(group === null ? [] : ['(echo $$ >"$3") 2>/dev/null']),
      ...(filter === null ? [] : [`exec ${descriptors.filter}<"$2"`]),
      `exec ${descriptors.arguments}<"$1"; shift 3; exec "$@"`,
    ].join("; ");
    const opened = ["/bin/sh", "-c", opening, "sh", variables, filter ?? "", group?.joinAt ?? ""];
    const [program = "", ...args] = [...programs.alone, ...opened, ...link.before, ...line];
    return { program: findProgram(program, outer) ?? program, args, cwd: "/", env: { ...env, PATH: outer }, release };
  } catch (error) {
    await release();
    throw error;
  }
}
