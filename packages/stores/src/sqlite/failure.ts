import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { ErrorCode } from "@holdfast/protocol";
import { accessSync, constants, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../durable-files.ts";

/** Result codes of SQLite, https://www.sqlite.org/rescode.html. The low byte is the primary code. */
const primary = {
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  constraint: 19,
  mismatch: 20,
  notadb: 26,
} as const;
const extended = { ioerrData: 8202, ioerrCorruptFs: 8458, readonlyRollback: 776 } as const;

/** Below this many free bytes an input/output error is taken for a full disk: SQLite names only some of those so. */
const fullBelow = 64 * 1024;

function sqliteCode(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode : null;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && ((code & 0xff) === primary.busy || (code & 0xff) === primary.locked);
}

/** The value is one that its column can't have. */
export function isRefused(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && ((code & 0xff) === primary.constraint || (code & 0xff) === primary.mismatch);
}

/** A process died within a transaction, and only a connection that may write can take it back. */
export function needsRollback(error: unknown): boolean {
  return sqliteCode(error) === extended.readonlyRollback;
}

export function isFull(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && (code & 0xff) === primary.full;
}

/** What SQLite or the file system threw, as an error with one of our codes. Ours pass through. */
export function storeFailure(error: unknown, path: string): unknown {
  if (isHoldfastError(error)) return error;
  const { code, what, hint } = explain(error, path);
  const detail = error instanceof Error ? error.message : String(error);
  return new HoldfastError(code, `${what}: ${path} (${detail})`, { hint, cause: error });
}

function explain(error: unknown, path: string): { readonly code: ErrorCode; readonly what: string; readonly hint: string } {
  const sqlite = sqliteCode(error);
  if (sqlite === null) return fileFailure(error);
  switch (sqlite & 0xff) {
    case primary.full:
      return full;
    case primary.corrupt:
    case primary.notadb:
      return corrupt;
    case primary.busy:
    case primary.locked:
      return {
        code: "store_failed",
        what: "another process keeps the session store locked",
        hint: "find the process that holds the file (a stopped one can) and let it go on or end it",
      };
    case primary.ioerr:
      if (sqlite === extended.ioerrData || sqlite === extended.ioerrCorruptFs) return corrupt;
      return hasNoSpace(path) ? full : failed;
    case primary.cantopen:
      return isOnReadOnly(path) ? readOnly : hasNoSpace(path) ? full : failed;
    case primary.readonly:
      return isOnReadOnly(path) ? readOnly : { ...failed, what: "the session store can't be written" };
    default:
      return failed;
  }
}

/** Whether nobody can write there, whatever they may do elsewhere. */
export function isOnReadOnly(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return systemCode(error) === "EROFS";
  }
}

function fileFailure(error: unknown): { readonly code: ErrorCode; readonly what: string; readonly hint: string } {
  const code = systemCode(error);
  if (code === "EROFS") return readOnly;
  return code === "ENOSPC" || code === "EDQUOT" ? full : failed;
}

const full = {
  code: "store_full",
  what: "the session can't be saved, the disk is full",
  hint: "free some space, then go on: what was acknowledged is there",
} as const;
const corrupt = {
  code: "session_corrupt",
  what: "the session store is damaged",
  hint: "holdfast doctor --repair saves what can be read, and keeps the damaged file",
} as const;
const readOnly = {
  code: "store_failed",
  what: "the session store is on a read-only file system",
  hint: "to go on, mount it for writing, or copy HOLDFAST_HOME to a place that can be written",
} as const;
const failed = {
  code: "store_failed",
  what: "the session store failed",
  hint: "check that the folder exists, belongs to you and can be written",
} as const;

function hasNoSpace(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < fullBelow;
  } catch {
    return false;
  }
}
