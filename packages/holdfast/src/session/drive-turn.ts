import { isHoldfastError } from "@holdfast/protocol/error";
import type { DriveEnd, DriveOptions } from "@holdfast/runtime";
import type { StopSignal } from "../cli/io.ts";
import type { Config } from "../config/config.ts";
import type { OpenHost } from "../runtime-api.ts";

/** How long failed requests are tried again, where the config says it. */
export function retrying({ network: { retryForS } }: Config): { readonly retryForMs?: number } {
  return retryForS === undefined ? {} : { retryForMs: retryForS * 1000 };
}

export interface TurnOptions extends Omit<DriveOptions, "signal"> {
  /** Subscribes to the person's (or the system's) wish to stop; returns how to unsubscribe. */
  readonly onStop: (handler: (signal: StopSignal) => void) => () => void;
  /** Told when a stop was asked for, so that it can be shown at once. */
  readonly onStopping: (isForced: boolean) => void;
}

/**
 * Drives a session until it gives it back. The first stop posts an interrupt, and the turn ends as `interrupted` in good
 * order. The second lets go at once and ends the session's commands: the log stays as it is, and can be gone on with.
 */
export async function driveTurn(host: OpenHost, session: string, options: TurnOptions): Promise<DriveEnd> {
  const forced = new AbortController();
  let isStopping = false;
  const release = options.onStop((signal) => {
    if (forced.signal.aborted) return;
    if (isStopping) {
      options.onStopping(true);
      forced.abort();
      return;
    }
    isStopping = true;
    options.onStopping(false);
    host.runtime.post(host.ports, session, { type: "interrupt", by: signal }).catch(() => forced.abort());
  });
  try {
    const end = await host.runtime.drive(host.ports, session, {
      waiting: options.waiting,
      endsCommands: options.waiting === "return",
      signal: forced.signal,
      ...(options.retryForMs === undefined ? {} : { retryForMs: options.retryForMs }),
      ...(options.onEvent === undefined ? {} : { onEvent: options.onEvent }),
      ...(options.onDelta === undefined ? {} : { onDelta: options.onDelta }),
      ...(options.onWait === undefined ? {} : { onWait: options.onWait }),
    });
    if (!forced.signal.aborted) return end;
  } catch (error) {
    if (!forced.signal.aborted) {
      // Nothing can be saved now, so whoever drove it ends here; what the session left running must not outlive that unseen.
      const isUnsaved = isHoldfastError(error, "store_full") || isHoldfastError(error, "store_failed");
      if (isUnsaved) await host.ports.processes.endSession(session, { forget: false }).catch(() => undefined);
      throw error;
    }
  } finally {
    release();
  }
  await host.ports.processes.endSession(session, { forget: false });
  return { standing: "interrupted", exitStatus: 130, report: null, error: null, approvals: [], questions: [] };
}
