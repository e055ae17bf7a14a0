import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HoldfastError } from "@holdfast/protocol/error";
import type { CommandInput, CommandSpec } from "@holdfast/runtime/ports/processes";
import { caches } from "../sandbox/caches.ts";
import { confinedLine } from "../sandbox/line.ts";
import type { Link, Networks } from "../sandbox/network.ts";
import { commandReach } from "../sandbox/network.ts";
import type { SandboxPrograms } from "../sandbox/problem.ts";
import { noteHeld } from "../sandbox/git-held.ts";
import { noteLinks } from "../sandbox/gitlinks.ts";
import { noteKept } from "../sandbox/replaced.ts";
import type { ListGitNamed } from "../sandbox/git-named.ts";
import type { KnownLinks, ListGitlinks } from "../sandbox/gitlinks.ts";
import { nearestReal } from "../sandbox/real.ts";
import { findProgram } from "../sandbox/programs.ts";
import type { Sight } from "../sandbox/refused.ts";
import { noteAbsent } from "../sandbox/intruders.ts";
import { filterFile } from "../sandbox/seccomp.ts";
import type { SandboxOptions } from "../sandbox/options.ts";
import { blankFile, groundOf, viewOf } from "../sandbox/view.ts";
import type { GroundInput, View } from "../sandbox/view.ts";
import { commandEnvironment } from "./environment.ts";
import { bootId } from "./identity.ts";
import { noteOwner } from "./owner-note.ts";
import { markOf, runFolder, sessionFolders } from "./folders.ts";
import type { RunFolder } from "./folders.ts";
import { lookThrough } from "../files/missing.ts";

/** What the launching of a command depends on besides the command. Paths are real. */
export interface LaunchContext {
  readonly home: string;
  readonly userHome: string;
  readonly workspaceRoots: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder of run.sh and its like. */
  readonly scripts: string;
  /** Folders of the programs of ours that run outside the sandbox. */
  readonly ownFolders: readonly string[];
  /** PATH for what runs outside the sandbox. */
  readonly outerPath: string;
  /** Our own programs for commands: the folder on their PATH, and what stands in it under several names. */
  readonly entries: { readonly folder: string; readonly launcher: string } | null;
  readonly networks: Networks;
  readonly gitlinks: ListGitlinks;
  readonly gitNamed: ListGitNamed;
  readonly sandbox: () => SandboxOptions;
  /** Where the command joins its control group; null where it has none. */
  readonly joinAt: string | null;
  /** Told of the network that the command was given, by its folder. */
  readonly onLink: (folder: string, link: Link) => void;
}

/** Exactly what is to be spawned. */
export interface Launch {
  readonly folder: RunFolder;
  /** What is put before a program for it to run in the command's network namespace; empty where that is ours. */
  readonly within: readonly string[];
  readonly bash: string;
  /** The wrapper, and the shell that stands by to fork one. */
  readonly script: string;
  readonly standBy: string;
  /** The wrapper's, after its number. */
  readonly args: readonly string[];
  /** The command's, and of the wrapper's programs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of that, what whoever starts it has given to it. */
  readonly given: Readonly<Record<string, string>>;
  /** The wrapper takes this out again: its helpers keep it, the command never has it. */
  readonly wrapperEnvironment: Readonly<Record<string, string>>;
  readonly link: Link | null;
  /** Null where it isn't confined. */
  readonly sight: Sight | null;
  readonly input: CommandInput | null;
  /** Of the network namespace: the session's, or the run's own. */
  readonly networkFolder: string;
}

/** An argument of a program has 128 KiB at most on Linux. */
const longestCommand = 120_000;

/** Where a caller says "no limit": what the shell can still count. */
const longestMs = 1e11;
const largestOutput = 2 ** 50;

/** Where the wrapper opens the filter of system calls for bubblewrap, which closes it. */
const filterDescriptor = 12;

/** A command that ends within this needs no timer of its own. */
const momentMs = 100;

/** The time limit in seconds, and the two parts in which the wrapper waits for it; none is 0, which would be no waiting. */
function limitParts(ms: number): string[] {
  const first = Math.max(1, Math.min(ms, momentMs));
  return [ms, first, Math.max(1, ms - first)].map((part) => (part / 1000).toFixed(3));
}

export const defaultScripts = fileURLToPath(new URL("../../sh/", import.meta.url));

/** Makes the run's folders and works out its command line. `programs` null: unconfined. */
export async function prepareLaunch(
  spec: CommandSpec,
  ref: string,
  context: LaunchContext,
  programs: SandboxPrograms | null,
): Promise<Launch> {
  const bash = bashIn(context.outerPath);
  const isRoot = process.getuid?.() === 0;
  checkSpec(spec);
  const folder = runFolder(context.home, ref);
  const session = sessionFolders(context.home, spec.session);
  const isCheck = spec.confinement.purpose === "check";
  const [tmp, cache] = isCheck ? [folder.tmp, folder.cache] : [session.tmp, session.cache];
  for (const path of [folder.base, tmp, cache]) mkdirSync(path, { recursive: true, mode: 0o700 });
  noteBoot(session.boot);
  noteOwner(session.base, context.home);
  writeFileSync(folder.output, "", { flag: "a", mode: 0o600 });

  const reach = commandReach(spec.confinement);
  const isAlone = isCheck && spec.confinement.joinsSession !== true;
  const networkFolder = isAlone ? folder.network : session.network;
  const entries = isCheck ? null : context.entries;
  if (entries !== null) linkEntries(entries);
  const options = context.sandbox();
  const ground: GroundInput = {
    holdfastHome: context.home,
    userHome: context.userHome,
    environment: context.environment,
    tmp: options.tmpBytes,
    cache,
    blank: blankFile(context.home),
    path: `${entries?.folder ?? ""}:${context.environment["PATH"] ?? ""}`,
    ...(entries !== null && { entries: [entries.folder], programs: programFolders(entries.launcher) }),
  };
  // Writable by us, as it is opened again for each command; in the sandbox it is bound read-only.
  if (programs !== null) writeFileSync(ground.blank, "", { flag: "a", mode: 0o600 });
  const link =
    programs === null
      ? null
      : await context.networks.link(networkFolder, session.base, reach, isAlone ? null : () => groundOf(ground), programs, isCheck);
  if (link !== null) context.onLink(networkFolder, link);
  const cached =
    programs === null && !isCheck
      ? null
      : await caches({
          cache,
          isOffline: programs !== null && reach === "none",
          isCheck,
          userHome: context.userHome,
          parent: context.environment,
          roots: spec.confinement.roots,
          outerPath: context.outerPath,
        });
  const found = commandEnvironment(context.environment, bash, programs === null ? tmp : "/tmp", {
    ...cached?.environment,
    ...link?.environment,
    ...(spec.input === "terminal" ? { TERM: terminalType } : {}),
    ...spec.env,
  });
  const environment = entries === null ? found : { ...found, PATH: `${entries.folder}:${found["PATH"] ?? ""}` };

  const { mode, roots } = spec.confinement;
  const watched = programs === null || mode !== "workspace-write" ? [] : roots.map(nearestReal);
  const links = watched.length === 0 ? {} : await noteLinks(folder.links, watched, context.gitlinks);
  if (watched.length > 0) noteHeld(folder.held, watched, spec.confinement.scope.writable ?? []);
  const named = Object.fromEntries(await Promise.all(watched.map(async (root) => [root, await context.gitNamed(root)] as const)));

  const filter = programs === null ? null : filterFile(join(context.home, "commands"), options);
  const mark = markOf(context.home, ref);
  const command = spec.input === "terminal" ? onTerminal(spec.command, bash, context.outerPath) : [bash, "-c", spec.command];
  const view = programs === null ? null : viewFor(links);
  const line = programs === null || view === null ? command : confined(programs, view);
  if (view !== null && view.absent.length > 0) noteAbsent(folder.absent, roots.map(nearestReal), view.absent);
  if (view !== null && view.kept.length > 0) noteKept(folder.kept, view.kept);
  return {
    folder,
    within: isRoot ? (link?.before ?? []) : [],
    bash,
    script: `${context.scripts}run.sh`,
    standBy: `${context.scripts}stand-by.sh`,
    args: [
      folder.base,
      mark,
      ...limitParts(Math.min(spec.timeoutMs, longestMs)),
      String(Math.max(1, Math.ceil(Math.min(spec.outputCap, largestOutput) / 512))),
      programs === null ? "no" : "yes",
      filter ?? "none",
      context.joinAt ?? "none",
      spec.input ?? "none",
      spec.cwd,
      String(view?.absent.length ?? 0),
      ...(view?.absent ?? []),
      ...line,
    ],
    environment: view === null ? environment : { ...environment, PATH: context.outerPath },
    given: spec.env,
    wrapperEnvironment: { HOLDFAST_WRAPPER: mark, HOLDFAST_WRAPPER_FORM: "7" },
    link,
    sight: view === null ? null : { ...view, cwd: spec.cwd, reach },
    input: spec.input ?? null,
    networkFolder,
  };

  function viewFor(links: KnownLinks): View {
    return viewOf({
      ...ground,
      confinement: spec.confinement,
      cacheMounts: cached?.mounts ?? [],
      ownFolders: context.ownFolders,
      hide: options.hide,
      links,
      named,
      ...(link !== null && link.view !== null && { standing: link.view }),
    });
  }

  function confined(found: SandboxPrograms, { args }: View): string[] {
    const variables = { HOLDFAST_RUN: mark, PATH: environment["PATH"] ?? "" };
    return [
      // Who isn't root needs a user namespace for it as well, and the wrapper stays outside of that.
      ...(isRoot ? [] : (link?.before ?? [])),
      ...confinedLine({
        programs: found,
        link,
        filter: filter === null ? null : filterDescriptor,
        view: args,
        options: ["--as-pid-1", ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value])],
        cwd: spec.cwd,
        command: [bash, "--posix", "-s", spec.input ?? "none", ...command],
      }),
    ];
  }
}

const entryNames = ["apply_patch", "applypatch"] as const;

/** Makes each name a link to the launcher, which tells by it what it is to be. */
function linkEntries({ folder, launcher }: { readonly folder: string; readonly launcher: string }): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of entryNames) {
    const path = join(folder, name);
    if (linkTarget(path) === launcher) continue;
    // Another process may be about to make the same.
    const fresh = `${path}.${process.pid}`;
    rmSync(fresh, { force: true });
    symlinkSync(launcher, fresh);
    renameSync(fresh, path);
  }
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** What the launcher needs: the package it belongs to, and the Node that runs us. */
function programFolders(launcher: string): string[] {
  return [dirname(dirname(launcher)), dirname(dirname(nearestReal(process.execPath)))];
}

/** Known to every system with terminals at all. */
const terminalType = "xterm-256color";
const terminalSize = { rows: 40, columns: 120 } as const;

/** The same with a pseudo terminal of its own around it (docs/decisions/0005-terminals.md). */
function onTerminal(line: string, bash: string, path: string): string[] {
  const script = process.platform === "linux" ? findProgram("script", path) : null;
  if (script === null) {
    throw new HoldfastError("terminal_unavailable", "A program can be given a terminal only where util-linux's script is installed.", {
      hint: "Install it (Debian, Ubuntu: bsdutils; Fedora: util-linux-script), or run the command without tty.",
    });
  }
  const size = `stty rows ${terminalSize.rows} cols ${terminalSize.columns}`;
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const whole = `${size}; exec ${quoted(bash)} -c ${quoted(line)}`;
  checkLength(whole);
  return [script, "-qefc", whole, "/dev/null"];
}

function bashIn(path: string | undefined): string {
  const bash = findProgram("bash", path);
  if (bash === null) {
    throw new HoldfastError("sandbox_unavailable", "There is no bash on PATH, and commands are lines for bash.", { hint: "Install bash." });
  }
  return bash;
}

function checkSpec(spec: CommandSpec): void {
  if (!lookThrough(spec.cwd)?.isDirectory()) {
    throw new HoldfastError("workspace_invalid", `The folder ${spec.cwd}, where the command was to run, is not there any more.`, {
      hint: `The nearest folder that is there: ${nearestFolder(spec.cwd)}`,
    });
  }
  if (spec.command.includes("\0"))
    throw new HoldfastError("tool_input_invalid", "The command holds a NUL byte, which no program can be given.");
  checkLength(spec.command);
}

function checkLength(line: string): void {
  if (Buffer.byteLength(line) > longestCommand) {
    throw new HoldfastError("tool_input_invalid", `The command is longer than ${longestCommand} bytes.`, {
      hint: "Write it to a file and run that.",
    });
  }
}

function nearestFolder(path: string): string {
  const parent = dirname(path);
  return parent === path || lookThrough(parent)?.isDirectory() ? parent : nearestFolder(parent);
}

/** The session's first boot stays: a session that began in an earlier one may have run what left no record. */
function noteBoot(path: string): void {
  try {
    writeFileSync(path, bootId(), { flag: "wx", mode: 0o600 });
  } catch {
    return;
  }
}
