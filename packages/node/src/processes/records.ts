import { constants } from "node:os";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { CommandEnd, CommandLimit, SandboxRefusal } from "@holdfast/runtime/ports/processes";
import { fileName, runFolder, sessionFolders } from "./folders.ts";
import type { RunFolder } from "./folders.ts";
import { forgetGiven } from "./given.ts";
import { isAlive } from "./identity.ts";

export interface Ended {
  readonly end: CommandEnd;
  readonly durationMs: number;
  readonly refused?: readonly SandboxRefusal[];
}

/**
 * The claim of an attempt, as its file says. `revoked`: nothing was started and nothing will be, by whoever revoked it or had
 * no room to write it. `broken`: taken by someone who got no further than making the file. `newer`: taken, in a form that a
 * later version writes: what became of it can't be told, and it is left alone.
 */
export type StartRecord =
  | { readonly type: "none" }
  | { readonly type: "revoked" }
  | { readonly type: "broken" }
  | { readonly type: "newer" }
  | TakenRecord;

export interface TakenRecord {
  readonly type: "taken";
  /** The wrapper. */
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly timeoutMs: number;
  readonly isConfined: boolean;
  /** The command's first process, once it was started; under the sandbox that is bubblewrap. */
  readonly command: number | null;
  /** What the command reads, where it was started with something: `keeper` is the process that keeps it from ending. */
  readonly input: { readonly type: "pipe" | "terminal"; readonly keeper: number } | null;
}

const runLine = /^run (\d+) (\S+) (\S+) ([\d.]+) (yes|no) end$/;
const inputLine = /^input (pipe|terminal) (\d+) end$/;
const commandLine = /^command (\d+) end$/;
/** Whole, and none that we know. */
const laterLine = /^(?!(?:run|revoked) ).* end$/;
const revokedText = "revoked end\n";

export function readStart(folder: RunFolder): StartRecord {
  const text = readText(folder.start);
  if (text === null) return { type: "none" };
  if (text === revokedText) return { type: "revoked" };
  const lines = text.split("\n");
  const run = lines.length > 1 ? runLine.exec(lines[0] ?? "") : null;
  if (run === null && lines.length > 1 && laterLine.test(lines[0] ?? "")) return { type: "newer" };
  if (run === null) return { type: isGivenUp(folder.start) ? "revoked" : "broken" };
  // Without the last, which may be half written.
  const further = lines.slice(1, -1);
  const matchOf = (pattern: RegExp): RegExpExecArray | null =>
    further.map((line) => pattern.exec(line)).find((match) => match !== null) ?? null;
  const command = matchOf(commandLine);
  const input = matchOf(inputLine);
  return {
    type: "taken",
    pid: Number(run[1]),
    startTime: run[2] ?? "",
    bootId: run[3] ?? "",
    timeoutMs: Math.round(Number(run[4]) * 1000),
    isConfined: run[5] === "yes",
    command: command === null ? null : Number(command[1]),
    input: input === null ? null : { type: input[1] === "pipe" ? "pipe" : "terminal", keeper: Number(input[2]) },
  };
}

/** Whoever made the file and can't write it lets nobody do so: on a full disk no word would fit in. */
function isGivenUp(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.mode & 0o200) === 0;
}

export function isRunning(start: StartRecord): start is TakenRecord {
  return start.type === "taken" && isAlive(start);
}

/** How a claimed run stands: null while it runs. No exit record and no wrapper that could still write one: lost. */
export function endOfRun(folder: RunFolder): Ended | null {
  const start = readStart(folder);
  const timeoutMs = start.type === "taken" ? start.timeoutMs : 0;
  const end = readEnd(folder, timeoutMs);
  if (end !== null) return end;
  if (isRunning(start)) return null;
  // It may have ended between the two looks.
  return readEnd(folder, timeoutMs) ?? { end: { type: "lost" }, durationMs: 0 };
}

/** Every claimed run of a session that left no exit record. */
export function unfinished(home: string, session: string): string[] {
  const { runs } = sessionFolders(home, session);
  if (!existsSync(runs)) return [];
  const refs = readdirSync(runs).flatMap((id) => readdirSync(join(runs, id)).map((attempt) => `${fileName(session)}/${id}/${attempt}`));
  return refs.filter((ref) => {
    const folder = runFolder(home, ref);
    const { type } = readStart(folder);
    return exitWords(folder) === null && (type === "taken" || type === "broken");
  });
}

/** Null where there is no exit record, or only its place, or a part of it. */
function exitWords(folder: RunFolder): RegExpExecArray | null {
  return /^(\w+)(?: (\d+))? end\n$/.exec(readText(folder.exit) ?? "");
}

function readEnd(folder: RunFolder, timeoutMs: number): Ended | null {
  const match = exitWords(folder);
  if (match === null) return null;
  const end = limitedEnd(folder) ?? endOf(match[1] ?? "", Number(match[2]), folder, timeoutMs);
  return end === null ? null : { end, durationMs: duration(folder) };
}

/** Whoever ended it for a limit noted so before. A note that is none says nothing. */
function limitedEnd(folder: RunFolder): CommandEnd | null {
  const text = readText(folder.limited);
  try {
    const { limit, max, seen } = JSON.parse(text ?? "") as CommandLimit;
    return [max, seen].every(Number.isFinite) ? { type: "limited", limit, max, seen } : null;
  } catch {
    return null;
  }
}

/** Says which limit a run is ended for: whole, or not at all. Throws where there is no room for it. */
export function noteLimited(folder: RunFolder, passed: CommandLimit): void {
  const fresh = `${folder.limited}.${process.pid}`;
  try {
    writeFileSync(fresh, JSON.stringify(passed), { mode: 0o600 });
    renameSync(fresh, folder.limited);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

function endOf(word: string, value: number, folder: RunFolder, timeoutMs: number): CommandEnd | null {
  switch (word) {
    case "exited":
      return { type: "exited", exitCode: value };
    case "signalled":
      return { type: "signalled", signal: signalName(value) };
    case "timed_out":
      return { type: "timed_out", afterMs: timeoutMs };
    case "output_capped":
      return { type: "output_capped", bytes: statSync(folder.output, { throwIfNoEntry: false })?.size ?? 0 };
    case "unspooled":
      return { type: "unspooled" };
    case "ended":
      return { type: "ended" };
    default:
      return null;
  }
}

/** The wrapper has no clock of its own: the records' times are its clock. */
function duration(folder: RunFolder): number {
  const [start, exit] = [folder.start, folder.exit].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(0, (exit ?? 0) - (start ?? 0));
}

function signalName(value: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === value)?.[0] ?? `SIG${value}`;
}

/** Takes the claim as revoked. False where it was taken before, by whomever. */
export function revokeClaim(folder: RunFolder): boolean {
  mkdirSync(folder.base, { recursive: true, mode: 0o700 });
  let file: number;
  try {
    file = openSync(folder.start, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return readStart(folder).type === "revoked";
    throw error;
  }
  try {
    writeFileSync(file, revokedText);
  } catch {
    fchmodSync(file, 0o400);
  } finally {
    closeSync(file);
  }
  forgetGiven(folder);
  return true;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The last bytes of a file as text; none where it can't be read. */
export function tail(path: string, bytes: number): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(bytes, size));
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
  } finally {
    closeSync(file);
  }
}
