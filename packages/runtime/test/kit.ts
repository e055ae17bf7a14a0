import type { Asking, CallOutcome, CheckDefinition, Evidence, Json, Op, Settings } from "@holdfast/protocol";
import { defaultLimits } from "@holdfast/protocol";
import { createMemoryBlobs, createMemoryLog } from "@holdfast/stores/memory";
import type {
  BlobStore,
  CallContext,
  CallIntent,
  Clock,
  DriveEnd,
  DriveOptions,
  Ids,
  Log,
  Model,
  PolicyDecision,
  PolicyRequest,
  Ports,
  ProbeFinding,
  Processes,
  ProposedItem,
  SamplingRequest,
  Stop,
  StreamPart,
  Tool,
  Verifier,
} from "../src/index.ts";
import { createSession, drive, post } from "../src/index.ts";

/** A clock that jumps to the next sleeper as soon as nothing else happens: no test waits for real time. */
export function createTestClock(start = 1_000_000): Clock & { advance(ms: number): void } {
  let now = start;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const jump = (): void => {
    const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
    if (next === undefined) return;
    now = Math.max(now, next.at);
    sleepers.delete(next);
    next.wake();
  };
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          resolve();
        });
        // A limit of active time is no reason to jump: it is set for the case that nothing happens.
        if (ms <= 600_000) setTimeout(() => sleepers.has(sleeper) && jump(), 2);
      }),
  };
}

export function createTestIds(): Ids {
  let count = 0;
  return {
    next: (prefix) => `${prefix}_${String((count += 1)).padStart(6, "0")}`,
    salt: (bytes) => String((count += 1)).padStart(bytes * 2, "0"),
    random: () => 0.5,
  };
}

export type Answer = {
  readonly text?: string;
  readonly calls?: readonly { name: string; input: Json }[];
  readonly fail?: StreamPart & { type: "failed" };
};

/** A model that answers from a function of how many answers the request already holds. */
export function createTestModel(
  answer: (index: number, request: SamplingRequest) => Answer | Promise<Answer>,
): Model & { readonly requests: SamplingRequest[] } {
  const requests: SamplingRequest[] = [];
  return {
    id: "test/model",
    contextWindow: null,
    requests,
    async *sample(request, signal) {
      requests.push({ ...request, items: [...request.items] });
      const asked = request.items.filter((item) => item.kind === "assistant_message").length;
      const { text = "", calls = [], fail } = await answer(asked, request);
      if (signal.aborted) return;
      yield { type: "started" };
      if (fail !== undefined) {
        yield { type: "text.delta", index: 0, text: "half an ans" };
        yield fail;
        return;
      }
      const items: ProposedItem[] = [
        { kind: "assistant_message", text: text === "" ? `answer ${asked}` : text },
        ...calls.map(({ name, input }): ProposedItem => ({ kind: "tool_call", name, input: JSON.stringify(input) })),
      ];
      for (const [index, item] of items.entries()) yield { type: "item", index, item };
      const usage = { inputTokens: 100, cachedInputTokens: 0, outputTokens: 10, reasoningTokens: 0 };
      yield { type: "finished", finish: calls.length > 0 ? "calls" : "stop", usage, cost: null };
    },
  };
}

export interface TestToolOptions {
  readonly name: string;
  readonly replay?: "safe" | "keyed" | "probe" | "never";
  readonly exclusive?: boolean;
  readonly changesWorkspace?: boolean;
  readonly command?: string;
  readonly question?: Asking;
  readonly run?: (intent: CallIntent, signal: AbortSignal, context: CallContext) => Promise<CallOutcome>;
  readonly probe?: (intent: CallIntent) => Promise<ProbeFinding>;
}

export function done(text: string, more: Partial<CallOutcome> = {}): CallOutcome {
  return { status: "completed", text, trust: "tool", ...more };
}

export function createTestTool(options: TestToolOptions): Tool & { readonly runs: CallIntent[] } {
  const runs: CallIntent[] = [];
  const probe = options.probe;
  return {
    spec: { name: options.name, description: "", schema: { type: "object" } },
    runs,
    plan: async (input) => ({
      input,
      summary: options.name,
      reads: [],
      writes: [],
      workspace: options.exclusive === true ? "exclusive" : "shared",
      replay: options.replay ?? "safe",
      changesWorkspace: options.changesWorkspace ?? false,
      ...(options.command === undefined ? {} : { command: options.command, cwd: "/w" }),
      ...(options.question === undefined ? {} : { question: options.question }),
    }),
    run: async (intent, context, signal) => {
      runs.push(intent);
      return options.run === undefined ? done(`ran ${JSON.stringify(intent.plan.input)}`) : options.run(intent, signal, context);
    },
    ...(probe === undefined ? {} : { probe: (intent: CallIntent) => probe(intent) }),
  };
}

export const allow: PolicyDecision = {
  decision: "allow",
  rule: { id: "test", source: "test" },
  reason: "allowed",
  forModel: "allowed",
  scope: {},
  provenRead: false,
};

export interface World {
  readonly log: Log;
  readonly blobs: BlobStore;
  readonly clock: ReturnType<typeof createTestClock>;
  readonly ids: Ids;
  readonly tools: readonly Tool[];
  readonly model: Model;
  policy?: (tool: string, request: PolicyRequest) => PolicyDecision;
  check?: (round: number) => boolean;
}

export function createWorld(parts: { tools?: readonly Tool[]; model: Model; policy?: World["policy"]; check?: World["check"] }): World {
  return {
    log: createMemoryLog(),
    blobs: createMemoryBlobs(),
    clock: createTestClock(),
    ids: createTestIds(),
    tools: parts.tools ?? [],
    model: parts.model,
    ...(parts.policy === undefined ? {} : { policy: parts.policy }),
    ...(parts.check === undefined ? {} : { check: parts.check }),
  };
}

/** The ports of one process in a world: each process has its own owner; all share the log. `alive` names the living ones. */
export function portsOf(world: World, pid = 1, alive: ReadonlySet<number> = new Set([pid])): Ports {
  let ring = (): void => undefined;
  const owner = { pid, startTime: "0", bootId: "boot", label: `process ${pid}` };
  return {
    log: world.log,
    blobs: world.blobs,
    clock: world.clock,
    ids: world.ids,
    model: async () => world.model,
    tools: { specs: world.tools.map((tool) => tool.spec), get: (name) => world.tools.find((tool) => tool.spec.name === name) ?? null },
    files: { cwd: "/w", roots: [{ id: "w", path: "/w" }] } as unknown as Ports["files"],
    processes: {
      owner,
      isAlive: (other: { pid: number }) => alive.has(other.pid),
      sandboxProblem: async () => null,
      endRuns: async () => undefined,
      forgetOutput: async () => undefined,
      remains: async () => ({ bytes: 0, isRunning: false }),
      endSession: async () => undefined,
    } as unknown as Processes,
    observer: {
      world: async () => [{ id: "env", trust: "system", text: "a test" }],
      snapshot: async () => ({ subject: "s", manifest: "m", gitTree: null }),
      blobsOf: async (manifest) => [manifest],
      changes: async () => [],
      diff: async () => null,
      isTracked: async () => false,
    },
    verifier: createTestVerifier(world),
    policy: { decide: async (request) => world.policy?.(request.tool, request) ?? allow },
    director: {
      behaviour: 1,
      describe: () => [],
      describePassing: ({ used }) => [{ id: "budget", trust: "system", text: used.join("; ") }],
      fit: (sections) => ({ sections, shed: [] }),
      tell: async (changes, whole) => [
        {
          trust: "system",
          text: `${whole ? "all" : "news"}: ${changes.map(({ id, now }) => `${id}=${now?.text ?? "gone"}`).join(", ")}`,
          context: { kind: "world", source: "a test", reason: "it was seen" },
        },
      ],
      compact: async ({ previous, events, before }) => {
        const said = events.flatMap((event) =>
          event.type === "turn.started" || event.type === "input.taken" ? [event.payload.message] : [],
        );
        const entries = [
          ...previous,
          ...said.map(({ id, parts }) => ({
            section: "user" as const,
            text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
            from: [id],
          })),
        ];
        const chars = entries.reduce((sum, { text }) => sum + text.length + 1, 60);
        return { entries, report: { before, after: { chars }, kept: {}, dropped: [], pinned: 0, flags: [] } };
      },
      direct: ({ tools, items }) => ({ instructions: "be good", tools, items }),
    },
    secrets: { get: async () => null, values: () => ["very-secret-value"] },
    signer: { keyId: "k", sign: async (text) => `signed ${text}`, verify: async (text, signature) => signature === `signed ${text}` },
    wakeups: {
      ring: () => ring(),
      serve: () => Promise.reject(new Error("no worker is part of these tests")),
      listen: (_, signal) =>
        new Promise((resolve) => {
          ring = resolve;
          signal.addEventListener("abort", () => resolve());
          setTimeout(resolve, 20);
        }),
    },
  };
}

export const testCheck: CheckDefinition = {
  id: "chk_1",
  kind: "command",
  name: "test",
  command: "test",
  authority: "user",
  isRequired: true,
  inputs: [],
  outputs: [],
  timeoutMs: 1000,
};

function createTestVerifier(world: World): Verifier {
  let round = -1;
  const evidence = (check: CheckDefinition, phase: "baseline" | "final", passed: boolean): Evidence => ({
    checkId: check.id,
    phase,
    subjectBefore: "s",
    subjectAfter: "s",
    inputs: "i",
    definition: "d",
    run: { exitCode: passed ? 0 : 1, signal: null, timedOut: false, durationMs: 1, passed, counts: null, tail: "", output: "o" },
    originalInputsRun: null,
    repeats: [],
    weaknesses: [],
    sandboxed: true,
    gitTree: null,
    at: 0,
  });
  return {
    testCounts: async () => null,
    contradictions: async () => [],
    answerProblems: async (schema, text) => (text === schema ? [] : [`it is not ${JSON.stringify(schema)}, secret: very-secret-value`]),
    stale: () => [],
    beforeRun: async (command) => (command === "npm ci" ? async () => ({ command, folders: [], locks: [], subject: null }) : null),
    baseline: async (checks) => ({
      subject: "s",
      manifest: "m",
      evidence: checks.map((check) => evidence(check, "baseline", false)),
      inputs: null,
    }),
    check: async (check) => evidence(check, "final", world.check?.((round += 1)) ?? true),
    subject: async () => "s",
    judge: ({ checks, evidence: found, message }) => {
      const passes = found.every((one) => one.run.passed);
      const heading = checks.length === 0 ? "nothing to verify" : passes ? "demonstrated" : "refuted";
      const report = { heading, message, criteria: [], changes: [], changesKnown: true, subject: "s", reasons: [] };
      return { verdict: passes ? "pass" : "fail", report, forModel: "the check failed" };
    },
  };
}

export const testSettings: Settings = {
  model: "test/model",
  effort: null,
  sandbox: "workspace-write",
  network: "none",
  approvals: "ask",
  isTrusted: false,
  limits: defaultLimits,
  takesBaseline: true,
  acceptCheckChanges: [],
};

export async function newSession(ports: Ports, settings: Partial<Settings> = {}, checks: readonly CheckDefinition[] = []): Promise<string> {
  return createSession(ports, {
    roots: [{ id: "w", path: "/w" }],
    cwd: "/w",
    settings: { ...testSettings, ...settings },
    title: "test",
    checks,
  });
}

export function say(text: string): Op {
  return { type: "input.send", parts: [{ type: "text", text }] };
}

/** Starts a session with a prompt and drives it until it rests. */
export async function runPrompt(
  ports: Ports,
  settings: Partial<Settings> = {},
  options: Partial<DriveOptions> = {},
  checks: readonly CheckDefinition[] = [],
) {
  const session = await newSession(ports, settings, checks);
  await post(ports, session, say("do it"));
  const end: DriveEnd = await drive(ports, session, { waiting: "return", ...options });
  return { session, end };
}

export class Crash extends Error {}

/** Stops that crash the driver at the n-th stop. */
export function crashAt(n: number): (stop: Stop) => Promise<void> {
  let count = 0;
  return async () => {
    count += 1;
    if (count >= n) throw new Crash(`crashed at stop ${n}`);
  };
}
