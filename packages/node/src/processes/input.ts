import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunFolder } from "./folders.ts";
import { readStat, startTimeOf } from "./identity.ts";
import { endOfRun, readStart } from "./records.ts";
import type { TakenRecord } from "./records.ts";
import { signal } from "./tree.ts";

/** How long a full pipe may stay full: a program that is busy reads later, one that doesn't read never does. */
const patienceMs = 2_000;
const pollMs = 20;

type Open = TakenRecord & { readonly input: NonNullable<TakenRecord["input"]> };

/** See `Processes.write`. Whoever attached to the run can write, for the pipe has a name. */
export async function writeInput(folder: RunFolder, bytes: Uint8Array): Promise<number | null> {
  if ((await openInput(folder)) === null) return null;
  const pipe = await openPipe(folder);
  if (pipe === null) return null;
  try {
    let written = 0;
    const until = Date.now() + patienceMs;
    while (written < bytes.length) {
      const taken = await writeSome(pipe, bytes.subarray(written));
      written += taken;
      if (taken === 0 && (Date.now() > until || endOfRun(folder) !== null)) break;
      if (taken === 0) await sleep(pollMs);
    }
    return written;
  } finally {
    await pipe.close();
  }
}

/** See `Processes.closeInput`. What was written before is still read. */
export async function closeInput(folder: RunFolder): Promise<void> {
  // The keeper could miss a signal that comes as early as can be.
  for (;;) {
    const start = await openInput(folder);
    if (start === null || start.input.type === "terminal") return;
    signal(start.input.keeper, "SIGTERM");
    await sleep(pollMs);
  }
}

/** The record of a run whose input is still open; null where it is not, or there is none. */
async function openInput(folder: RunFolder): Promise<Open | null> {
  for (let look = 0; ; look += 1) {
    const start = readStart(folder);
    if (start.type !== "taken" || endOfRun(folder) !== null) return null;
    if (start.input !== null) return isKept(start.pid, start.input.keeper) ? { ...start, input: start.input } : null;
    // The wrapper notes the input before the command, a moment after it took its claim.
    if (start.command !== null || look > 100) return null;
    await sleep(pollMs);
  }
}

/** A pid that is somebody else's by now has another parent. */
function isKept(wrapper: number, keeper: number): boolean {
  if (process.platform !== "linux") return startTimeOf(keeper) !== null;
  const stat = readStat(keeper);
  return stat !== null && stat[0] !== "Z" && stat[0] !== "X" && Number(stat[1]) === wrapper;
}

async function openPipe(folder: RunFolder): Promise<FileHandle | null> {
  try {
    return await open(folder.input, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    // Nobody has the other end, or the run's records are gone.
    if (["ENXIO", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

async function writeSome(pipe: FileHandle, bytes: Uint8Array): Promise<number> {
  try {
    return (await pipe.write(bytes)).bytesWritten;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EAGAIN" || code === "EPIPE") return 0;
    throw error;
  }
}
