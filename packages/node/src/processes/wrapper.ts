import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Launch } from "./launch.ts";

/** The process that runs a command for us and outlives us: `sh/wrap.sh`. */
export interface Wrapper {
  /** Its pid once it has taken its claim; null where it left without. */
  readonly claimed: Promise<number | null>;
  /** Resolves when it says that the exit record stands, or leaves. */
  readonly ended: Promise<void>;
  /** How it left: its exit status, null for a signal or where nobody knows, or why it could not be started. */
  readonly left: Promise<number | Error | null>;
}

/** It says with this exit status that the attempt was taken before. */
export const claimLost = 75;
/** And with this one that it is of another form than we are. */
export const otherForm = 76;
/** And with this one that its claim could not be written. */
export const claimUnwritten = 77;

/** A word that a wrapper says to its starter, after the number it was given. */
const saying = /^(\d+) (ok|taken|unwritten|ended|pid)(?: (\d+))?$/;

export interface Saying {
  readonly number: number;
  readonly word: string;
  readonly pid: number;
}

export function listenTo(channel: Readable, onSaying: (saying: Saying) => void): void {
  channel.on("error", () => undefined);
  createInterface({ input: channel, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
    const [, number, word = "", pid] = saying.exec(line) ?? [];
    if (number !== undefined) onSaying({ number: Number(number), word, pid: Number(pid) });
  });
}

/** A wrapper as a process that is started for this one command. */
export function spawnWrapper({ within, bash, script, args, environment, wrapperEnvironment }: Launch): Wrapper {
  const [program = bash, ...rest] = [...within, bash, "--posix", script, "0", ...args];
  const child = spawn(program, rest, {
    detached: true,
    cwd: "/",
    env: { ...environment, ...wrapperEnvironment },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const left = new Promise<number | Error | null>((resolve) => {
    child.once("exit", resolve);
    child.once("error", resolve);
  });
  const [ok, ended] = [Promise.withResolvers<number | null>(), Promise.withResolvers<void>()];
  listenTo(child.stdio[3] as Readable, ({ word, pid }) => {
    if (word === "ok") ok.resolve(pid);
    if (word === "ended") ended.resolve();
  });
  void left.then(() => {
    ok.resolve(null);
    ended.resolve();
  });
  return { claimed: ok.promise, ended: ended.promise, left };
}
