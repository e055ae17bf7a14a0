import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import type { Durability, TailLog } from "./tail-log.ts";
import { createTailLog } from "./tail-log.ts";

const files = ["sessions.db", "sessions.db-wal"];

/** The same on SQLite's files: at each flush they are put aside, and a loss of power brings those back. */
export function createSqliteTailLog(durability: Durability): TailLog {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-tail-"));
  const [live, kept] = [join(folder, "live"), join(folder, "kept")];
  for (const path of [live, kept]) mkdirSync(path, { mode: 0o700 });
  const open = () => openSqliteLog({ path: join(live, "sessions.db"), durability });
  const copy = (from: string, to: string): void => {
    for (const name of files) {
      rmSync(join(to, name), { force: true });
      if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
    }
  };
  let log = open();
  copy(live, kept);
  return createTailLog(durability, {
    log: () => log,
    onFlush: () => copy(live, kept),
    lose: async () => {
      await log.close();
      rmSync(join(live, "sessions.db-shm"), { force: true });
      copy(kept, live);
      log = open();
    },
    end: async () => {
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}
