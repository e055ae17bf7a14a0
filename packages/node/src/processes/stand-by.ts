import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { requestPath } from "./given.ts";
import { startTimeOf } from "./identity.ts";
import type { Launch } from "./launch.ts";
import type { Saying, Wrapper } from "./wrapper.ts";
import { claimLost, claimUnwritten, listenTo, otherForm, spawnWrapper } from "./wrapper.ts";

/**
 * A shell that stands by and forks a wrapper for each command (`sh/stand-by.sh`): a fork of ours copies all our memory's
 * tables, and a new shell has to read its script. It is there from the first command on, until none came for a while.
 */
export interface StandBy {
  start(launch: Launch): Wrapper;
  /** Resolves when it has ended. What it began goes on. */
  close(): Promise<void>;
}

/** How long it stays without anything to do. */
const idleMs = 60_000;
/** How often we look whether a wrapper still lives: one that is killed says nothing. */
const lookEveryMs = 100;
/** A wrapper of which nothing is heard so long after the shell has ended was never started. */
const silentMs = 1_000;

interface Shell {
  readonly child: ChildProcess;
  readonly listeners: Map<number, (saying: Saying) => void>;
  endedAt: number | null;
  idle: NodeJS.Timeout | null;
}

export function createStandBy(mark: string): StandBy {
  /** By where they are: a network namespace is entered once. */
  const shells = new Map<string, Shell>();
  let started = 0;

  const shellFor = (launch: Launch): Shell => {
    const place = launch.within.join("\0");
    const known = shells.get(place);
    if (known !== undefined && known.endedAt === null) return known;
    const made = openShell(launch, mark);
    shells.set(place, made);
    return made;
  };
  const end = async (shell: Shell): Promise<void> => {
    if (shell.idle !== null) clearTimeout(shell.idle);
    for (const [place, known] of shells) if (known === shell) shells.delete(place);
    if (shell.endedAt !== null) return;
    shell.child.ref();
    shell.child.stdin?.end();
    await once(shell.child, "exit");
  };

  return {
    start: (launch) => {
      if (!canStandBy(launch)) return spawnWrapper(launch);
      const shell = shellFor(launch);
      const number = (started += 1);
      const request = requestPath(launch.folder, number);
      try {
        writeFileSync(request, requestOf(launch), { mode: 0o600 });
      } catch (error) {
        rmSync(request, { force: true });
        throw error;
      }
      if (shell.idle !== null) clearTimeout(shell.idle);
      const forget = (): void => {
        shell.listeners.delete(number);
        rmSync(request, { force: true });
        if (shell.listeners.size === 0) shell.idle = setTimeout(() => void end(shell), idleMs).unref();
      };
      const wrapper = follow(shell, number, () => rmSync(request, { force: true }), forget);
      shell.child.stdin?.write(`${number} ${request}\n`);
      return wrapper;
    },
    close: async () => {
      await Promise.all([...shells.values()].map(end));
    },
  };
}

function openShell({ within, bash, standBy, environment, wrapperEnvironment }: Launch, mark: string): Shell {
  const [program = bash, ...args] = [...within, bash, "--posix", standBy];
  const child = spawn(program, args, {
    detached: true,
    cwd: "/",
    env: { PATH: environment["PATH"] ?? "", ...wrapperEnvironment, HOLDFAST_WRAPPER: mark },
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
  const shell: Shell = { child, listeners: new Map(), endedAt: null, idle: null };
  const end = (): void => void (shell.endedAt ??= performance.now());
  child.once("exit", end).once("error", end);
  child.stdin?.on("error", end);
  const channel = child.stdio[3] as Readable & Socket;
  listenTo(channel, (saying) => shell.listeners.get(saying.number)?.(saying));
  // Nothing of it keeps us: a run that is waited for does.
  child.unref();
  (child.stdin as Socket | null)?.unref();
  channel.unref();
  return shell;
}

function follow(shell: Shell, number: number, onClaim: () => void, onLeft: () => void): Wrapper {
  const claimed = Promise.withResolvers<number | null>();
  const ended = Promise.withResolvers<void>();
  const left = Promise.withResolvers<number | Error | null>();
  let pid: number | null = null;
  let gone = 0;
  // This also keeps us running as long as the wrapper does. What it said before it left may be heard after the first look.
  const looking = setInterval(() => {
    if (pid !== null && startTimeOf(pid) === null) gone += 1;
    if (gone > 1) leave(null);
    const silentSince = pid === null ? shell.endedAt : null;
    if (silentSince === null || performance.now() - silentSince < silentMs) return;
    const { exitCode } = shell.child;
    leave(exitCode === otherForm ? otherForm : new Error(`the shell that was to start it ended with ${exitCode ?? "a signal"}`));
  }, lookEveryMs);
  const leave = (how: number | Error | null): void => {
    clearInterval(looking);
    claimed.resolve(null);
    ended.resolve();
    left.resolve(how);
    onLeft();
  };
  const awaitExit = async (): Promise<void> => {
    while (pid !== null && startTimeOf(pid) !== null) await sleep(1);
    leave(0);
  };
  shell.listeners.set(number, (saying) => {
    if (saying.word === "pid" || saying.word === "ok") pid = saying.pid;
    if (saying.word === "ok") {
      onClaim();
      claimed.resolve(pid);
    }
    if (saying.word === "taken") leave(claimLost);
    if (saying.word === "unwritten") leave(claimUnwritten);
    if (saying.word !== "ended") return;
    ended.resolve();
    void awaitExit();
  });
  return { claimed: claimed.promise, ended: ended.promise, left: left.promise };
}

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A shell doesn't let go of these. */
const readOnly = new Set(["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"]);

/** Where there is no /proc nobody could tell whether a wrapper still lives; and a shell can't pass on every name. */
function canStandBy({ folder, environment }: Launch): boolean {
  const names = Object.keys(environment);
  return process.platform === "linux" && !folder.base.includes("\n") && names.every((name) => plainName.test(name) && !readOnly.has(name));
}

/** What the fork is to read: the command's environment, and the wrapper's arguments. */
function requestOf({ environment, args }: Launch): string {
  const exported = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  return `export ${exported.join(" ")}\nwrap "$number" ${args.map(quoted).join(" ")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
