import { HoldfastError } from "@holdfast/protocol/error";
import type { Commit } from "@holdfast/runtime";

/**
 * Refuses a commit that no store can save rightly, before anything is touched. Throws `internal`: it is the driver's
 * fault, never the disk's.
 */
export function checkCommit(commit: Commit): void {
  const isFirst = commit.created !== undefined;
  if (!isFirst && commit.expectedSeq === 0) refuse(commit, "the first commit must say what is created");
  if (isFirst && commit.expectedSeq !== (commit.created.fork?.seq ?? 0)) refuse(commit, "only the first commit creates");
  if (isFirst && commit.events.length === 0) refuse(commit, "the first commit must have an event");
  commit.events.forEach((event, index) => {
    if (event.session !== commit.session) refuse(commit, `it carries an event of ${event.session}`);
    const seq = commit.expectedSeq + index + 1;
    if (event.seq !== seq) refuse(commit, `event ${event.seq} stands where ${seq} belongs`);
  });
}

function refuse(commit: Commit, reason: string): never {
  throw new HoldfastError("internal", `commit of session ${commit.session} after ${commit.expectedSeq}: ${reason}`);
}

export function staleDriver(commit: Commit, reason: string): HoldfastError {
  return new HoldfastError("stale_driver", `session ${commit.session} can't be continued after event ${commit.expectedSeq}: ${reason}`, {
    hint: "another driver may have gone on with it; load the session again",
  });
}

export function sessionNotFound(session: string): HoldfastError {
  return new HoldfastError("session_not_found", `there is no session ${session}`);
}

export function notAtRest(session: string, seq: number): HoldfastError {
  return new HoldfastError("stale_driver", `session ${session} doesn't rest at event ${seq} any more`);
}
