import type { CallOutcome, CallPlan } from "@holdfast/protocol/call";
import type { Json } from "@holdfast/protocol/json";
import type { BlobStore } from "@holdfast/runtime/ports/blobs";
import type { Confinement, Processes } from "@holdfast/runtime/ports/processes";
import type { CallContext, CallIntent, Tool } from "@holdfast/runtime/ports/tool-host";
import { temporaryFiles } from "../../node/test/files-workspace.ts";
import { createTools, type HttpPorts, type ToolPorts } from "../src/index.ts";
import { digest } from "./files-conformance.ts";

export interface Workbench extends Awaited<ReturnType<typeof temporaryFiles>> {
  readonly tool: (name: string) => Tool;
  readonly context: CallContext;
  readonly blobs: BlobStore;
  /** What the live output was so far. */
  readonly live: string[];
  /** Tasks that the runtime knows as running, by id. */
  readonly tasks: Map<string, NonNullable<CallOutcome["task"]>>;
  /** Plans, prepares and runs a call as the runtime does. A refusal comes back as an outcome with status `denied`. */
  call(name: string, input: Json, signal?: AbortSignal): Promise<CallOutcome>;
  /** All but the run. */
  intend(name: string, input: Json): Promise<CallIntent>;
  bytes(path: string): Promise<Uint8Array>;
}

export async function workbench(
  options: {
    readonly processes?: Processes;
    readonly cwd?: string;
    readonly sandbox?: Confinement["mode"];
    readonly http?: HttpPorts;
    readonly secretsNow?: ToolPorts["secretsNow"];
    /** Hosts that the session may reach; default: all. */
    readonly hosts?: readonly string[];
  } = {},
): Promise<Workbench> {
  const at = await temporaryFiles();
  const stored = new Map<string, Uint8Array>();
  const blobs: BlobStore = {
    async put(bytes) {
      const id = digest(bytes);
      stored.set(id, bytes.slice());
      return id;
    },
    get: async (id) => stored.get(id) ?? null,
    has: async (id) => stored.has(id),
    size: async (id) => stored.get(id)?.length ?? 0,
    delete: async (id) => void stored.delete(id),
    collect: async () => 0,
  };
  const isRedacted = (text: string) => text.includes("[redacted]");
  const tools = createTools({
    files: at.files,
    blobs,
    processes: options.processes ?? null,
    isRedacted,
    ...(options.http && { http: options.http }),
    ...(options.secretsNow && { secretsNow: options.secretsNow }),
  });
  const seen = new Map<string, string>();
  const live: string[] = [];
  const tasks: Workbench["tasks"] = new Map();
  const outputs = new Map<string, string>();
  let count = 0;
  const context: CallContext = {
    session: "session_1",
    ancestors: [],
    callId: "call_0",
    cwd: options.cwd ?? at.root,
    confinement: {
      mode: options.sandbox ?? "off",
      network: options.hosts !== undefined ? [...options.hosts] : options.sandbox === undefined ? "all" : "none",
      scope: {},
      roots: [at.root],
      purpose: "session",
    },
    history: async () => [],
    seenDigest: (path) => seen.get(path) ?? null,
    task: (id) => tasks.get(id) ?? null,
    output: (handle) => outputs.get(handle) ?? null,
    limits: { commandMs: 600_000, mutatingCallMs: 15_000 },
    handOver: async () => undefined,
    emit: (text) => void live.push(text),
  };
  const tool = (name: string): Tool => {
    const found = tools.find(({ spec }) => spec.name === name);
    if (found === undefined) throw new Error(`no tool ${name}`);
    return found;
  };
  const denied = (text: string): CallOutcome => ({ status: "denied", text, trust: "tool" });

  async function intended(name: string, input: Json): Promise<CallIntent | CallOutcome> {
    const callId = `call_${++count}`;
    const plan = await tool(name).plan(input, { ...context, callId });
    if ("type" in plan) return denied(plan.text);
    // The runtime keeps plans and prepared data as JSON.
    const kept = JSON.parse(JSON.stringify(plan)) as CallPlan;
    const prepared = (await tool(name).prepare?.(kept, { ...context, callId })) ?? { prepared: null, blobs: [] };
    if ("type" in prepared) return denied(prepared.text);
    return {
      callId,
      name,
      plan: kept,
      attempt: 1,
      key: callId,
      scope: {},
      prepared: JSON.parse(JSON.stringify(prepared.prepared)) as Json,
    };
  }

  return {
    ...at,
    tool,
    context,
    blobs,
    live,
    tasks,
    async intend(name, input) {
      const intent = await intended(name, input);
      if ("status" in intent) throw new Error(intent.text);
      return intent;
    },
    async call(name, input, signal = new AbortController().signal) {
      const intent = await intended(name, input);
      if ("status" in intent) return intent;
      const outcome = await tool(name).run(intent, { ...context, callId: intent.callId }, signal);
      if (outcome.whole !== undefined) outputs.set(outcome.output ?? "", outcome.whole);
      for (const each of outcome.seen ?? []) seen.set(each.path, each.digest);
      for (const each of outcome.changed ?? []) if (each.afterDigest === null) seen.delete(each.path);
      if (outcome.task !== undefined) tasks.set(outcome.task.id, outcome.task);
      const shown = outcome.shown && tasks.get(outcome.shown.taskId);
      if (outcome.shown !== undefined && shown !== undefined) tasks.set(shown.id, { ...shown, shown: outcome.shown.bytes });
      if (outcome.endedTask !== undefined) tasks.delete(outcome.endedTask);
      return outcome;
    },
    bytes: async (path) => (await at.files.read(`${at.root}/${path}`, 100_000_000)).bytes,
  };
}
