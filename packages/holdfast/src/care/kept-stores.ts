import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

export function storePath(home: string): string {
  return join(home, "sessions.db");
}

/** Stands for a store that is away: it was gone or empty when a session was about to begin beside what its sessions left. */
function lostMark(home: string): string {
  return `${storePath(home)}.lost`;
}

export function isLostMark(path: string): boolean {
  return path.endsWith(".lost");
}

/**
 * Stores that may know sessions whose contents and outputs are still here: damaged ones that were kept aside, and one that
 * is away. Nothing that they may refer to is taken away.
 */
export async function keptStores(home: string): Promise<string[]> {
  const names = await namesIn(home);
  const kept = names.filter((name) => /^sessions\.db\.damaged-[\dTZ-]+$/.test(name)).map((name) => join(home, name));
  return names.includes("sessions.db.lost") || (await isStoreLost(home)) ? [...kept, lostMark(home)] : kept;
}

/** Before a store is opened, which makes a new one where there is none: afterwards nobody could tell that one was lost. */
export async function noteLostStore(home: string): Promise<void> {
  if (await isStoreLost(home)) await writeFile(lostMark(home), "", { flag: "a", mode: 0o600 });
}

/** Contents and outputs are written only where there is a store already. */
async function isStoreLost(home: string): Promise<boolean> {
  if (!(await isStoreEmpty(home)) || !((await hasContents(home)) || (await hasOutputs(home)))) return false;
  // Another process may just have made the store, and then what was found.
  return isStoreEmpty(home);
}

async function isStoreEmpty(home: string): Promise<boolean> {
  const found = await stat(storePath(home)).catch(() => null);
  return found === null || (found.isFile() && found.size === 0);
}

async function hasContents(home: string): Promise<boolean> {
  for (const shard of await namesIn(join(home, "blobs"))) {
    if (/^[0-9a-f]{2}$/.test(shard) && (await namesIn(join(home, "blobs", shard))).length > 0) return true;
  }
  return false;
}

/** Of sessions that nobody drives: one that is kept in memory alone has a folder, too, while it lives. */
async function hasOutputs(home: string): Promise<boolean> {
  if ((await namesIn(join(home, "commands"))).length === 0) return false;
  const { findLeftovers } = await import("@holdfast/node/host/leftovers");
  return (await findLeftovers(home, Date.now())).commands.length > 0;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
