/** Stores that live as long as the process: for tests, browser tabs and `--ephemeral`. "Acknowledged" survives nothing. */
export { createMemoryBlobs } from "./memory/blobs.ts";
export { createMemoryLog } from "./memory/log.ts";
