import {
  acceptChecks,
  changeSettings,
  closeSession,
  createSession,
  drive,
  eraseItem,
  forkSession,
  post,
  readSession,
  recordUndo,
  renameSession,
} from "../../src/index.ts";

/** What of the runtime a play uses. */
export const runtime = {
  acceptChecks,
  changeSettings,
  closeSession,
  createSession,
  drive,
  eraseItem,
  forkSession,
  post,
  readSession,
  recordUndo,
  renameSession,
};
export type Api = typeof runtime;
