import type { StoredEvent } from "@holdfast/protocol";
import type { Commit, Log } from "@holdfast/runtime";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export const layoutNames = ["one file", "file each, index when the status changes", "file each, index at every commit"] as const;
export type LayoutName = (typeof layoutNames)[number];

/** A way to lay sessions out in files, with what a driver and a list of sessions need. */
export interface Layout {
  /** Opens what is needed to drive the session. */
  open(session: string): Log;
  commit(commit: Commit): Promise<void>;
  /** How many sessions the list shows. */
  list(): Promise<number>;
  remove(session: string): Promise<void>;
  close(): Promise<void>;
}

export function openLayout(name: LayoutName, folder: string): Layout {
  return name === "one file" ? oneFile(folder) : fileEach(folder, name === "file each, index at every commit");
}

function oneFile(folder: string): Layout {
  const log = openSqliteLog(join(folder, "sessions.db"));
  return {
    open: () => log,
    commit: (commit) => log.commit(commit),
    list: async () => (await log.list({})).length,
    remove: async (session) => void (await log.delete(session)),
    close: () => log.close(),
  };
}

/** The index says what there is and when to wake it; it is a second file, so a second transaction, after the session's. */
function fileEach(folder: string, indexesAlways: boolean): Layout {
  mkdirSync(join(folder, "sessions"), { recursive: true });
  const index = new DatabaseSync(join(folder, "index.db"), { timeout: 5000 });
  index.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  index.exec(
    "CREATE TABLE IF NOT EXISTS sessions (session TEXT PRIMARY KEY, status TEXT, wake_at REAL, updated_at REAL, seq INTEGER) STRICT",
  );
  const put = index.prepare(`
    INSERT INTO sessions VALUES (?, ?, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET
    status = excluded.status, wake_at = excluded.wake_at, updated_at = excluded.updated_at, seq = excluded.seq`);
  const all = index.prepare("SELECT * FROM sessions ORDER BY updated_at DESC");
  const forget = index.prepare("DELETE FROM sessions WHERE session = ?");
  const logs = new Map<string, Log>();
  const statuses = new Map<string, string>();
  const pathOf = (session: string) => join(folder, "sessions", `${session}.db`);
  const open = (session: string): Log => {
    const log = logs.get(session) ?? openSqliteLog(pathOf(session));
    logs.set(session, log);
    return log;
  };
  return {
    open,
    commit: async (commit) => {
      await open(commit.session).commit(commit);
      if (!indexesAlways && statuses.get(commit.session) === commit.status) return;
      put.run(commit.session, commit.status, commit.wakeAt, commit.at, commit.expectedSeq + commit.events.length);
      statuses.set(commit.session, commit.status);
    },
    list: async () => all.all().length,
    remove: async (session) => {
      await logs.get(session)?.close();
      logs.delete(session);
      for (const end of ["", "-wal", "-shm"]) rmSync(pathOf(session) + end, { force: true });
      forget.run(session);
    },
    close: async () => {
      for (const log of logs.values()) await log.close();
      index.close();
    },
  };
}

const hash = "0123456789abcdef".repeat(4);

const blank = { type: "call.settled", version: 1, prev: hash, digest: hash, hash, salt: hash.slice(32) };

/** What a step of a usual session saves: two events (one short, one of 0.5 to 6.5 kB), a head of 3 kB, three registers. */
export function usualCommit(session: string, step: number): Commit {
  const seq = step * 2;
  const event = (at: number, size: number): StoredEvent => ({
    ...blank,
    session,
    seq: at,
    at: step,
    payload: `{"session":"${session}","text":"${"x".repeat(size)}"}`,
  });
  return {
    session,
    expectedSeq: seq,
    events: [event(seq + 1, 300), event(seq + 2, 500 + ((step * 7919) % 6000))],
    head: `{"head":"${"h".repeat(3000)}"}`,
    registers: [0, 1, 2].map((n) => ({ kind: "fact", key: `key ${(step + n * 7) % 40}`, value: "v".repeat(300) })),
    taken: [],
    outbox: [],
    blobRefs: [],
    status: step % 20 === 19 ? "waiting" : "running",
    wakeAt: null,
    at: step,
    ...(step === 0 ? { created: { workspace: "/project", title: session } } : {}),
  };
}

export function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
