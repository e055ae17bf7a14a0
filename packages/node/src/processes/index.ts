import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { CommandLimits, CommandRecord, CommandSpec, OutputSlice, Processes, RunningCommand } from "@holdfast/runtime/ports/processes";
import type { Resolve } from "@holdfast/runtime/network/hosts";
import { createGit } from "../observer/git.ts";
import { createGitNamed } from "../sandbox/git-named.ts";
import { createGitlinks } from "../sandbox/gitlinks.ts";
import { hideLateSockets } from "../sandbox/late-sockets.ts";
import { enterView, holderName } from "../sandbox/namespace.ts";
import { createNetworks } from "../sandbox/network.ts";
import type { Link } from "../sandbox/network.ts";
import { defaultLimits, defaultSandbox } from "../sandbox/options.ts";
import type { SandboxOptions } from "../sandbox/options.ts";
import { probeSandbox } from "../sandbox/problem.ts";
import type { SandboxPrograms } from "../sandbox/problem.ts";
import { outerPath } from "../sandbox/programs.ts";
import { callFilter } from "../sandbox/seccomp.ts";
import { nearestReal } from "../sandbox/real.ts";
import { delegatedGroup, findGroup, makeGroup } from "./cgroup.ts";
import type { RunGroup } from "./cgroup.ts";
import { pauseRun } from "./control.ts";
import { entriesFolder, fileName, markOf, refOf, runFolder, sessionFolders } from "./folders.ts";
import { bootId, currentOwner } from "./identity.ts";
import { closeInput, writeInput } from "./input.ts";
import { defaultScripts, prepareLaunch } from "./launch.ts";
import { lifeIn, livingIn } from "./life.ts";
import { createLocate } from "./locate.ts";
import type { LaunchContext } from "./launch.ts";
import { endOfRun, readStart, revokeClaim, unfinished } from "./records.ts";
import { removeOwned } from "./remove.ts";
import { attachRun, giveBack, startRun } from "./run.ts";
import { createStandBy } from "./stand-by.ts";
import { sizeOfFolder } from "./size.ts";
import type { Run, RunPlace } from "./run.ts";
import { isFull, unwritable } from "./unwritable.ts";
import { createWatch } from "./watch.ts";
import type { Watch } from "./watch.ts";

export interface ProcessesOptions {
  /** HOLDFAST_HOME: records and spools lie below it, and it is hidden from every sandboxed command. */
  readonly home: string;
  /** Roots of the workspace. */
  readonly workspaceRoots?: readonly string[];
  /** Whose credential folders are hidden. Default: the user's home folder. */
  readonly userHome?: string;
  /** What our own environment is; commands get a few named variables of it. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** What a person reads of who holds a session. */
  readonly label?: string;
  /** Finds the addresses of an allowed host. Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Folder of the wrapper's scripts, where they don't lie beside this package's sources. */
  readonly scripts?: string;
  /** Of further programs of ours that run outside the sandbox: a command never changes them, even in its workspace. */
  readonly ownFolders?: readonly string[];
  /** What a command may use, where it is otherwise than usual. */
  readonly limits?: Partial<CommandLimits>;
  /** The folder of the kernel's hierarchy of control groups in which each run gets its own. Default: what is delegated to us. */
  readonly groups?: string;
  /** Parts of the sandbox that are otherwise than usual. */
  readonly sandbox?: Partial<SandboxOptions>;
  /** The program that commands of a session find as `apply_patch`: it tells by the name what it is to be. */
  readonly launcher?: string;
  /** Values that no output keeps once its command has ended. */
  readonly secrets?: () => readonly string[];
  /** Told of a secret that only an earlier process held, which gave it to a command that is attached to. */
  readonly onSecret?: (value: string) => void;
}

/** Commands on this machine, under the wrapper in `sh/`, in a bubblewrap sandbox on Linux. */
export function createProcesses(options: ProcessesOptions): Processes & {
  /** Ends what stands by; commands go on. Resolves when it has ended. */
  close(): Promise<void>;
  /** Names what the session's sandboxed commands share (their /tmp, their network) as long as it stands; null where nothing does. */
  standing(session: string): string | null;
} {
  mkdirSync(join(options.home, "commands"), { recursive: true, mode: 0o700 });
  const home = realpathSync(options.home);
  const environment = options.environment ?? process.env;
  const workspaceRoots = (options.workspaceRoots ?? []).map(nearestReal);
  const userHome = nearestReal(options.userHome ?? environment["HOME"] ?? homedir());
  const scripts = options.scripts ?? defaultScripts;
  const git = createGit(userHome, workspaceRoots);
  const context: LaunchContext = {
    home,
    userHome,
    workspaceRoots,
    environment,
    scripts,
    ownFolders: [scripts, ...(options.launcher === undefined ? [] : [options.launcher])]
      .map((path) => dirname(nearestReal(path)))
      .concat((options.ownFolders ?? []).map(nearestReal)),
    entries: options.launcher === undefined ? null : { folder: entriesFolder(home), launcher: nearestReal(options.launcher) },
    outerPath: outerPath(environment["PATH"], workspaceRoots),
    networks: createNetworks(home, options.resolve),
    gitlinks: createGitlinks(git),
    gitNamed: createGitNamed(git, userHome),
    sandbox: () => ({ ...defaultSandbox(), ...options.sandbox }),
    joinAt: null,
    onLink: () => undefined,
  };
  const life = lifeIn(home);
  const owner = {
    ...currentOwner(options.label ?? `${basename(process.argv[1] ?? "node")} in ${process.cwd()}`),
    ...(life !== null && { life }),
  };
  const standBy = createStandBy(markOf(home, "stand-by"));
  let knownBounds: { readonly limits: CommandLimits; readonly watch: Watch; readonly groups: string | null } | undefined;
  /** What the machine has is looked up for the first command. */
  const bounds = (): NonNullable<typeof knownBounds> => {
    if (knownBounds !== undefined) return knownBounds;
    const limits = { ...defaultLimits(), ...options.limits };
    return (knownBounds = { limits, watch: createWatch(limits), groups: options.groups ?? delegatedGroup() });
  };
  const runs = new Map<string, Run>();
  let probe: ReturnType<typeof probeSandbox> | undefined;
  const sandbox = (): ReturnType<typeof probeSandbox> => (probe ??= probeSandbox(scripts, context.outerPath));

  const hideSockets = (inner: number): void => {
    void sandbox().then((found) => {
      if ("programs" in found) hideLateSockets(inner, (pid) => enterView(pid, found.programs));
    });
  };
  const placeOf = (ref: string, networkFolder: string, disks: readonly string[], group: RunGroup | null): RunPlace => ({
    ref,
    life,
    mark: markOf(home, ref),
    folder: runFolder(home, ref),
    networkFolder,
    networks: context.networks,
    git,
    gitlinks: context.gitlinks,
    standBy,
    watch: bounds().watch,
    disks,
    secrets: options.secrets ?? (() => []),
    onGiven: (secrets) => secrets.forEach((value) => options.onSecret?.(value)),
    group,
    onLook: context.sandbox().unixSockets ? hideSockets : null,
  });
  const keep = (run: Run): Run => {
    runs.set(run.ref, run);
    void run.gone.finally(() => runs.delete(run.ref)).catch(() => undefined);
    return run;
  };

  const standing = (session: string): string | null => holderName(sessionFolders(home, session).network);

  const start = async (spec: CommandSpec): Promise<RunningCommand> => {
    const ref = refOf(spec.session, spec.id, spec.attempt);
    // The wrapper decides; this spares a claim that is plainly lost from touching the folders of the one that won.
    if (readStart(runFolder(home, ref)).type !== "none")
      throw new HoldfastError("claim_lost", `The run ${ref} was started or revoked before.`);
    await tidied(runs, spec.session);
    try {
      return await startOnce(spec, ref);
    } catch (error) {
      // What its shell was to join can end just after it was found. Then nothing was started, and a new one is made.
      const isUnstarted = isHoldfastError(error, "internal") && readStart(runFolder(home, ref)).type === "none";
      if (!isUnstarted || spec.confinement.mode === "off" || standing(spec.session) !== null) throw error;
      return startOnce(spec, ref);
    }
  };

  const startOnce = async (spec: CommandSpec, ref: string): Promise<Run> => {
    const { groups, limits } = bounds();
    const group = groups === null ? null : makeGroup(groups, `${home}/${ref}`, limits);
    const disks = [...spec.confinement.roots, sessionFolders(home, spec.session).base];
    const linked = new Map<string, Link>();
    const made = { ...context, joinAt: group?.joinAt ?? null, onLink: linked.set.bind(linked) };
    try {
      const launch = await prepareLaunch(spec, ref, made, await programsFor(spec, sandbox));
      return keep(await startRun(launch, placeOf(ref, launch.networkFolder, disks, group)));
    } catch (error) {
      await giveBack(error, runFolder(home, ref), context.networks, linked, group);
      throw isFull(error) ? unwritable(sessionFolders(home, spec.session).base, error) : error;
    }
  };

  const attach = async (ref: string, session: string): Promise<Run> => {
    const folder = runFolder(home, ref);
    const isCheck = existsSync(folder.tmp) || existsSync(folder.network);
    const known = runs.get(ref);
    if (known !== undefined) return known;
    if (readStart(folder).type === "newer") throw newerRecord(ref);
    const { network, base } = sessionFolders(home, session);
    const { groups, limits } = bounds();
    const group = findGroup(groups, `${home}/${ref}`, limits);
    return keep(await attachRun(placeOf(ref, isCheck ? folder.network : network, [...workspaceRoots, base], group)));
  };

  let locate: ReturnType<typeof createLocate> | undefined;
  return {
    owner,
    isAlive: livingIn(home),
    sandboxProblem: async () => {
      const found = await sandbox();
      return "problem" in found ? found.problem : null;
    },
    sandboxForm: async () => {
      const found = await sandbox();
      return "problem" in found ? [] : formOf(found.programs, context.sandbox(), bounds());
    },
    start,
    attach: (session, id, attempt) => attach(refOf(session, id, attempt), session),
    record: (session, id, attempt, intentBoot) => recordOf(home, session, refOf(session, id, attempt), intentBoot),
    locate: (program) => (locate ??= createLocate(environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", workspaceRoots))(program),
    revoke: async (session, id, attempt) => {
      const taken: number[] = [];
      for (let number = 0; number <= attempt; number += 1) {
        if (!revokeClaim(runFolder(home, refOf(session, id, number)))) taken.push(number);
      }
      return { taken };
    },
    read: (ref, offset, length) => readSpool(runFolder(home, ref).output, offset, length),
    write: (ref, bytes) => writeInput(runFolder(home, ref), bytes),
    closeInput: (ref) => closeInput(runFolder(home, ref)),
    pause: async (ref, paused) => pauseRun(runFolder(home, ref), markOf(home, ref), paused),
    endRuns: async (session, idPrefix) => {
      const ofPrefix = unfinished(home, session).filter((ref) => ref.startsWith(`${fileName(session)}/${idPrefix}`));
      await Promise.all(ofPrefix.map(async (ref) => (await attach(ref, session)).stop()));
    },
    forgetOutput: async (session, id) => {
      const attempts = join(sessionFolders(home, session).runs, fileName(id));
      const names = existsSync(attempts) ? readdirSync(attempts) : [];
      await Promise.all(
        names.map((attempt) => rm(runFolder(home, `${fileName(session)}/${fileName(id)}/${attempt}`).output, { force: true })),
      );
    },
    remains: async (session) => ({
      bytes: await sizeOfFolder(sessionFolders(home, session).base),
      isRunning: unfinished(home, session).some((ref) => endOfRun(runFolder(home, ref)) === null),
    }),
    endSession: async (session, { forget }) => {
      const folders = sessionFolders(home, session);
      await Promise.all(unfinished(home, session).map(async (ref) => (await attach(ref, session)).stop()));
      await context.networks.end(folders.network);
      await tidied(runs, session);
      if (forget) await removeOwned(folders.base);
    },
    standing,
    close: () => standBy.close(),
  };
}

function formOf(
  { socat }: SandboxPrograms,
  options: SandboxOptions,
  { limits, groups }: { readonly limits: CommandLimits; readonly groups: string | null },
): string[] {
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;
  const filter = callFilter(process.arch, options) === null ? `no filter of system calls on ${process.arch}` : "system calls filtered";
  return [
    `bubblewrap, ${filter}`,
    `at most ${limits.processes} processes and ${megabytes(limits.memoryBytes)} of memory, ${megabytes(limits.freeBytes)} of each disk stay free: held by ${groups === null ? "a watch that looks eight times a second (no cgroup is delegated here)" : `a cgroup (${groups}) and a watch`}`,
    `/tmp in memory, ${megabytes(options.tmpBytes)} at most`,
    options.hide.length === 0
      ? "every file of the workspace readable, .env too ([sandbox] hide)"
      : `hidden in the workspace: ${options.hide.join(", ")}`,
    options.unixSockets ? "Unix sockets of the machine hidden" : "no Unix sockets",
    socat === null ? "no network can be opened: socat is missing" : "hosts through a proxy alone",
  ];
}

/** Null: run it unconfined. Throws `sandbox_unavailable`. */
async function programsFor(spec: CommandSpec, sandbox: () => ReturnType<typeof probeSandbox>): Promise<SandboxPrograms | null> {
  if (spec.confinement.mode === "off" || spec.confinement.scope.unsandboxed === true) return null;
  const found = await sandbox();
  if ("problem" in found) throw new HoldfastError("sandbox_unavailable", found.problem);
  return found.programs;
}

/** A command that follows another finds nothing left of it. */
async function tidied(runs: ReadonlyMap<string, Run>, session: string): Promise<void> {
  const over = [...runs.values()].filter((run) => run.ref.startsWith(`${fileName(session)}/`) && run.isOver());
  await Promise.all(over.map((run) => run.gone.catch(() => undefined)));
}

async function recordOf(home: string, session: string, ref: string, intentBoot: string | undefined): Promise<CommandRecord> {
  const folder = runFolder(home, ref);
  let found = readStart(folder);
  // The wrapper may be between making the file and writing the line.
  for (let look = 0; found.type === "broken" && look < 5; look += 1) {
    await sleep(10);
    found = readStart(folder);
  }
  if (found.type === "none") return { type: "none", sameBoot: (intentBoot ?? firstBoot(sessionFolders(home, session).boot)) === bootId() };
  if (found.type === "revoked") return { type: "revoked" };
  if (found.type === "newer") throw newerRecord(ref);
  const end = endOfRun(folder);
  if (end !== null) return { type: "ended", ...end, isOfEarlierBoot: found.type === "taken" && found.bootId !== bootId() };
  return { type: "running", pid: found.type === "taken" ? found.pid : 0 };
}

function newerRecord(ref: string): HoldfastError {
  return new HoldfastError("session_newer", `The start record of the run ${ref} was written by a newer version of Holdfast.`, {
    hint: "use the newer version; the record was left as it is",
  });
}

function firstBoot(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

async function readSpool(path: string, offset: number, length: number): Promise<OutputSlice> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (file === null) return { bytes: new Uint8Array(), size: 0 };
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return { bytes: bytes.subarray(0, filled), size };
  } finally {
    await file.close();
  }
}
