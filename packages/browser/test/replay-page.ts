/** What the replay test loads into a page. */
import { replayLogs } from "./replay-logs.ts";

Object.assign(globalThis, { run: replayLogs });
