import type { Log } from "../ports/index.ts";

interface OwnCommit {
  readonly seq: number;
  readonly pid: number;
}

/** Sessions whose last commit is known to be this process's, at most; the others count as gone on with by somebody else. */
const mostKnown = 1_000;

const commitsOf = new WeakMap<Log, Map<string, OwnCommit>>();

export function noteCommit(log: Log, session: string, commit: OwnCommit): void {
  const known = commitsOf.get(log) ?? new Map<string, OwnCommit>();
  commitsOf.set(log, known);
  known.delete(session);
  known.set(session, commit);
  for (const oldest of known.keys()) {
    if (known.size <= mostKnown) break;
    known.delete(oldest);
  }
}

/** Whether a session's log still ends with what this process committed: nobody else had it in between. */
export function endsWithOwn(log: Log, session: string, { seq, pid }: OwnCommit): boolean {
  const last = commitsOf.get(log)?.get(session);
  return last?.seq === seq && last.pid === pid;
}
