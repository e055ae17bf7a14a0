import { accessSync, constants, existsSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import type { SandboxRefusal } from "@holdfast/runtime/ports/processes";
import { contains } from "./mounts.ts";
import type { CommandReach } from "./network.ts";
import { nearestReal } from "./real.ts";
import { lookAt } from "../files/missing.ts";

/** What a command could see and reach, by which its own failures are told apart from what the sandbox refused. */
export interface Sight {
  readonly cwd: string;
  readonly reach: CommandReach;
  readonly hidden: readonly string[];
  /** Whether it could write at a path: the deepest mount around it says so. */
  isWritable(real: string): boolean;
}

/** More than these tell nobody more. */
const most = 8;

/** What the system says of a read-only file system, of a missing file, and of a name that can't be looked up, as C, Node, Go and others put it. */
const readOnly = /read-only file system|\bEROFS\b/i;
const missing = /no such file or directory|\bENOENT\b|does not exist|not found|permission denied|\bEACCES\b/i;
const unresolved =
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|ENOTCACHED|ECONNREFUSED)\b|could(?: not|n't) (?:be )?resolve|unable to resolve|failed to resolve|name resolution|name or service not known|temporary failure resolving|network is unreachable|dial tcp: lookup|couldn't connect to server|failed to lookup address/i;
const quoted = /['"`‘“]([^'"`’”\n]{1,500})['"`’”]/g;
const bare = /(?:^|[\s:=(])((?:\/|\.{1,2}\/)[^\s:'"`,;)]{1,500})/g;
const url = /\b(?:https?|git|ssh|wss?|ftp):\/\/(?:[^@/\s'"]*@)?(\[[0-9a-f:]+\]|[\w.-]+)(?::(\d{1,5}))?/gi;
const name =
  /(?:\bhost(?:name)?(?: address)?:?|\bENOTFOUND|\bEAI_AGAIN|\blookup|\bresolv(?:e|ing)|\bhost=|^[\w.-]+:|\bto)\s*['"‘`(]*((?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]+)(?::(\d{1,5}))?/gi;

/**
 * What the sandbox refused to a command that failed, by its last output. The text only says where to look: that the sandbox
 * was in the way, and not the program, is found by trying it here, outside.
 */
export function refusedBy(output: string, sight: Sight): SandboxRefusal[] {
  const found = new Map<string, SandboxRefusal>();
  const add = (refusal: SandboxRefusal): void => void found.set(JSON.stringify(refusal), refusal);
  for (const line of output.split("\n").slice(-200)) {
    if (readOnly.test(line))
      for (const path of pathsIn(line, sight.cwd))
        if (isRefusedWrite(path, sight)) add({ kind: "write", path, open: existsSync(path) ? path : dirname(path) });
    if (missing.test(line)) {
      for (const path of pathsIn(line, sight.cwd)) if (isHidden(path, sight.hidden)) add({ kind: "hidden", path });
    }
    if (unresolved.test(line)) {
      for (const [host, port] of hostsIn(line)) {
        if (!isReachable(host, sight.reach)) add({ kind: "host", host, port, reason: "commands have no network here" });
      }
    }
  }
  return [...found.values()].slice(0, most);
}

function pathsIn(text: string, cwd: string): string[] {
  // Who says it comes first: `bash: line 1: /etc/x: Read-only file system`.
  const said = text.split(": ");
  const line = said.length > 2 ? said.slice(1).join(": ") : text;
  const words = [quoted, bare].flatMap((pattern) => [...line.matchAll(pattern)].map(([, word = ""]) => word));
  // `touch: cannot touch 'a b'` names it in quotes; `bash: a: Read-only …` between colons.
  const between = line.split(": ").map((part) => part.trim());
  const all = [...words, ...between.filter((part) => part !== "" && !part.includes(" "))];
  return [...new Set(all.map((word) => (isAbsolute(word) ? resolve(word) : resolve(cwd, word))))];
}

/** Inside it was read-only; here it would go. */
function isRefusedWrite(path: string, { isWritable }: Sight): boolean {
  if (isWritable(nearestReal(path))) return false;
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isHidden(path: string, hidden: readonly string[]): boolean {
  if (lookAt(path) === undefined) return false;
  const real = nearestReal(path);
  return hidden.some((each) => contains(each, real));
}

function hostsIn(line: string): [host: string, port: number | null][] {
  const found = [url, name].flatMap((pattern) => [...line.matchAll(pattern)]);
  return found.flatMap(([, host, port]) => (host === undefined ? [] : [[host.toLowerCase(), port === undefined ? null : Number(port)]]));
}

function isReachable(host: string, reach: CommandReach): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host.startsWith("127.")) return true;
  // A session with some network has a proxy, which knows exactly what it refused.
  return reach !== "none";
}
