import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { ensureHome } from "./home.ts";

/** A change of these files takes milliseconds; only a keyring that asks a person takes longer. */
const longestWaitMs = 20_000;
const retryMs = 15;

/** SQLite's primary result code (https://sqlite.org/rescode.html). */
const sqliteBusy = 5;

/**
 * Reads, changes and writes one of the files that the user's commands keep in the home (config.toml, trust.json, …) while no
 * other process does: of two changes at once neither is lost. Makes the home. What `work` calls must not come back here.
 * Throws `home_busy`, where nothing was changed, `store_full` or `store_failed`, and what `work` threw.
 */
export async function changeHome<T>(home: string, work: () => Promise<T>): Promise<T> {
  await ensureHome(home);
  let unlock: (() => void) | undefined;
  try {
    unlock = await lock(home);
    return await work();
  } catch (error) {
    throw isHoldfastError(error) ? error : (failureOf(error, home) ?? error);
  } finally {
    unlock?.();
  }
}

/**
 * The operating system frees SQLite's lock of a process that dies, so none is ever left behind. The file stays empty, and
 * the journal in memory: the lock can be had on a full disk, too, where something is to be taken away.
 */
async function lock(home: string): Promise<() => void> {
  const folder = join(home, "locks");
  const path = join(folder, "home.sqlite");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Never opened where it is there: closing a file ends all locks that this process has on it.
  await writeFile(path, "", { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    for (const until = performance.now() + longestWaitMs; !tryBegin(database); await delay(retryMs)) {
      if (performance.now() < until) continue;
      throw new HoldfastError("home_busy", `Another process has been changing the files of ${home} for ${longestWaitMs / 1000} s.`, {
        hint: "Nothing was changed. Let the other command end (a keyring may wait for an answer), and try again.",
      });
    }
  } catch (error) {
    database.close();
    throw error;
  }
  return () => database.close();
}

function tryBegin(database: { exec(sql: string): void }): boolean {
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((((error as { errcode?: number }).errcode ?? 0) & 0xff) === sqliteBusy) return false;
    throw error;
  }
}

/** Null for what is no failure of the system. */
function failureOf(error: unknown, home: string): HoldfastError | null {
  if (!(error instanceof Error) || !("syscall" in error || "errcode" in error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const why = isFull ? "the disk is full" : error.message;
  return new HoldfastError(isFull ? "store_full" : "store_failed", `Nothing was changed in ${home}: ${why}.`, {
    hint: isFull ? "Free some disk space and try again." : "Check that you can write there.",
    cause: error,
  });
}
