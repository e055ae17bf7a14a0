import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clock } from "@holdfast/node/host/clock";
import { createServers } from "@holdfast/node/servers/index";
import { createServerLaunch } from "@holdfast/node/servers/launch";
import type { CallOutcome, CallPlan, Json } from "@holdfast/protocol";
import type { CallContext, CallIntent } from "@holdfast/runtime";
import { createMemoryBlobs } from "@holdfast/stores/memory";
import type { FetchLike } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { createMcpSource, mcpDefaults, type McpServerConfig, type McpSource, type McpTarget } from "../src/index.ts";
import type { Habits } from "./servers/fake.ts";

export type Setting = Partial<Omit<McpServerConfig, "name" | "target">>;
export type Server = McpServerConfig;

/** A folder that goes with the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function server(name: string, target: McpTarget, setting: Setting = {}): Server {
  return { ...mcpDefaults, startupTimeoutMs: 5_000, ...setting, name, target };
}

export function program(
  name: string,
  command: string,
  args: readonly string[],
  setting: Setting = {},
  env: Record<string, string> = {},
): Server {
  return server(name, { type: "stdio", command, args, env }, setting);
}

/** The hand-written server of `servers/fake.ts`. */
export function fake(name: string, habits: Habits, setting: Setting = {}): Server {
  return program(name, process.execPath, [join(import.meta.dirname, "servers/fake.ts"), JSON.stringify(habits)], setting);
}

/** A published server from node_modules. */
export function published(name: string, bin: string, args: readonly string[], env: Record<string, string> = {}): Server {
  return program(name, join(import.meta.dirname, "../../../node_modules/.bin", bin), args, { startupTimeoutMs: 30_000 }, env);
}

export interface Bench {
  readonly source: McpSource;
  readonly blobs: ReturnType<typeof createMemoryBlobs>;
  readonly emitted: string[];
  readonly cwd: string;
  /** Starts everything and waits for it. */
  start(): Promise<void>;
  plan(name: string, input?: Json, signal?: AbortSignal): ReturnType<NonNullable<ReturnType<McpSource["get"]>>["plan"]>;
  run(name: string, plan: CallPlan, signal?: AbortSignal, more?: Partial<CallIntent>): Promise<CallOutcome>;
  /** Plans and runs, as the runtime does. A refusal comes back as an outcome with status `denied`. */
  call(name: string, input?: Json, signal?: AbortSignal): Promise<CallOutcome>;
}

export interface BenchOptions {
  readonly fetch?: FetchLike;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly confined?: boolean;
}

export function bench(servers: readonly Server[], options: BenchOptions = {}): Bench {
  const cwd = folder();
  const environment = { ...process.env, ...options.environment };
  const place = { home: join(cwd, ".home"), userHome: cwd, workspaceRoots: [cwd], environment, network: "none" as const };
  const blobs = createMemoryBlobs();
  const source = createMcpSource(
    servers.map((config) => ({ config, isConfined: options.confined ?? false })),
    {
      processes: createServers({ launch: createServerLaunch(place) }),
      fetch: options.fetch ?? fetch,
      clock,
      environment,
      cwd,
      blobs,
      redact: (text) => text.replaceAll("very-secret-value", "[redacted]"),
    },
  );
  onTestFinished(() => source.close());
  const emitted: string[] = [];
  const never = new AbortController().signal;
  const context = { emit: (text) => void emitted.push(text) } as Partial<CallContext> as CallContext;
  const toolOf = (name: string) => {
    const tool = source.get(name);
    if (tool === null) throw new Error(`no server for ${name}`);
    return tool;
  };
  const at: Bench = {
    source,
    blobs,
    emitted,
    cwd,
    async start() {
      source.start();
      await source.settled(30_000, never);
    },
    plan: (name, input = {}, signal = never) => toolOf(name).plan(input, context, signal),
    async run(name, plan, signal = never, more = {}) {
      const kept = JSON.parse(JSON.stringify(plan)) as CallPlan;
      const intent: CallIntent = { callId: "call_1", name, plan: kept, attempt: 1, key: "key-of-the-call", scope: {}, prepared: null };
      return toolOf(name).run({ ...intent, ...more }, context, signal);
    },
    async call(name, input = {}, signal = never) {
      const plan = await at.plan(name, input, signal);
      return "type" in plan ? { status: "denied", text: plan.text, trust: "tool" } : at.run(name, plan, signal);
    },
  };
  return at;
}

/** Lines that a fake server noted. */
export function notesOf(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until something holds; the test's own timeout ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 15));
}
