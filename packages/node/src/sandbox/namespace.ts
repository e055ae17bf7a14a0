import { randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { HoldfastError } from "@holdfast/protocol/error";
import { bootId, isAlive, startTimeOf } from "../processes/identity.ts";
import { ownerNote } from "../processes/owner-note.ts";
import { signal } from "../processes/tree.ts";
import { unwritable, whyUnwritable } from "../processes/unwritable.ts";
import type { Mount } from "./mounts.ts";
import type { SandboxPrograms } from "./problem.ts";
import { groundArguments, identityOf } from "./view.ts";
import type { Standing } from "./view.ts";

/** Where commands find the proxy inside a network namespace: loopback there, reachable from nowhere else. */
export const proxyPort = 17_653;

/**
 * A holder ends by itself: soon after its record was deleted, replaced or never written (its starter was killed, the
 * session's folder is gone), soon after whoever used the session's folder died with no command of it left running, and after
 * a day at most. Commands that joined keep the namespace, a later one gets a new one.
 */
const looksAfterSeconds = 5;
const heldForSeconds = 86_400;
/** Longer than any machine takes to begin it. */
const startingMs = 30_000;
// The fields of /proc/PID/stat from the state on: the name before it may hold spaces and brackets. A note that can't be
// read says nothing about anybody's death.
const holdScript = `echo
exec >&-
folder=$1 name=$2 session=$3
[ -d "$folder" ] || exec sleep ${heldForSeconds}
lives() {
  read -r line <"/proc/$1/stat" || return 1
  began=$2
  set -- \${line##*) }
  [ "$1" != Z ] && [ "$1" != X ] && [ "\${20}" = "$began" ]
}
used() {
  note=
  read -r note <"$session/${ownerNote}"
  case $note in *'"pid":'*'"startTime":"'*'}') ;; *) return 0 ;; esac
  pid=\${note#*'"pid":'} began=\${note#*'"startTime":"'}
  lives "\${pid%%[!0-9]*}" "\${began%%'"'*}" && return 0
  for start in "$session"/runs/*/*/start; do
    ended=
    read -r ended <"\${start%start}exit"
    case $ended in *' end') continue ;; esac
    read -r word pid began _ <"$start" && [ "$word" = run ] && lives "$pid" "$began" && return 0
  done
  return 1
}
left=${heldForSeconds / looksAfterSeconds}
while sleep ${looksAfterSeconds} && [ "$left" -gt 0 ] && used && read -r _ _ _ found _ <"$folder/holder" && [ "$found" = "$name" ]; do
  left=$((left - 1))
done`;

/** A place that commands join, one after another. */
export interface Joined {
  readonly pid: number;
  /** What goes before a program that is to join. */
  readonly command: string[];
  /** The same for one that joins the network alone. */
  readonly network: string[];
  /** Null where none was asked for. */
  readonly view: Standing | null;
}

/**
 * A network namespace with nothing but loopback, held by a process so that one command after another can join it. With
 * `ground` also a view of the files, which stands at `folder`/view for whoever joins, and nowhere else: the rest of what they
 * see is the machine's own. `folder` keeps the records of its processes, which outlive us. Made at the first call, found
 * again after. `session`: the folder with the note of who uses it. Throws `sandbox_unavailable`.
 */
export async function joinNamespace(
  folder: string,
  session: string,
  programs: SandboxPrograms,
  ground: (() => Mount[]) | null,
): Promise<Joined> {
  const known = readHelper(folder, "holder");
  const view = ground === null ? null : known === null ? null : readView(folder);
  if (known !== null && (ground === null || view !== null)) return joinedAt(known, programs, view);
  const made = ground === null ? null : viewFrom(folder, ground());
  const pid = await hold(folder, session, programs, made);
  return joinedAt(pid, programs, made);
}

function joinedAt(pid: number, programs: SandboxPrograms, view: Standing | null): Joined {
  return { pid, command: joinCommand(pid, programs, view), network: joinCommand(pid, programs, null), view };
}

function viewFrom(folder: string, mounts: readonly Mount[]): Standing {
  const hidden = mounts.filter(({ type }) => type === "hide").map(({ to }) => [to, identityOf(to)] as const);
  return { path: join(folder, "view"), mounts, identities: Object.fromEntries(hidden) };
}

/** By what its holder was called. */
const views = new Map<string, Standing>();

function readView(folder: string): Standing | null {
  try {
    const text = readFileSync(join(folder, "holder"), "utf8");
    const found = views.get(text) ?? (JSON.parse(readFileSync(join(folder, "standing"), "utf8")) as Standing);
    views.set(text, found);
    return found;
  } catch {
    return null;
  }
}

function joinCommand(pid: number, programs: SandboxPrograms, view: Standing | null, more: readonly string[] = []): string[] {
  const files = view === null ? [] : [`--mount=/proc/${pid}/ns/mnt`];
  const net = [programs.nsenter, `--net=/proc/${pid}/ns/net`, ...files, ...more];
  return process.getuid?.() === 0 ? [...net, "--"] : [...net, `--user=/proc/${pid}/ns/user`, "--preserve-credentials", "--"];
}

/** What the living holder is called; null where there is none. */
export function holderName(folder: string): string | null {
  if (readHelper(folder, "holder") === null) return null;
  return readFileSync(join(folder, "holder"), "utf8").split(" ")[3] ?? null;
}

/** What goes before a program that is to see what the process `pid` sees, to change it. */
export function enterView(pid: number, { nsenter }: SandboxPrograms): string[] {
  const user = process.getuid?.() === 0 ? [] : [`--user=/proc/${pid}/ns/user`, "--preserve-credentials"];
  return [nsenter, `--mount=/proc/${pid}/ns/mnt`, ...user, "--"];
}

async function hold(folder: string, session: string, programs: SandboxPrograms, view: Standing | null): Promise<number> {
  const owners = process.getuid?.() === 0 ? ["--cap-drop", "ALL"] : ["--unshare-user"];
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = randomBytes(8).toString("hex");
  const [program = "", ...alone] = programs.alone;
  // A file, not a pipe: where we die before bubblewrap has written it, a broken pipe would end it there and then, and its
  // child would wait for its word for ever.
  const status = openStatus(folder, name);
  // With a pid namespace of its own, what the holder starts ends with it.
  const bwrap = [...owners, "--unshare-net", "--unshare-pid", "--as-pid-1", "--dev-bind", "/", "/", "--json-status-fd", "3"];
  if (view !== null) {
    mkdirSync(view.path, { recursive: true, mode: 0o700 });
    bwrap.push(...groundArguments(view.mounts, view.path));
    writeFileSync(join(folder, "standing"), JSON.stringify(view), { mode: 0o600 });
  }
  const child = spawn(program, [...alone, programs.bwrap, ...bwrap, "--", "/bin/sh", "-c", holdScript, "holder", folder, name, session], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore", status],
    cwd: "/",
    env: {},
  });
  // The line comes from inside: by then loopback is up, and the status is written.
  const isUp = await firstLine(child);
  const pid = Number(/"child-pid": (\d+)/.exec(readStatus(status))?.[1]);
  closeSync(status);
  release(child);
  if (!isUp || !Number.isInteger(pid)) {
    // Without its word its child would wait for ever: where bubblewrap ended, on a full disk or otherwise, that is left of its group.
    if (child.pid !== undefined) signal(-child.pid, "SIGKILL");
    const why = whyUnwritable(folder);
    if (why !== null) throw unwritable(folder, why);
    throw new HoldfastError("sandbox_unavailable", "The session's network namespace could not be made with bubblewrap.");
  }
  writeHelper(folder, "holder", pid, name);
  return pid;
}

/** Brings the proxy at `socketPath` to loopback inside a namespace that was joined before. Throws `sandbox_unavailable` where socat is missing. */
export async function bridgeProxy(folder: string, programs: SandboxPrograms, socketPath: string): Promise<void> {
  const pid = readHelper(folder, "holder");
  if (pid === null || readHelper(folder, "bridge") !== null) return;
  const { socat } = programs;
  if (socat === null) {
    throw new HoldfastError("sandbox_unavailable", "Reaching only some hosts needs socat, which is not installed.", {
      hint: "Install it (apt-get install socat), or run without a network, or with all of it.",
    });
  }
  const [program = "", ...args] = [
    ...programs.alone,
    // In the holder's pid namespace, so that it ends with the holder.
    ...joinCommand(pid, programs, null, [`--pid=/proc/${pid}/ns/pid`]),
    socat,
    `TCP-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,backlog=64`,
    `UNIX-CONNECT:${socketPath}`,
  ];
  const child = spawn(program, args, { detached: true, stdio: "ignore", cwd: "/", env: {} });
  release(child);
  if (child.pid === undefined) throw new HoldfastError("sandbox_unavailable", "socat could not be started.");
  writeHelper(folder, "bridge", child.pid, "bridge");
  await listening(child, folder);
}

/** Waits until the kernel lists the bridge's port as listening in its namespace. */
async function listening(child: ChildProcess, folder: string): Promise<void> {
  const holder = readHelper(folder, "holder");
  const wanted = `:${proxyPort.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`;
  for (let round = 0; round < 500 && child.exitCode === null; round += 1) {
    if (holder !== null && readFileSync(`/proc/${holder}/net/tcp`, "utf8").includes(wanted)) return;
    await new Promise((done) => setTimeout(done, 4));
  }
  throw new HoldfastError("sandbox_unavailable", "The bridge to the proxy did not start in the session's network namespace.");
}

/** Ends the processes that hold and bridge a namespace; what joined it keeps it. */
export function endNamespace(folder: string): void {
  for (const name of ["bridge", "holder"] as const) {
    const pid = readHelper(folder, name);
    if (pid !== null) signal(pid, "SIGKILL");
    rmSync(join(folder, name), { force: true });
  }
}

type HelperName = "holder" | "bridge";

function writeHelper(folder: string, helper: HelperName, pid: number, name: string): void {
  writeFileSync(join(folder, helper), `${pid} ${startTimeOf(pid) ?? ""} ${bootId()} ${name} end\n`, { mode: 0o600 });
}

/** Its pid where it still lives. */
function readHelper(folder: string, name: HelperName): number | null {
  let text: string;
  try {
    text = readFileSync(join(folder, name), "utf8");
  } catch {
    return null;
  }
  const match = /^(\d+) (\S+) (\S+) \S+ end\n$/.exec(text);
  if (match === null) return null;
  const pid = Number(match[1]);
  return isAlive({ pid, startTime: match[2] ?? "", bootId: match[3] ?? "" }) ? pid : null;
}

/** A file that goes with its last descriptor. */
function openStatus(folder: string, name: string): number {
  const path = join(folder, `status-${name}`);
  const descriptor = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return descriptor;
}

function readStatus(descriptor: number): string {
  const bytes = new Uint8Array(4096);
  return new TextDecoder().decode(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)));
}

/** Whether it puts out a line, before it ends and in time. Its own end counts: what it started may keep its output open. */
function firstLine(child: ChildProcess): Promise<boolean> {
  const stream = child.stdio[1] as Readable;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), startingMs);
    const settle = (isUp: boolean): void => {
      clearTimeout(timer);
      resolve(isUp);
    };
    let text = "";
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      if (text.includes("\n")) settle(true);
    });
    stream.on("error", () => settle(false));
    stream.on("close", () => settle(false));
    child.on("exit", () => settle(false));
    child.on("error", () => settle(false));
  });
}

/** It goes on without us, and we don't wait for it. */
function release(child: ChildProcess): void {
  child.on("error", () => undefined);
  for (const stream of child.stdio) stream?.destroy();
  child.unref();
}
