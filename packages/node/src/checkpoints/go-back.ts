import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { lookAt } from "../files/missing.ts";
import { takeBack } from "./moves.ts";
import { type Move, planMoves } from "./plan-restore.ts";
import { readNote, removeNote, type RestoreNote, writeNote } from "./restore-note.ts";
import { type RestorePlaces, rootOf, rootsOf, setMode, stop } from "./restore-places.ts";

/** Takes away what a restore left beside the files, and its note: only once the note asks for nothing of it any more. */
export function cleanUp(places: RestorePlaces, session: string): void {
  const note = readNote(places.home, session);
  if (note === null) return;
  removeStaging(places, note);
  stop(places, "clear");
  removeNote(places.home, session);
}

export function removeStaging(places: RestorePlaces, { restore, staging }: RestoreNote): void {
  for (const root of rootsOf(places, restore.steps)) {
    const folder = join(root, staging);
    for (const name of lookAt(folder) === undefined ? [] : readdirSync(folder)) {
      stop(places, `clear ${name}`);
      rmSync(join(folder, name), { force: true });
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `except`: paths that somebody else has changed; what stood there before stays beside them where it can't go back. */
export function goBack(places: RestorePlaces, session: string, note: RestoreNote, except: readonly string[]): void {
  const moves = planMoves(note.restore.steps, (path) => rootOf(places, path)).toReversed();
  // Permissions go back first, and may lock a folder again.
  const isMode = ({ type }: Move): boolean => type === "mode";
  for (const each of moves.filter(isMode)) backOne(places, note, each, except);
  for (const { path, mode } of note.opened) setMode(places, path, mode | 0o700);
  for (const each of moves.filter((one) => !isMode(one))) backOne(places, note, each, except);
  for (const { path, mode } of note.opened) setMode(places, path, mode);
  stop(places, "back");
  unbegin(places, session, note);
  removeStaging(places, note);
  stop(places, "clear");
  removeNote(places.home, session);
}

function backOne(places: RestorePlaces, note: RestoreNote, move: Move, except: readonly string[]): void {
  if (except.includes(move.path)) return;
  stop(places, `back ${move.n}`);
  try {
    takeBack(note.staging, move);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // It was not made, or its folder was not.
    if (code === "ENOENT") return;
    throw new HoldfastError("internal", `what was restored could not all be put back: ${move.path}`, { cause });
  }
}

/** Says that nothing was changed, before what waits beside the files goes. Where there is no room to say it, the note goes first. */
function unbegin({ home }: RestorePlaces, session: string, note: RestoreNote): void {
  try {
    writeNote(home, session, { ...note, isMoving: false });
  } catch {
    removeNote(home, session);
  }
}
