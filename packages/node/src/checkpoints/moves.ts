import { chmodSync, linkSync, lstatSync, mkdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { inFolder } from "./hold.ts";
import type { Move } from "./plan-restore.ts";
import { lookAt } from "../files/missing.ts";

/** Makes one move; one that is made already is left. `kept`: a folder that holds something else stays. */
export function makeMove(staging: string, move: Move): "done" | "kept" {
  const { fresh, old } = waiting(staging, move);
  switch (move.type) {
    case "take_away":
      if (!exists(old)) within(move, (at) => renameSync(at, old));
      return "done";
    case "replace":
      if (!exists(fresh)) return "done";
      within(move, (at) => {
        if (!exists(old)) keepBeside(at, old);
        renameSync(fresh, at);
      });
      return "done";
    case "put":
      if (!exists(fresh)) return "done";
      within(move, (at) => {
        // A rename would replace what somebody else has just put there.
        if (exists(at)) throw Object.assign(new Error("something else stands there by now"), { code: "EEXIST" });
        renameSync(fresh, at);
      });
      return "done";
    case "remove_folder":
      return removeFolder(move);
    case "make_folder":
      makeFolder(move, 0o700);
      return "done";
    case "mode":
      setMode(move, move.to);
      return "done";
  }
}

/** Takes one move back, where it was made. */
export function takeBack(staging: string, move: Move): void {
  const { fresh, old } = waiting(staging, move);
  switch (move.type) {
    case "take_away":
      if (exists(old)) within(move, (at) => renameSync(old, at));
      return;
    case "replace":
      if (!exists(old)) return;
      within(move, (at) => {
        // What came waits again, so that a process that is killed now leaves what can be gone through with.
        if (!exists(fresh) && exists(at)) renameSync(at, fresh);
        // Two links to one file: the rename does nothing, and that is right.
        renameSync(old, at);
      });
      return;
    case "put":
      if (!exists(fresh)) within(move, (at) => renameSync(at, fresh));
      return;
    case "remove_folder":
      makeFolder(move, move.mode ?? 0o755);
      if (move.mode !== null) setMode(move, move.mode);
      return;
    case "make_folder":
      removeFolder(move);
      return;
    case "mode":
      if (move.from !== null) setMode(move, move.from);
  }
}

function removeFolder(move: Move): "done" | "kept" {
  try {
    within(move, (at) => rmdirSync(at));
    return "done";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What stands there instead is no folder of ours.
    if (code === "ENOENT" || code === "ENOTDIR") return "done";
    if (code === "ENOTEMPTY" || code === "EEXIST") return "kept";
    throw error;
  }
}

function makeFolder(move: Move, mode: number): void {
  within(move, (at) => {
    try {
      mkdirSync(at, mode);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !lstatSync(at).isDirectory()) throw error;
    }
  });
}

function setMode(move: Move, mode: number): void {
  within(move, (at) => {
    if (exists(at) && !lstatSync(at).isSymbolicLink()) chmodSync(at, mode);
  });
}

/** The old content stays linked until all is done, so that putting it back needs no room. */
function keepBeside(at: string | Buffer, old: string): void {
  try {
    linkSync(at, old);
  } catch {
    renameSync(at, old);
  }
}

function waiting(staging: string, { n, root }: Move): { readonly fresh: string; readonly old: string } {
  return { fresh: join(root, staging, `new-${n}`), old: join(root, staging, `old-${n}`) };
}

function within(move: Move, work: (at: string | Buffer) => void): void {
  inFolder(move.root, move.path, work);
}

function exists(path: string | Buffer): boolean {
  return lookAt(path) !== undefined;
}
