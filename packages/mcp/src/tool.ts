import type { CallOutcome, CallPlan, Json } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { CallContext, CallIntent, CallRefusal, Tool } from "@holdfast/runtime";
import type { CallToolResult, Progress } from "@modelcontextprotocol/client";
import { cleanLine } from "./clean.ts";
import { failureOf } from "./failure.ts";
import type { OutcomePorts } from "./outcome.ts";
import { outcomeOf } from "./outcome.ts";
import { isNamed } from "./pick.ts";
import type { McpServer } from "./server.ts";
import { ServerDown } from "./server.ts";
import type { McpTool } from "./vet-tool.ts";

/** A call with progress may take so many times its timeout. */
const totalFactor = 10;
const summaryChars = 120;
const longestShown = 1_000;
const progressLines = 200;
/** How long a call whose first answer was lost waits for its server to be started again. */
const patienceMs = 10_000;

/**
 * A server's tool under the name that the model uses. It is looked up anew whenever it is planned or run: what it is, and
 * whether it is there, the server alone knows.
 */
export function mcpTool(name: string, server: McpServer, ports: OutcomePorts): Tool {
  const known = toolOf(server, name);
  return {
    spec: { name, description: known?.description ?? "", schema: known?.schema ?? { type: "object" } },
    ...(known === undefined ? {} : { hints: known.hints }),
    isDeferred: true,

    async plan(input, _, signal = new AbortController().signal) {
      try {
        const { tools } = await server.ready(signal);
        const tool = tools.find((one) => one.name === name);
        return tool === undefined ? refuse(missing(name, server, tools)) : planOf(server, tool, input);
      } catch (error) {
        if (error instanceof ServerDown || signal.aborted) return refuse(`${messageOf(error)} Nothing was done.`);
        throw error;
      }
    },

    async prepare(plan) {
      const state = server.state();
      const tool = state.type === "ready" ? state.tools.find((one) => one.name === name) : undefined;
      if (state.type === "ready" && tool?.definition !== plan.mcp?.definition) return refuse(`${changed(name, tool)} Nothing was done.`);
      return { prepared: null, blobs: [] };
    },

    run: (intent, context, signal) => run(name, server, ports, intent, context, signal),
  };
}

function toolOf(server: McpServer, name: string): McpTool | undefined {
  const state = server.state();
  return state.type === "ready" ? state.tools.find((one) => one.name === name) : undefined;
}

/**
 * What a call would do. Nobody but the user's config can say that a tool only reads: the server's own word decides no more
 * than whether its calls run one after another.
 */
function planOf({ config, isConfined }: McpServer, tool: McpTool, input: Json): CallPlan | CallRefusal {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return refuse(`The input of ${tool.name} is an object of this schema; nothing was done: ${JSON.stringify(tool.schema)}`);
  }
  const isSafe = isNamed(config.safe, tool.tool);
  const isRead = isSafe || tool.hints.reads === true;
  const resource = [`mcp:${config.name}`];
  // A program of the user's may change whatever the user may; one of a project's can't write in the workspace.
  const touchesFiles = config.target.type === "stdio" && !isConfined;
  return {
    input,
    summary: cleanLine(`${config.name}: ${tool.tool} ${JSON.stringify(input)}`, summaryChars),
    reads: isRead ? resource : [],
    writes: isRead ? [] : resource,
    workspace: touchesFiles ? (isRead ? "shared" : "exclusive") : "none",
    replay: isSafe ? "safe" : keyArgument(config, tool.tool) !== undefined ? "keyed" : "never",
    changesWorkspace: touchesFiles && !isSafe,
    // As it is kept and shown; it is called by the name that its server gave.
    mcp: { server: config.name, tool: cleanLine(tool.tool, longestShown), definition: tool.definition },
  };
}

async function run(
  name: string,
  server: McpServer,
  ports: OutcomePorts,
  intent: CallIntent,
  context: CallContext,
  signal: AbortSignal,
  isSecond = false,
): Promise<CallOutcome> {
  const { config } = server;
  const { plan, key } = intent;
  let ready;
  try {
    ready = await server.ready(signal, intent.isUncertain === true ? patienceMs : 0);
  } catch (error) {
    if (isLetGo(signal)) throw signal.reason;
    if (signal.aborted) return undone(intent, "The call was interrupted before it was sent.", "interrupted");
    if (error instanceof ServerDown) return undone(intent, error.message);
    throw error;
  }
  const { connection, tools } = ready;
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined || tool.definition !== plan.mcp?.definition) return undone(intent, changed(name, tool));
  const argument = keyArgument(config, tool.tool);
  const input = { ...(plan.input as { readonly [key: string]: Json }), ...(argument === undefined ? {} : { [argument]: key }) };
  const quit = new AbortController();
  const interrupt = (): void => {
    // A driver that lets go leaves the call to its end.
    if (!isLetGo(signal)) quit.abort(signal.reason);
  };
  signal.addEventListener("abort", interrupt);
  let result: CallToolResult;
  try {
    const answer = connection.call(tool.tool, input, {
      signal: quit.signal,
      timeoutMs: config.toolTimeoutMs,
      totalMs: config.toolTimeoutMs * totalFactor,
      onProgress: showProgress(context),
    });
    result = await Promise.race([answer, letGo(signal)]);
  } catch (error) {
    if (isLetGo(signal)) throw signal.reason;
    const failure = failureOf(error);
    switch (failure.type) {
      case "answered":
        server.answered();
        return failed(`The MCP server ${config.name} answered with an error: ${failure.text}`);
      case "unsent":
        await server.lost(connection, failure.text);
        return undone(intent, `The MCP server ${config.name} didn't get the call: ${failure.text}.`);
      case "expired":
        await server.lost(connection, "its session had ended");
        if (isSecond) return undone(intent, `The MCP server ${config.name} ended its session again.`);
        return run(name, server, ports, intent, context, signal, true);
      case "unknown":
        throw new Error(`${config.name} gave no answer: ${failure.text}`, { cause: error });
    }
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
  server.answered();
  // As `read_output` knows the result of an attempt.
  return outcomeOf(result, `${intent.callId}.${intent.attempt}`, ports);
}

/** This attempt did nothing. Of one before, that had no answer, it can't be said. */
function undone({ isUncertain }: CallIntent, why: string, status: "failed" | "interrupted" = "failed"): CallOutcome {
  if (isUncertain === true) throw new Error(`an earlier attempt had no answer; now: ${why}`);
  return { status, text: `${why} Nothing was done.`, trust: status === "failed" ? "untrusted" : "tool" };
}

/** A tool may be called `__proto__`. */
function keyArgument({ keyed }: McpServer["config"], tool: string): string | undefined {
  return Object.hasOwn(keyed, tool) ? keyed[tool] : undefined;
}

function showProgress({ emit }: CallContext): (progress: Progress) => void {
  let lines = 0;
  return ({ progress, total, message }) => {
    lines += 1;
    if (lines > progressLines) return;
    const said = message === undefined ? "" : ` ${cleanLine(message, 200)}`;
    emit(`${progress}${total === undefined ? "" : `/${total}`}${said}\n`);
  };
}

function isLetGo(signal: AbortSignal): boolean {
  return signal.aborted && isHoldfastError(signal.reason, "stale_driver");
}

function letGo(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const check = (): void => {
      if (isLetGo(signal)) reject(signal.reason as Error);
    };
    if (signal.aborted) check();
    else signal.addEventListener("abort", check, { once: true });
  });
}

function missing(name: string, { config }: McpServer, tools: readonly McpTool[]): string {
  const others = tools.map((tool) => tool.name);
  const shown = others.slice(0, 20).join(", ") + (others.length > 20 ? `, and ${others.length - 20} more` : "");
  return `The MCP server ${config.name} has no tool ${name} now. Its tools: ${shown === "" ? "none" : shown}. Nothing was done.`;
}

function changed(name: string, tool: McpTool | undefined): string {
  return tool === undefined
    ? `The tool ${name} was removed by its server.`
    : `The tool ${name} was changed by its server after the call was decided: look at it with search_tools and call it again.`;
}

function refuse(text: string): CallRefusal {
  return { type: "refused", text };
}

function failed(text: string): CallOutcome {
  return { status: "failed", text, trust: "untrusted" };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
