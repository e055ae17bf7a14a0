import type { Clock, ServerProcesses } from "@holdfast/runtime";
import type { FetchLike } from "@modelcontextprotocol/client";
import { retryAfter } from "./backoff.ts";
import type { McpServerConfig } from "./config.ts";
import type { Connection, ToolList } from "./connect.ts";
import { connect } from "./connect.ts";
import { expandTarget } from "./expand.ts";
import { isPicked } from "./pick.ts";

export interface ServerPorts {
  readonly processes: ServerProcesses | null;
  readonly fetch: FetchLike;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where servers run: the workspace. */
  readonly cwd: string;
  readonly redact: (text: string) => string;
}

/** How a server stands: the only place where that is kept. Its tools are there exactly while it is `ready`. */
export type ServerState =
  | { readonly type: "disabled" }
  | { readonly type: "idle" }
  | { readonly type: "starting"; readonly since: number; readonly over: Promise<void> }
  | ({ readonly type: "ready"; readonly connection: Connection; readonly revision: string } & ToolList)
  /** Tried again when it is needed and `retryAt` has passed. */
  | { readonly type: "failed"; readonly reason: string; readonly retryAt: number }
  | { readonly type: "closed" };

type ReadyState = Extract<ServerState, { type: "ready" }>;

/** A server can't be used now; the message says why, for the model and the person. */
export class ServerDown extends Error {}

export interface McpServer {
  readonly config: McpServerConfig;
  readonly isConfined: boolean;
  state(): ServerState;
  /** Begins to start it where it isn't running and may be tried again. */
  start(): void;
  /** Resolves when it isn't starting any more, after the time a start may take, or when the signal aborts. */
  settled(maxMs: number, signal: AbortSignal): Promise<void>;
  /**
   * Starts it if need be and waits for it, as long as a start may take; with patience also until it may be tried again, so
   * long in all. Throws `ServerDown`, or the signal's reason.
   */
  ready(signal: AbortSignal, patienceMs?: number): Promise<ReadyState>;
  /** A call was answered: earlier failures count no more. */
  answered(): void;
  /** The connection is of no use any more, whatever it says itself. */
  lost(connection: Connection, reason: string): Promise<void>;
  /** Ends it for good. */
  close(): Promise<void>;
}

/** A start that takes longer than people wait goes on behind: up to so many times its timeout. */
const hardFactor = 6;

export function createServer(config: McpServerConfig, isConfined: boolean, ports: ServerPorts): McpServer {
  let state: ServerState = config.isEnabled ? { type: "idle" } : { type: "disabled" };
  let failures = 0;
  let lookAgain = (): void => undefined;
  const end = new AbortController();
  const now = (): number => ports.clock.now();

  const fail = (reason: string): void => {
    if (state.type === "closed") return;
    failures += 1;
    state = { type: "failed", reason, retryAt: now() + retryAfter(failures) };
  };

  const start = (): void => {
    if (state.type === "ready" && state.connection.isDeaf()) lookAgain();
    if (state.type === "failed" ? now() < state.retryAt : state.type !== "idle") return;
    const over = begin();
    state = { type: "starting", since: now(), over };
  };

  async function begin(): Promise<void> {
    const limitMs = config.startupTimeoutMs * hardFactor;
    const abort = new AbortController();
    const stop = (): void => abort.abort(new ServerDown("Holdfast is ending"));
    end.signal.addEventListener("abort", stop);
    let connection: Connection | null = null;
    let hasNews = false;
    let listing: Promise<void> | null = null;

    /** One at a time, outside of whoever tells the news: an answer is read by the reader that told it. */
    const refresh = (): void => {
      hasNews = true;
      // What changes during the start, or during another look, is looked at after it.
      if (listing !== null || state.type !== "ready" || state.connection !== connection) return;
      const current = state.connection;
      hasNews = false;
      listing = current
        .list()
        .then((list) => {
          if (state.type === "ready" && state.connection === current) state = { ...state, ...picked(config, list) };
        })
        // The list stays as it was; a server that is gone is told apart.
        .catch(() => undefined)
        .finally(() => {
          listing = null;
          if (hasNews) refresh();
        });
    };

    try {
      // Nothing of this is done before `start` has noted that it began.
      await Promise.resolve();
      const target = expandTarget(config, ports.environment);
      const started = connect({
        name: config.name,
        target,
        cwd: ports.cwd,
        isConfined,
        processes: ports.processes,
        fetch: ports.fetch,
        probeMs: Math.max(2_000, config.startupTimeoutMs / 2),
        limitMs,
        signal: abort.signal,
        redact: ports.redact,
        onChanged: refresh,
      });
      const timer = new AbortController();
      const late = ports.clock.sleep(limitMs, timer.signal).then(() => {
        if (!timer.signal.aborted) abort.abort(new ServerDown(`it did not start within ${seconds(limitMs)}`));
      });
      try {
        connection = await Promise.race([started, aborted(abort.signal)]);
        const list = picked(config, await Promise.race([connection.list(), aborted(abort.signal)]));
        if (end.signal.aborted) throw end.signal.reason;
        state = { type: "ready", connection, revision: connection.revision, ...list };
      } catch (error) {
        started.then((late) => late.close()).catch(() => undefined);
        throw error;
      } finally {
        timer.abort();
        await late;
      }
      const current = connection;
      lookAgain = refresh;
      void current.closed.then((reason) => {
        if (state.type === "ready" && state.connection === current) fail(reason);
      });
      if (hasNews) refresh();
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    } finally {
      end.signal.removeEventListener("abort", stop);
    }
  }

  const settled = async (maxMs: number, signal: AbortSignal): Promise<void> => {
    if (state.type !== "starting") return;
    const timer = new AbortController();
    const left = Math.min(maxMs, Math.max(0, state.since + config.startupTimeoutMs - now()));
    const stop = (): void => timer.abort();
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    await Promise.race([state.over, ports.clock.sleep(left, timer.signal)]);
    timer.abort();
    signal.removeEventListener("abort", stop);
  };

  return {
    config,
    isConfined,
    state: () => state,
    start,
    settled,
    async ready(signal, patienceMs = 0) {
      const deadline = now() + patienceMs;
      for (;;) {
        start();
        await settled(Number.POSITIVE_INFINITY, signal);
        if (signal.aborted) throw signal.reason;
        if (state.type === "ready") return state;
        if (state.type !== "failed" || state.retryAt > deadline || now() >= deadline) {
          throw new ServerDown(describeState(config.name, state, now()));
        }
        await ports.clock.sleep(Math.max(0, state.retryAt - now()), signal);
      }
    },
    answered: () => {
      failures = 0;
    },
    async lost(connection, reason) {
      if (state.type !== "ready" || state.connection !== connection) return;
      fail(reason);
      await connection.close();
    },
    async close() {
      const last = state;
      state = { type: "closed" };
      end.abort();
      if (last.type === "ready") await last.connection.close();
      if (last.type === "starting") await last.over;
    },
  };
}

function picked(config: McpServerConfig, list: ToolList): ToolList {
  return { tools: list.tools.filter(({ tool }) => isPicked(config, tool)), dropped: list.dropped };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

/** Why a server offers no tools, in one line. */
export function describeState(name: string, state: ServerState, now: number): string {
  switch (state.type) {
    case "disabled":
      return `The MCP server ${name} is disabled.`;
    case "idle":
      return `The MCP server ${name} isn't running.`;
    case "starting":
      return `The MCP server ${name} is still starting; try again later.`;
    case "ready":
      return `The MCP server ${name} is running.`;
    case "failed": {
      const wait = state.retryAt - now;
      const again = wait > 0 ? `it is tried again in ${seconds(wait)} at the earliest` : "it is started again when it is called";
      return `The MCP server ${name} isn't running: ${state.reason}; ${again}.`;
    }
    case "closed":
      return `The MCP server ${name} was ended.`;
  }
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
