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

/** Longer than whoever drives takes to let go. */
const lettingGoMs = 5_000;

/**
 * Drives a session until it gives it back. The first stop posts an interrupt, and the turn ends as `interrupted` in good
 * order. The second lets go at once and ends the session's commands: the log stays as it is, and can be gone on with. What
 * doesn't let go then is left, after a while or at the third.
 */
export async function driveTurn(host: OpenHost, session: string, options: TurnOptions): Promise<DriveEnd> {
  const forced = new AbortController();
  const left = Promise.withResolvers<null>();
  let leaving: NodeJS.Timeout | undefined;
  const force = (): void => {
    forced.abort();
    leaving ??= setTimeout(left.resolve, lettingGoMs, null);
  };
  let isStopping = false;
  const release = options.onStop((signal) => {
    if (forced.signal.aborted) {
      left.resolve(null);
      return;
    }
    if (isStopping) {
      options.onStopping(true);
      force();
      return;
    }
    isStopping = true;
    options.onStopping(false);
    host.runtime.post(host.ports, session, { type: "interrupt", by: signal }).catch(force);
  });
  let failure: { readonly error: unknown } | null = null;
  try {
    const driven = host.runtime.drive(host.ports, session, {
      waiting: options.waiting,
      endsCommands: options.waiting === "return",
      signal: forced.signal,
      ...(options.retryForMs === undefined ? {} : { retryForMs: options.retryForMs }),
      ...(options.onEvent === undefined ? {} : { onEvent: options.onEvent }),
      ...(options.onDelta === undefined ? {} : { onDelta: options.onDelta }),
      ...(options.onWait === undefined ? {} : { onWait: options.onWait }),
    });
    const end = await Promise.race([driven, left.promise]);
    if (end !== null && !forced.signal.aborted) return end;
  } catch (error) {
    if (!forced.signal.aborted) failure = { error };
  } finally {
    clearTimeout(leaving);
    release();
  }
  if (failure === null) {
    await endCommands(host, session, options.onStop);
    return { standing: "interrupted", exitStatus: 130, report: null, error: null, approvals: [], questions: [] };
  }
  // Nothing can be saved now, so whoever drove it ends here; what the session left running must not outlive that unseen.
  const isUnsaved = isHoldfastError(failure.error, "store_full") || isHoldfastError(failure.error, "store_failed");
  if (isUnsaved) await endCommands(host, session, options.onStop).catch(() => undefined);
  throw failure.error;
}

/** Longer than a command takes to end, also by force. */
const endingMs = 20_000;

/** Ends the session's commands, as far as they let themselves be ended: nobody is kept waiting for one that doesn't, or after a stop. */
async function endCommands(host: OpenHost, session: string, onStop: TurnOptions["onStop"]): Promise<void> {
  const left = Promise.withResolvers<void>();
  const timer = setTimeout(left.resolve, endingMs);
  const release = onStop(() => left.resolve());
  try {
    await Promise.race([host.ports.processes.endSession(session, { forget: false }), left.promise]);
  } finally {
    clearTimeout(timer);
    release();
  }
}
