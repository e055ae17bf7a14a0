import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TreeNode } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { isSameNode } from "@holdfast/runtime/tree-change";
import type { Restore, RestoreResult, RestoreStep } from "@holdfast/runtime/ports/checkpoints";
import { cleanUp, goBack, removeStaging } from "./go-back.ts";
import { makeMove } from "./moves.ts";
import { nodeAt } from "./nodes-at.ts";
import { isOnlyMode, type Move, planMoves } from "./plan-restore.ts";
import { isDecided, readNote, type RestoreNote, writeNote } from "./restore-note.ts";
import { lockedFolders, type RestorePlaces, rootOf, rootsOf, setMode, stop } from "./restore-places.ts";
import { deleteWhatGoes, goes, hasDeleted, isStaged, roomFor, unkept } from "./room.ts";
import { stage } from "./stage.ts";

type Refusals = Extract<RestoreResult, { type: "refused" }>["paths"];

/**
 * All steps or none. What comes is first made beside the workspace's files; a note then says that it is gone through with;
 * what follows are renames, which need no room. Where one of them is refused, those before it are taken back. Where what
 * comes has no room, and what only goes would make enough, that is deleted first, and from then on there is no way back.
 */
export async function restoreTree(places: RestorePlaces, session: string, restore: Restore): Promise<RestoreResult> {
  const earlier = readNote(places.home, session);
  if (earlier !== null && isDecided(earlier)) return finishRestore(places, session);
  if (earlier !== null) cleanUp(places, session);
  const refused = await refusals(places, restore.steps);
  if (refused.length > 0) return { type: "refused", paths: refused };
  const note = {
    restore,
    staging: `.holdfast-undo-${randomBytes(8).toString("hex")}`,
    opened: lockedFolders(places, restore.steps),
    isMoving: false,
  };
  try {
    stop(places, "note");
    writeNote(places.home, session, note);
  } catch (error) {
    cleanUp(places, session);
    return failure(places, note, places.home, error);
  }
  const staged = await stageAll(places, session, note);
  if (staged === null) return move(places, session, { ...note, isMoving: true });
  cleanUp(places, session);
  if (staged.type !== "failed" || staged.full === null) return staged;
  const { missing, missingAfter } = roomFor(restore.steps, (path) => rootOf(places, path));
  if (missing === 0 || missingAfter > 0) return staged;
  const paths = await unkept(restore.steps, places.pieces);
  if (paths.length > 0) return { type: "refused", paths: paths.map((path) => ({ path, why: "not_kept" })) };
  const roomy = { ...note, isMakingRoom: true };
  try {
    stop(places, "room");
    writeNote(places.home, session, roomy);
  } catch (error) {
    cleanUp(places, session);
    return failure(places, note, places.home, error);
  }
  return makeRoom(places, session, roomy);
}

/** All that comes, beside the workspace's files, and the word that it is gone through with. Null where that went well. */
async function stageAll(places: RestorePlaces, session: string, note: RestoreNote): Promise<RestoreResult | null> {
  let at = "";
  try {
    for (const root of rootsOf(places, note.restore.steps)) {
      at = root;
      mkdirSync(join(root, note.staging), { mode: 0o700 });
    }
    for (const [n, { path, from, to }] of note.restore.steps.entries()) {
      at = path;
      if (!isStaged(from, to)) continue;
      stop(places, `stage ${n}`);
      if (await stage(join(rootOf(places, path), note.staging, `new-${n}`), to, places.pieces(to), places.roots)) continue;
      return { type: "refused", paths: [{ path, why: "not_kept" }] };
    }
    at = places.home;
    stop(places, "decide");
    writeNote(places.home, session, { ...note, isMoving: true });
    return null;
  } catch (error) {
    return failure(places, note, at, error);
  }
}

/** What only goes is deleted first; what comes has room then. Whatever stops this, it is to be finished. */
async function makeRoom(places: RestorePlaces, session: string, note: RestoreNote): Promise<RestoreResult> {
  const changed = await changedSince(places, note);
  if (changed.length > 0) {
    if (!hasDeleted(note.restore.steps)) cleanUp(places, session);
    return { type: "refused", paths: changed.map((path) => ({ path, why: "changed" })) };
  }
  let at = "";
  try {
    // What an earlier try left.
    removeStaging(places, note);
    for (const { path, mode } of note.opened) {
      at = path;
      setMode(places, path, mode | 0o700);
    }
    stop(places, "delete");
    const others = await deleteWhatGoes(note.restore.steps, (path) => rootOf(places, path));
    if (others.length > 0) return { type: "refused", paths: others.map((path) => ({ path, why: "changed" })) };
  } catch (error) {
    return failure(places, note, at, error);
  }
  const staged = await stageAll(places, session, note);
  if (staged === null) return move(places, session, { ...note, isMoving: true });
  removeStaging(places, note);
  return staged;
}

/**
 * What an earlier process had decided is gone through with; where it had not, nothing was changed and it is done anew. Where
 * somebody has changed one of the files meanwhile, what was done is taken back.
 */
export async function finishRestore(places: RestorePlaces, session: string): Promise<RestoreResult> {
  const note = readNote(places.home, session);
  if (note === null) return { type: "restored", kept: [] };
  if (!isDecided(note)) return restoreTree(places, session, note.restore);
  // Somebody may go on from there, and what waits beside the files may be gone already.
  if (note.kept !== undefined) return { type: "restored", kept: note.kept };
  if (!note.isMoving) return makeRoom(places, session, note);
  const changed = await changedSince(places, note);
  if (changed.length === 0) return move(places, session, note);
  if (note.isMakingRoom !== true) goBack(places, session, note, changed);
  return { type: "refused", paths: changed.map((path) => ({ path, why: "changed" })) };
}

/** Paths that somebody else has changed since it was begun. */
async function changedSince(places: RestorePlaces, { restore }: RestoreNote): Promise<string[]> {
  const changed: string[] = [];
  for (const { path, from, to } of restore.steps) {
    const now = await nodeAt(rootOf(places, path), path);
    // Between two moves a path is as it was, as it will be, or empty.
    const isOurs =
      now === null ||
      isSameNode(now, from) ||
      isSameNode(now, to) ||
      (now.kind === "folder" && (from?.kind === "folder" || to?.kind === "folder"));
    if (!isOurs) changed.push(path);
  }
  return changed;
}

/** What a process that died left of a restore is settled, one way or the other, before anything else is done in the workspace. */
export async function settleRestore(places: RestorePlaces, session: string): Promise<void> {
  const note = readNote(places.home, session);
  const result = note !== null && isDecided(note) ? await finishRestore(places, session) : null;
  // What made room for the rest can't come back: `undo` still finishes it.
  if (note?.isMakingRoom === true && result?.type !== "restored") return;
  cleanUp(places, session);
}

function move(places: RestorePlaces, session: string, note: RestoreNote): RestoreResult {
  const moves = planMoves(note.restore.steps, (path) => rootOf(places, path));
  const kept: string[] = [];
  let at = "";
  try {
    for (const { path, mode } of note.opened) setMode(places, path, mode | 0o700);
    for (const each of moves) {
      at = each.path;
      if (note.isMakingRoom === true && isGone(note, each)) continue;
      stop(places, `${each.type} ${each.n}`);
      if (makeMove(note.staging, each) === "kept") kept.push(each.path);
    }
    const planned = new Set(note.restore.steps.map(({ path }) => path));
    for (const { path, mode } of note.opened) if (!planned.has(path)) setMode(places, path, mode);
    stop(places, "moved");
    writeNote(places.home, session, { ...note, kept });
    return { type: "restored", kept };
  } catch (error) {
    if (note.isMakingRoom !== true) goBack(places, session, note, []);
    return failure(places, note, at, error);
  }
}

/** What was deleted to make room. */
function isGone({ restore }: RestoreNote, { type, n }: Move): boolean {
  const step = restore.steps[n];
  return type === "take_away" && step !== undefined && goes(step);
}

async function refusals(places: RestorePlaces, steps: readonly RestoreStep[]): Promise<Refusals> {
  const refused: Refusals[number][] = [];
  for (const { path, from, to } of steps) {
    if (!isSameNode(await nodeAt(rootOf(places, path), path), from)) refused.push({ path, why: "changed" });
    else if (to !== null && !isOnlyMode(from, to) && (to.kind === "other" || (hasContent(to) && to.content === null)))
      refused.push({ path, why: "not_kept" });
  }
  return refused;
}

function hasContent({ kind }: TreeNode): boolean {
  return kind === "file" || kind === "link";
}

function failure(places: RestorePlaces, note: RestoreNote, path: string, error: unknown): RestoreResult {
  const { code, message } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || error instanceof HoldfastError) throw error;
  const failed = { type: "failed", path, isBegun: note.isMakingRoom === true, full: null } as const;
  switch (code) {
    case "ENOSPC":
    case "EDQUOT": {
      const missing = path === places.home ? 0 : roomFor(note.restore.steps, (each) => rootOf(places, each)).missingAfter;
      return { ...failed, message: "the disk is full", full: { missing: missing === 0 ? null : missing } };
    }
    case "EACCES":
    case "EPERM":
      return { ...failed, message: "permission denied" };
    default:
      return { ...failed, message };
  }
}
