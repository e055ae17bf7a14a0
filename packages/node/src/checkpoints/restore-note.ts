import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Restore } from "@holdfast/runtime/ports/checkpoints";
import { sha256 } from "@holdfast/runtime/hash";
import { refuseNewer } from "../stored-version.ts";

/** Of a note's format. The first ones didn't say it. */
const noteVersion = 1;

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
  /** Once all is moved: folders that were to go and hold something else. It is neither moved again nor taken back from then on. */
  readonly kept?: readonly string[];
}

/** An undo whose process died on the way, or is still at it. */
export interface UnfinishedUndo {
  readonly session: string;
  /** Whether files were moved already, or may have been. */
  readonly isBegun: boolean;
}

/** Those that concern files below one of these folders; null: all. Throws `session_newer`. Older notes don't say whose they are. */
export function unfinishedUndos(home: string, roots: readonly string[] | null): UnfinishedUndo[] {
  const folder = join(home, "undo");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name): UnfinishedUndo[] => {
    const note = name.endsWith(".json") ? readFile(join(folder, name)) : null;
    if (note?.session === undefined) return [];
    const isHere = roots === null || note.restore.steps.some(({ path }) => roots.some((root) => path.startsWith(`${root}/`)));
    return isHere ? [{ session: note.session, isBegun: isDecided(note) }] : [];
  });
}

/** Whether a process came so far that it is gone through with. */
export function isDecided({ isMoving, isMakingRoom }: RestoreNote): boolean {
  return isMoving || isMakingRoom === true;
}

export function readNote(home: string, session: string): RestoreNote | null {
  return readFile(fileOf(home, session));
}

function readFile(file: string): (RestoreNote & { readonly session?: string }) | null {
  if (!existsSync(file)) return null;
  const note = JSON.parse(readFileSync(file, "utf8")) as RestoreNote & { readonly session?: string; readonly version?: number };
  refuseNewer("the note of an undo that was cut off", note.version, noteVersion);
  return note;
}

export function writeNote(home: string, session: string, note: RestoreNote): void {
  const file = fileOf(home, session);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const aside = `${file}.tmp`;
  const fd = openSync(aside, "w", 0o600);
  try {
    writeFileSync(fd, JSON.stringify({ version: noteVersion, ...note, session }));
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
