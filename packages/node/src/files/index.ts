import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { HoldfastError } from "@holdfast/protocol/error";
import type { EditClaim, FileEdit, Files } from "@holdfast/runtime/ports/files";
import { applyEdits, removeLeftovers } from "./apply.ts";
import { fileOperations, type FileOperations } from "./file-operations.ts";
import { identify, rootOf } from "./identify.ts";
import { lockDatabase, type LockDatabase } from "./lock-database.ts";
import { standing } from "./look.ts";
import { readFile, stampOf } from "./read.ts";
import { glob, list, search } from "./search.ts";

export interface FilesOptions {
  /** Absolute folder; base for relative paths. */
  readonly cwd: string;
  /** The roots of the workspace; none for a session without one. */
  readonly roots: readonly { readonly id: string; readonly path: string }[];
  /** Folder of the edit locks, shared by every session of the machine. Made when missing. */
  readonly lockDir: string;
  /** Told once when an edit has waited for another writer's lock for two seconds. */
  readonly onWait?: (message: string) => void;
  /** After this the wait ends with `workspace_busy`. Default: a minute. */
  readonly maxWaitMs?: number;
  readonly operations?: FileOperations;
  /** Real paths of what no search shows, wherever it starts: credentials, Holdfast's own home. Asked at each search. */
  readonly hidden?: () => readonly string[];
}

const sayAfterMs = 2_000;
const retryMs = 20;

/**
 * The files of this machine. Throws `workspace_invalid` where a root or the folder is missing. `apply` and `probe` throw
 * `store_failed`, `store_full` or `workspace_busy` where the edit lock can't be had; nothing was changed then.
 */
export function createFiles(options: FilesOptions): Files & { close(): void } {
  const roots = options.roots.map((root) => ({ id: root.id, path: realFolder(root.path) }));
  const cwd = realFolder(options.cwd);
  const base = { cwd, roots };
  const places = { roots, hidden: options.hidden ?? (() => []) };
  const ops = options.operations ?? fileOperations;
  const locks = new Map<string, LockDatabase>();

  function lock(name: string): LockDatabase {
    const known = locks.get(name) ?? lockDatabase(options.lockDir, name);
    locks.set(name, known);
    return known;
  }

  /** The claims are kept with the first root; files of other roots and outside of all are locked as well, in fixed order. */
  const home = roots[0]?.path ?? cwd;
  function locksOf(edits: readonly FileEdit[]): LockDatabase[] {
    const names = edits.map((edit) => rootOf(edit.path, roots)?.path ?? (roots.length === 0 ? home : "outside"));
    return [...new Set([home, ...names])].toSorted().map(lock);
  }

  async function locked<T>(edits: readonly FileEdit[], work: (claims: LockDatabase) => T): Promise<T> {
    const needed = locksOf(edits);
    const started = Date.now();
    for (let said = false; !tryAll(needed);) {
      const waited = Date.now() - started;
      if (waited >= (options.maxWaitMs ?? 60_000)) {
        throw new HoldfastError("workspace_busy", `Another process has held the edit lock of ${home} for ${Math.round(waited / 1000)} s.`, {
          hint: "Nothing was changed. Continue or end the process that is editing this workspace.",
        });
      }
      if (!said && waited >= sayAfterMs) {
        said = true;
        options.onWait?.(`waiting for another process that is editing ${home}`);
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
    let result: T;
    try {
      result = work(lock(home));
    } catch (error) {
      for (const each of needed) each.rollback();
      throw error;
    }
    for (const each of needed) each.commit();
    return result;
  }

  return {
    cwd,
    roots,
    identify: (path) => identify(path, base),
    read: readFile,
    stamp: stampOf,
    glob: (pattern, path, limit) => glob(pattern, path, limit, places),
    list: (pattern, path, limit) => list(pattern, path, limit, places),
    search: (query, signal) => search(query, signal, places),
    apply: (edits, claim) =>
      locked(edits, (claims) => {
        if (!claims.take(claim)) return { type: "revoked" };
        return applyEdits(edits, idOf(claim), claims.isRepeated(claim), ops);
      }),
    probe: (edits, claim) =>
      locked(edits, (claims) => {
        claims.revoke(claim);
        removeLeftovers(edits, idOf(claim), ops);
        return standing(edits);
      }),
    close: () => {
      for (const each of locks.values()) each.close();
      locks.clear();
    },
  };
}

/** Takes all of them in one go or none, so that nobody waits while holding one. */
function tryAll(locks: readonly LockDatabase[]): boolean {
  for (const [index, each] of locks.entries()) {
    let isMine = false;
    try {
      isMine = each.tryBegin();
    } finally {
      if (!isMine) for (const taken of locks.slice(0, index)) taken.rollback();
    }
    if (!isMine) return false;
  }
  return true;
}

function idOf(claim: EditClaim): string {
  return createHash("sha256").update(`${claim.session}\0${claim.callId}`).digest("hex").slice(0, 16);
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new HoldfastError("workspace_invalid", `${path} can't be opened as a folder of the workspace.`, { cause: error });
  }
}
