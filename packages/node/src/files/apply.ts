import { accessSync, constants, fstatSync, type BigIntStats } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { ApplyResult, FileEdit } from "@holdfast/runtime/ports/files";
import type { FileOperations } from "./file-operations.ts";
import { holdFolders, type HeldFolders } from "./held.ts";
import { isUntouched, look, statOf } from "./look.ts";
import { UnusableTarget } from "./unusable.ts";

/** A file that must still be changed. */
interface Change {
  readonly edit: FileEdit;
  readonly stat: BigIntStats | null;
  readonly index: number;
}

/** The same by way of its held folder: where it is, where its new content waits, where its old one stays until all is done. */
interface Step extends Change {
  readonly path: string;
  readonly fresh: string;
  readonly old: string;
}

/** Somebody else wrote to the file between the comparison and the change. */
class ChangedMeanwhile extends Error {}

/**
 * Changes all files or none; the caller holds the workspace's edit lock. Each new content is written beside its target and
 * renamed over it, each old one stays linked beside it until the last rename, so that putting back needs no disk space.
 * A hard link to an edited file keeps the old content. `id` names the call: what a killed attempt of it left is removed.
 * `isResumed`: a file that is already at `after` is done.
 * Throws `internal` where the file system refused and putting back failed as well: the files are then mixed.
 */
export function applyEdits(edits: readonly FileEdit[], id: string, isResumed: boolean, ops: FileOperations): ApplyResult {
  const folders = holdFolders();
  try {
    return applyIn(folders, edits, id, isResumed, ops);
  } finally {
    folders.close();
  }
}

function applyIn(folders: HeldFolders, edits: readonly FileEdit[], id: string, isResumed: boolean, ops: FileOperations): ApplyResult {
  removeLeftovers(edits, id, ops);
  const changes: Change[] = [];
  for (const [index, edit] of edits.entries()) {
    try {
      const { digest, stat } = look(edit.path, folders);
      if (isResumed && digest === edit.afterDigest) continue;
      if (digest !== edit.before) return { type: "changed", path: edit.path, found: digest };
      if (stat !== null) accessSync(folders.reach(edit.path) ?? edit.path, constants.W_OK);
      changes.push({ edit, stat, index });
    } catch (error) {
      return failure(edit.path, error);
    }
  }

  const undo: (() => void)[] = [];
  let at = "";
  try {
    const steps = changes.map((each): Step => {
      at = each.edit.path;
      const path = folders.make(at, (folder) => {
        ops.mkdirSync(folder);
        undo.push(() => ops.rmdirSync(folder));
      });
      const step = { ...each, path, fresh: besides(path, id, each.index, "new"), old: besides(path, id, each.index, "old") };
      if (each.edit.after !== null) stage(step, each.edit.after, undo, ops);
      return step;
    });
    for (const step of steps) {
      at = step.edit.path;
      change(step, undo, ops);
    }
    folders.verify();
  } catch (error) {
    // Where this throws, the old contents stay beside their files for whoever has to repair them.
    putBack(undo, at, error);
    removeLeftovers(edits, id, ops);
    return error instanceof ChangedMeanwhile ? { type: "changed", path: at, found: digestNow(at, folders) } : failure(at, error);
  }
  for (const folder of new Set(changes.map(({ edit }) => dirname(edit.path)))) syncFolder(folder, ops);
  removeLeftovers(edits, id, ops);
  return { type: "applied" };
}

/** Names of the call's own, hidden, short enough for every file system. */
function besides(path: string, id: string, index: number, what: "new" | "old"): string {
  return join(dirname(path), `.holdfast-${id}-${index}.${what}`);
}

export function removeLeftovers(edits: readonly FileEdit[], id: string, ops: FileOperations): void {
  for (const [index, edit] of edits.entries()) {
    for (const what of ["new", "old"] as const) {
      try {
        ops.unlinkSync(besides(edit.path, id, index, what));
      } catch {
        // Nearly always there is none; one that can't be removed harms nobody.
      }
    }
  }
}

function stage(step: Step, content: Uint8Array, undo: (() => void)[], ops: FileOperations): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const wanted = step.stat === null ? step.edit.mode : Number(step.stat.mode) & 0o7777;
  // Created for its owner alone where the final bits are known: a group or owner may still have to be set.
  const fd = ops.openSync(step.fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, wanted === null ? 0o666 : wanted & 0o600);
  // Before the folders made for it go; by then it may have become the target.
  undo.push(() => void attempt(() => ops.unlinkSync(step.fresh)));
  try {
    if (wanted !== null) ops.fchmodSync(fd, step.stat === null ? wanted : keepOwner(fd, wanted, step.stat, ops));
    for (let done = 0; done < content.length;) done += ops.writeSync(fd, content, done);
    ops.fsyncSync(fd);
  } finally {
    ops.closeSync(fd);
  }
}

/** Gives the new file its predecessor's owner and group where we may; returns the bits that then widen nothing. */
function keepOwner(fd: number, mode: number, was: BigIntStats, ops: FileOperations): number {
  const uid = Number(was.uid);
  const gid = Number(was.gid);
  const now = fstatSync(fd);
  if (now.uid === uid && now.gid === gid) return mode;
  if (attempt(() => ops.fchownSync(fd, uid, gid))) return mode;
  const plain = mode & 0o777;
  if (now.gid === gid || attempt(() => ops.fchownSync(fd, now.uid, gid))) return plain;
  // It now belongs to a group that the bits were not meant for: that group gets what everybody gets, at most.
  return (plain & 0o707) | (plain & 0o070 & ((plain & 0o007) << 3));
}

function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

function change(step: Step, undo: (() => void)[], ops: FileOperations): void {
  const { path } = step;
  const { after } = step.edit;
  if (step.stat === null) {
    create(step, ops);
    undo.push(() => ops.unlinkSync(path));
    return;
  }
  if (!isUntouched(path, step.stat)) throw new ChangedMeanwhile();
  if (after === null) {
    ops.renameSync(path, step.old);
    undo.push(() => ops.renameSync(step.old, path));
    return;
  }
  if (!attempt(() => ops.linkSync(path, step.old))) ops.copyFileSync(path, step.old, constants.COPYFILE_EXCL);
  ops.renameSync(step.fresh, path);
  undo.push(() => ops.renameSync(step.old, path));
}

/** A link can't replace what somebody else just put there; a rename would. */
function create(step: Step, ops: FileOperations): void {
  const { path } = step;
  try {
    ops.linkSync(step.fresh, path);
  } catch (error) {
    if (statOf(path) !== null) throw new ChangedMeanwhile(undefined, { cause: error });
    ops.renameSync(step.fresh, path);
  }
}

function putBack(undo: (() => void)[], path: string, cause: unknown): void {
  for (const step of undo.toReversed()) {
    try {
      step();
    } catch (error) {
      const message = `Changing ${path} failed, and the files changed before it could not all be put back.`;
      throw new HoldfastError("internal", message, { cause: new AggregateError([cause, error]) });
    }
  }
}

function failure(path: string, error: unknown): ApplyResult {
  const code = (error as { code?: unknown }).code;
  // Without a code it is a fault of ours, which must not pass for an answer of the file system.
  if (typeof code !== "string") throw error;
  return { type: "failed", path, code, message: error instanceof UnusableTarget ? error.message : words(code) };
}

function words(code: string): string {
  switch (code) {
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    case "ENOTDIR":
      return "a part of the path is a file, not a folder";
    case "ENAMETOOLONG":
      return "the name is too long";
    default:
      return "the file system refused";
  }
}

function digestNow(path: string, folders: HeldFolders): string | null {
  try {
    return look(path, folders).digest;
  } catch {
    return null;
  }
}

/** Makes the renames survive a loss of power; not every system can. */
function syncFolder(folder: string, ops: FileOperations): void {
  attempt(() => {
    const fd = ops.openSync(folder, constants.O_RDONLY);
    try {
      ops.fsyncSync(fd);
    } finally {
      ops.closeSync(fd);
    }
  });
}
