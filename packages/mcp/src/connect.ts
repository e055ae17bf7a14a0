import type { ServerEnd, ServerProcess, ServerProcesses } from "@holdfast/runtime";
import { showUrls } from "@holdfast/runtime/show-url";
import type { CallToolResult, Client, FetchLike, Progress, Transport } from "@modelcontextprotocol/client";
import { boundedFetch } from "./bounded-fetch.ts";
import { cleanLine } from "./clean.ts";
import type { McpTarget } from "./config.ts";
import { stdioTransport } from "./stdio-transport.ts";
import type { DroppedTool, McpTool } from "./vet-tool.ts";
import { vetTools } from "./vet-tool.ts";
import { vettingTransport } from "./vetting-transport.ts";

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Without an answer or a sign of progress. */
  readonly timeoutMs: number;
  /** Of the whole call, whatever progress there is. */
  readonly totalMs: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface ToolList {
  readonly tools: readonly McpTool[];
  readonly dropped: readonly DroppedTool[];
}

/** A server that answers. */
export interface Connection {
  /** The protocol's revision that both speak, such as `2025-11-25`. */
  readonly revision: string;
  /** Every page. Throws where the list can't be had. */
  list(): Promise<ToolList>;
  /** Throws an error of the client package where there is no answer, or the answer is a protocol error. */
  call(tool: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>;
  /** Resolves with the reason once it can't be used any more. */
  readonly closed: Promise<string>;
  /** True once the server can't tell of changes any more, though it answers: its list has to be asked for. */
  isDeaf(): boolean;
  close(): Promise<void>;
}

export interface ConnectInput {
  readonly name: string;
  readonly target: McpTarget;
  readonly cwd: string;
  readonly isConfined: boolean;
  readonly processes: ServerProcesses | null;
  readonly fetch: FetchLike;
  /** How long a server on pipes may be silent before it counts as one of an older protocol. */
  readonly probeMs: number;
  /** Until it is connected. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Takes secrets out of what a server or the system said. */
  readonly redact: (text: string) => string;
  /** Called when the server says that its tools have changed. */
  readonly onChanged: () => void;
}

/** Pages of a list of tools: a server whose list never ends has none. */
const mostPages = 500;
const mostTools = 5_000;

/** Starts or reaches a server and agrees on a revision. Throws with a reason a person can read. */
export async function connect(input: ConnectInput): Promise<Connection> {
  const { target } = input;
  if (target.type === "http") return open(input, null, "auto");
  const first = startProcess(input);
  let hasEnded = false;
  void first.ended.then(() => (hasEnded = true));
  try {
    return await open(input, first, "auto");
  } catch (error) {
    // Some servers end at the first message they don't know: an older one that was asked for its revision.
    if (!hasEnded || input.signal.aborted) throw error;
    return open(input, startProcess(input), "legacy");
  }
}

function startProcess({ target, processes, cwd, isConfined }: ConnectInput): ServerProcess {
  if (target.type !== "stdio") throw new Error("it is no program");
  if (processes === null) throw new Error("programs can't be started here");
  const { command, args, env } = target;
  return processes.start({ command, args, env, cwd: target.cwd === undefined ? cwd : below(cwd, target.cwd), isConfined });
}

function below(folder: string, path: string): string {
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

async function open(input: ConnectInput, process: ServerProcess | null, mode: "auto" | "legacy"): Promise<Connection> {
  const sdk = await import("@modelcontextprotocol/client");
  let pages: unknown[] = [];
  const inner: Transport =
    process === null
      ? new sdk.StreamableHTTPClientTransport(new URL((input.target as { url: string }).url), {
          fetch: boundedFetch(input.fetch),
          requestInit: { headers: { ...(input.target as { headers: Record<string, string> }).headers } },
        })
      : stdioTransport(process);
  const transport = vettingTransport(input.name, inner, (page) => {
    pages.push(...page);
    if (pages.length > mostTools) pages.length = mostTools;
  });
  const client = new sdk.Client(
    { name: "holdfast", version: "0.1.0" },
    {
      versionNegotiation: { mode, probe: process === null ? {} : { timeoutMs: input.probeMs } },
      listMaxPages: mostPages,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => input.onChanged() } },
    },
  );
  let end: string | null = null;
  void process?.ended.then((ended) => (end = describeEnd(ended, (text) => input.redact(showUrls(text)), process.lastWords())));
  let isOpen = true;
  let isDeaf = false;
  const closed = new Promise<string>((resolve) => {
    client.onclose = () => {
      isOpen = false;
      resolve(end ?? "the connection was closed");
    };
  });
  const abort = (): void => void client.close();
  input.signal.addEventListener("abort", abort);
  try {
    await client.connect(transport, { timeout: input.limitMs, signal: input.signal });
  } catch (error) {
    // Ended before we end it.
    const why = end;
    await inner.close().catch(() => undefined);
    throw new Error(why ?? reasonOf(error, input.redact), { cause: error });
  } finally {
    input.signal.removeEventListener("abort", abort);
  }
  void client.autoOpenedSubscription?.closed.then((why) => {
    if (why !== "local") isDeaf = true;
  });
  return {
    isDeaf: () => isDeaf,
    revision: client.getNegotiatedProtocolVersion() ?? "",
    closed,
    async list() {
      pages = [];
      const listed = await listAll(client, input.limitMs);
      const { tools, dropped } = vetTools(input.name, pages);
      // The client package leaves out tools whose parameters say that they go into headers, and say it wrongly.
      const isListed = new Set(listed);
      return {
        tools: tools.filter((one) => isListed.has(one.tool)),
        dropped: [
          ...dropped,
          ...tools
            .filter((one) => !isListed.has(one.tool))
            .map(({ tool }) => ({ tool, reason: "its x-mcp-header declarations are invalid" })),
        ],
      };
    },
    async call(name, input, { signal, timeoutMs, totalMs, onProgress }) {
      if (!isOpen) throw new sdk.SdkError(sdk.SdkErrorCode.NotConnected, "the connection was closed");
      return client.callTool(
        { name, arguments: input },
        { signal, timeout: timeoutMs, maxTotalTimeout: totalMs, resetTimeoutOnProgress: true, onprogress: onProgress },
      );
    },
    async close() {
      await client.close();
      await process?.stop();
    },
  };
}

/** The innermost cause: what the system said, where it said something. */
function reasonOf(error: unknown, redact: ConnectInput["redact"]): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const said = cleanLine(redact(showUrls(inner instanceof Error ? inner.message : String(inner))), 300);
  return inner === error ? said : `it can't be reached: ${said}`;
}

async function listAll(client: Client, timeout: number): Promise<string[]> {
  const { tools } = await client.listTools(undefined, { timeout, cacheMode: "refresh" });
  return tools.map((tool) => tool.name);
}

/** How its process ended, with the last line it wrote to its standard error. */
function describeEnd({ exitCode, signal, error }: ServerEnd, redact: ConnectInput["redact"], lastWords: string): string {
  if (error !== null) return `it could not be started: ${cleanLine(redact(error), 300)}`;
  const last = lastWords.trim().split("\n").at(-1) ?? "";
  return `it ended with ${signal === null ? `exit status ${exitCode}` : signal}${last === "" ? "" : `: ${cleanLine(redact(last), 300)}`}`;
}
