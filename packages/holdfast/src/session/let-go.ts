import type { Io } from "../cli/io.ts";
import type { OpenHost } from "../runtime-api.ts";

/** Closes a session as its client leaves. A stop meanwhile ends what holds that up, and leaves nothing of it running. */
export async function letGo(io: Io, host: OpenHost, session: string): Promise<void> {
  const stopped = new AbortController();
  const release = io.onStop(() => stopped.abort());
  try {
    await host.runtime.closeSession(host.ports, session, stopped.signal);
  } finally {
    release();
  }
}
