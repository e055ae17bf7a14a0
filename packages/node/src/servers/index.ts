import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerEnd, ServerProcess, ServerProcesses, ServerSpec } from "@holdfast/runtime/ports/server-processes";
import { defaultScripts } from "../processes/launch.ts";
import { splitLines } from "./lines.ts";

/** The longest line a server may send: a message, with images in it. */
const longestLine = 32 * 1024 * 1024;
/** How much of its standard error is kept. */
const lastWordsBytes = 8 * 1024;
/** How long a server may take to end once its input is closed, and once it was asked. */
const afterCloseMs = 400;
const afterAskMs = 800;

/** What is to be spawned for a server. */
export interface ServerLaunch {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called once it is gone. */
  readonly release?: () => Promise<void>;
}

export interface ServersOptions {
  /** Works out how a server is started, inside the sandbox where it is confined. What it throws is why it could not start. */
  readonly launch: (spec: ServerSpec) => Promise<ServerLaunch>;
}

/** Groups that live, for the moment this process ends without stopping them. */
const living = new Set<number>();
let watchesExit = false;

export function createServers({ launch }: ServersOptions): ServerProcesses {
  return { start: (spec) => startServer(launch(spec)) };
}

function startServer(launching: Promise<ServerLaunch>): ServerProcess {
  let words = Buffer.alloc(0);
  let dropped = 0;
  let isStopping = false;
  const began = launching.then(begin);
  const ended = began.then(
    ({ gone }) => gone,
    (error: unknown): ServerEnd => ({ exitCode: null, signal: null, error: error instanceof Error ? error.message : String(error) }),
  );
  const server: ServerProcess = {
    onLine: null,
    ended,
    lastWords: () => words.toString("utf8"),
    droppedLines: () => dropped,
    async send(line) {
      const { child } = await began;
      await write(child.stdin!, `${line}\n`);
    },
    async stop() {
      isStopping = true;
      const running = await began.catch(() => null);
      if (running !== null) await end(running.child, running.gone);
    },
  };
  return server;

  async function begin({ program, args, cwd, env, release }: ServerLaunch): Promise<{ child: ChildProcess; gone: Promise<ServerEnd> }> {
    if (isStopping) throw new Error("it was stopped before it began");
    watchExit();
    const child = spawn("/bin/sh", [`${defaultScripts}serve.sh`, program, ...args], {
      cwd,
      env: { ...env },
      // A group of its own: an interrupt typed at the terminal is for us, not for it.
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    const group = child.pid;
    if (group !== undefined) living.add(group);
    // A server that ended leaves broken pipes; its end is told by its exit.
    for (const stream of child.stdio) stream?.on("error", () => undefined);
    const lines = splitLines(longestLine);
    child.stdout!.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) server.onLine?.(line);
      dropped = lines.dropped();
    });
    (child.stderr as Readable).on("data", (chunk: Buffer) => {
      words = Buffer.concat([words, chunk]).subarray(-lastWordsBytes);
    });
    const gone = new Promise<ServerEnd>((resolve) => {
      child.on("error", (error) => resolve({ exitCode: null, signal: null, error: error.message }));
      child.on("exit", (exitCode, signal) => {
        void outputEnds(child).then(() => resolve({ exitCode, signal, error: null }));
      });
    }).then(async (end) => {
      if (group !== undefined) {
        // Whatever the server had started and left behind.
        signalGroup(group, "SIGKILL");
        living.delete(group);
      }
      for (const stream of child.stdio) stream?.destroy();
      await release?.();
      return end;
    });
    return { child, gone };
  }
}

/** What it wrote before it ended is read first; a process it left behind may hold the pipe, so this has an end. */
async function outputEnds(child: ChildProcess): Promise<void> {
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const quit = new AbortController();
  await Promise.race([closed, sleep(200, undefined, { signal: quit.signal, ref: false }).catch(() => undefined)]);
  quit.abort();
}

async function end(child: ChildProcess, gone: Promise<ServerEnd>): Promise<void> {
  const group = child.pid;
  child.stdin?.end();
  if (group === undefined || (await within(afterCloseMs, gone))) return;
  signalGroup(group, "SIGTERM");
  if (await within(afterAskMs, gone)) return;
  signalGroup(group, "SIGKILL");
  await gone;
}

async function within(ms: number, gone: Promise<ServerEnd>): Promise<boolean> {
  const quit = new AbortController();
  const isGone = await Promise.race([gone.then(() => true), sleep(ms, false, { signal: quit.signal }).catch(() => false)]);
  quit.abort();
  return isGone;
}

function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

function signalGroup(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // Nobody is left in it.
  }
}

/** The pipe on descriptor 3 ends a server's group when we are killed; at an orderly exit there is no need to wait for that. */
function watchExit(): void {
  if (watchesExit) return;
  watchesExit = true;
  process.on("exit", () => {
    for (const group of living) signalGroup(group, "SIGKILL");
  });
}
