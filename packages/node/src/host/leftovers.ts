import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isOurs, runFolder } from "../processes/folders.ts";
import { livingIn } from "../processes/life.ts";
import { ownerOf } from "../processes/owner-note.ts";
import { endOfRun, unfinished } from "../processes/records.ts";
import { sizeOfFolder } from "../processes/size.ts";
import { holderName } from "../sandbox/namespace.ts";

/** What dead processes may have left in a home. */
export interface HomeLeftovers {
  /** Folders of commands, by session, that no living process uses: of sessions that are still there as well. */
  readonly commands: readonly { readonly session: string; readonly bytes: number }[];
  /** Of those, the sessions of which nothing runs but what holds their network namespace. */
  readonly held: readonly string[];
  /** Folders of MCP servers, and files that were being written, as paths: whoever used them is dead. */
  readonly paths: readonly string[];
}

/** A folder without a note of who uses it, or a file that is being written, is left alone for so long. */
const graceMs = 24 * 60 * 60 * 1000;
const draft = /^\..+\.[0-9a-f]{12}$/;

/** Looks through a home without changing it. */
export async function findLeftovers(home: string, now: number): Promise<HomeLeftovers> {
  const commands = await foldersIn(join(home, "commands"));
  const held: string[] = [];
  const unused: { session: string; bytes: number }[] = [];
  for (const session of commands.filter((name) => !isOurs(name))) {
    const folder = join(home, "commands", session);
    if (await isUsed(folder, home, now)) continue;
    unused.push({ session, bytes: await sizeOfFolder(folder) });
    const isRunning = unfinished(home, session).some((ref) => endOfRun(runFolder(home, ref)) === null);
    if (!isRunning && holderName(join(folder, "network")) !== null) held.push(session);
  }
  const paths: string[] = [];
  for (const name of await foldersIn(join(home, "servers"))) {
    const folder = join(home, "servers", name);
    if (name.startsWith("run-") && !(await isUsed(folder, home, now))) paths.push(folder);
  }
  for (const name of await namesIn(home)) {
    const path = join(home, name);
    if (draft.test(name) && (await youngest(path)) < now - graceMs) paths.push(path);
  }
  return { commands: unused, held, paths };
}

async function isUsed(folder: string, home: string, now: number): Promise<boolean> {
  const owner = ownerOf(folder);
  return owner === null ? (await youngest(folder)) >= now - graceMs : livingIn(home)(owner);
}

/** When the youngest of it changed, ms; 0 where it has gone. */
async function youngest(path: string): Promise<number> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return 0;
  let newest = found.mtimeMs;
  if (found.isDirectory()) for (const name of await namesIn(path)) newest = Math.max(newest, await youngest(join(path, name)));
  return newest;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
