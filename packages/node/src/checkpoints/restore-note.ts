import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Restore } from "@holdfast/runtime/ports/checkpoints";
import { sha256 } from "@holdfast/runtime/hash";

/** A restore that is under way, as it survives the death of its process. */
export interface RestoreNote {
  readonly restore: Restore;
  /** Name of the folder in each root where what comes and what goes waits. Nobody can guess it. */
  readonly staging: string;
  /** Folders that have to be made writable meanwhile, and the permission bits they get back. */
  readonly opened: readonly { readonly path: string; readonly mode: number }[];
  /** Once all is in place beside the workspace's files: from then on it is gone through with. */
  readonly isMoving: boolean;
  /** Where what comes has no room, files that only go are deleted first. They can't come back: it is gone through with. */
  readonly isMakingRoom?: boolean;
}

export function readNote(home: string, session: string): RestoreNote | null {
  const file = fileOf(home, session);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as RestoreNote) : null;
}

export function writeNote(home: string, session: string, note: RestoreNote): void {
  const file = fileOf(home, session);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const aside = `${file}.tmp`;
  const fd = openSync(aside, "w", 0o600);
  try {
    writeFileSync(fd, JSON.stringify(note));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(aside, file);
}

export function removeNote(home: string, session: string): void {
  for (const file of [fileOf(home, session), `${fileOf(home, session)}.tmp`]) rmSync(file, { force: true });
}

function fileOf(home: string, session: string): string {
  return join(home, "undo", `${sha256(session).slice(0, 32)}.json`);
}
