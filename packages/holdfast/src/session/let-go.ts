import type { Io } from "../cli/io.ts";
import type { OpenHost } from "../runtime-api.ts";

/** Longer than hooks take to end that were asked meanwhile, and commands by force. */
const leavingMs = 15_000;

/**
 * Closes a session as its client leaves. A stop meanwhile ends what holds that up, and leaves nothing of it running; what
 * isn't ended by that is left, after a while or at the next stop.
 */
export async function letGo(io: Io, host: OpenHost, session: string): Promise<void> {
  const stopped = new AbortController();
  const left = Promise.withResolvers<void>();
  let leaving: NodeJS.Timeout | undefined;
  const release = io.onStop(() => {
    if (stopped.signal.aborted) left.resolve();
    stopped.abort();
    leaving ??= setTimeout(left.resolve, leavingMs);
  });
  try {
    await Promise.race([host.runtime.closeSession(host.ports, session, stopped.signal), left.promise]);
  } finally {
    clearTimeout(leaving);
    release();
  }
}
