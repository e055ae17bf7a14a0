import { createHash } from "node:crypto";
import { join } from "node:path";

/** Where the runs of a session are, below HOLDFAST_HOME. All folders are 0700. */
export interface SessionFolders {
  readonly base: string;
  readonly runs: string;
  /** Shown to sandboxed commands as /tmp. */
  readonly tmp: string;
  readonly cache: string;
  /** Records of the session's network namespace. */
  readonly network: string;
  /** The boot in which the session first had to do with a command. */
  readonly boot: string;
}

/** Where the records of one attempt are. */
export interface RunFolder {
  readonly base: string;
  readonly start: string;
  readonly exit: string;
  readonly output: string;
  /** A named pipe: what the command reads, where it was started with an input. */
  readonly input: string;
  readonly paused: string;
  /** Says which limit it was ended for. */
  readonly limited: string;
  /** What lets the run reach its hosts. */
  readonly pass: string;
  /** The repositories that were protected from the run. */
  readonly links: string;
  /** What the workspace's repositories held of others. */
  readonly held: string;
  /** What stood at the places that it couldn't change. */
  readonly kept: string;
  /** Places where nothing was to appear, and the roots that they are in. */
  readonly absent: string;
  /** Holds what was moved out of the workspace: beside the sessions' folders, for it may be its owner's. */
  readonly removed: string;
  /** Secrets that it was given, for whoever has to take them out of its output. */
  readonly given: string;
  /** Of a check alone. */
  readonly network: string;
  readonly tmp: string;
  readonly cache: string;
}

export function sessionFolders(home: string, session: string): SessionFolders {
  const base = join(home, "commands", fileName(session));
  const under = (name: string): string => join(base, name);
  return { base, runs: under("runs"), tmp: under("tmp"), cache: under("cache"), network: under("network"), boot: under("boot") };
}

export function runFolder(home: string, ref: string): RunFolder {
  const [session = "", id = "", attempt = ""] = ref.split("/");
  const base = join(home, "commands", session, "runs", id, attempt);
  const under = (name: string): string => join(base, name);
  return {
    base,
    start: under("start"),
    exit: under("exit"),
    output: under("output"),
    input: under("input"),
    paused: under("paused"),
    limited: under("limited"),
    pass: under("pass"),
    links: under("links"),
    held: under("held"),
    kept: under("kept"),
    absent: under("absent"),
    removed: join(home, "removed", session, "runs", id, attempt),
    given: under("given"),
    network: under("network"),
    tmp: under("tmp"),
    cache: under("cache"),
  };
}

/** Holds our own programs under the names by which commands find them on PATH. */
export function entriesFolder(home: string): string {
  return join(home, "commands", "bin");
}

/** The name of a run, made of safe file names. */
export function refOf(session: string, id: string, attempt: number): string {
  return `${fileName(session)}/${fileName(id)}/${attempt}`;
}

/** What the run's processes carry as HOLDFAST_RUN. Ends with `;` so that attempt 1 is not found in attempt 11. */
export function markOf(home: string, ref: string): string {
  return `${ref}@${createHash("sha256").update(home).digest("hex").slice(0, 12)};`;
}

/** What is ours beside the sessions' folders: programs, sockets of proxies, the empty file, filters of system calls. */
const ours = /^(?:bin|sockets|blank|filter\..*)$/i;

/** Whether a name beside the sessions' folders is none of a session's. */
export function isOurs(name: string): boolean {
  return ours.test(name);
}

/** Any string as one file name; distinct strings give distinct names, none of them ours. */
export function fileName(text: string): string {
  if (!isOurs(text) && /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/.test(text)) return text;
  return `=${createHash("sha256").update(text).digest("hex").slice(0, 40)}`;
}
