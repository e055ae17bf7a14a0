import type { Json, Op, ReplayClass, Settings } from "@holdfast/protocol";
import { defaultLimits, HoldfastError } from "@holdfast/protocol";
import type { DriveEnd, HookAnswer, Ports, ProbeFinding, SessionView, Tool } from "../../src/index.ts";
import type { Answer } from "../kit.ts";
import { allow, createTestTool, done, say, testCheck } from "../kit.ts";
import type { Api } from "./api.ts";

/** What the world outside has seen of a run, over all its processes. */
export interface Outside {
  /** What was really done, by call id. */
  readonly acts: Map<string, number>;
  /** Attempts that reached the tool, by call id. */
  readonly attempts: Map<string, number>;
  /** Calls of which a probe found that they happened. */
  readonly found: Set<string>;
  /** How often each kind of effect was carried out. */
  readonly done: Map<string, number>;
  /** Sessions that were made, and what else a person would remember. */
  readonly known: Map<string, string>;
}

/** One process of a run. */
export interface Running {
  readonly ports: Ports;
  readonly outside: Outside;
  readonly api: Api;
  readonly session: string;
  drive(): Promise<DriveEnd>;
  /** Posts under an id of its own, so that again it changes nothing. */
  post(op: Op, id: string): Promise<void>;
  view(): Promise<SessionView>;
  passTime(ms: number): void;
  /** Drives in another process, which is killed just before the call's effect, or once the target has acted. */
  driveToDeath(when: "before" | "after"): Promise<void>;
}

export interface Scenario {
  readonly name: string;
  readonly replay: ReplayClass;
  /** Set where another process has died in the turn's call: whether it had acted by then. */
  readonly hasActed?: boolean;
  readonly checks?: boolean;
  readonly settings?: Partial<Settings>;
  tools(running: Running): Tool[];
  answer(index: number, running: Running, samplings: number): Answer | Promise<Answer>;
  readonly policy?: (tool: string) => typeof allow;
  readonly change?: (ports: Ports, outside: Outside) => Ports;
  readonly steps: readonly ((running: Running) => Promise<unknown>)[];
}

const review = { ...allow, decision: "review" as const };
const week = 7 * 24 * 3600 * 1000;
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

/** A tool whose target counts what really happened; `after` runs once it has. */
function target(running: Running, replay: ReplayClass, after: () => Promise<unknown> = async () => undefined): Tool {
  const { acts, attempts, found } = running.outside;
  const tool = createTestTool({
    name: "act",
    replay,
    exclusive: true,
    changesWorkspace: true,
    run: async ({ callId }) => {
      count(attempts, callId);
      if (replay === "keyed" && acts.has(callId)) return done("acted");
      count(acts, callId);
      await after();
      return done("acted", { whole: await running.ports.blobs.put(text(`output of ${callId}`)), output: callId });
    },
    ...(replay !== "probe"
      ? {}
      : {
          probe: async ({ callId }): Promise<ProbeFinding> => {
            if (!acts.has(callId)) return { type: "not_happened" };
            found.add(callId);
            return { type: "happened", outcome: done("acted") };
          },
        }),
  });
  return {
    ...tool,
    prepare: async (plan) => {
      const blob = await running.ports.blobs.put(text(`content for ${JSON.stringify(plan.input)}`));
      return { prepared: { blob }, blobs: [blob] };
    },
  };
}

const act = { calls: [{ name: "act", input: {} }] };
const go = (running: Running): Promise<unknown> => running.post(say("go"), "msg_go");
const drive = (running: Running): Promise<unknown> => running.drive();
const plain = {
  replay: "safe" as const,
  tools: (running: Running): Tool[] => [target(running, "safe")],
  answer: (index: number): Answer => (index === 0 ? act : { text: "done" }),
};

/** One call of each class in a turn with a check. */
const turns = (["never", "probe", "keyed", "safe"] as const).map((replay): Scenario => ({
  ...plain,
  name: "a turn",
  replay,
  checks: true,
  tools: (running) => [target(running, replay)],
  steps: [go, drive],
}));

/** The same, found by another process after the first was killed before the effect, or between it and its settlement. */
const takeovers = turns.flatMap((turn): Scenario[] => [
  { ...turn, name: "taking over before the effect", hasActed: false, steps: [go, ({ driveToDeath }) => driveToDeath("before"), drive] },
  { ...turn, name: "taking over after the effect", hasActed: true, steps: [go, ({ driveToDeath }) => driveToDeath("after"), drive] },
]);

const approval: Scenario = {
  ...plain,
  name: "an approval",
  policy: () => review,
  steps: [
    go,
    drive,
    async (running) => {
      const open = (await running.view()).openApprovals[0];
      if (open !== undefined)
        await running.post({ type: "approval.answer", approvalId: open.id, answer: "allow", by: "me", note: "" }, "msg_yes");
      // A second one comes too late, and is told so.
      if (open !== undefined)
        await running.post({ type: "approval.answer", approvalId: open.id, answer: "deny", by: "late", note: "" }, "msg_no");
    },
    drive,
  ],
};

const asking = { text: "Which?", choices: ["a", "b"], allowsText: true, isMultiple: false };
const ask = createTestTool({ name: "ask", question: asking });

const question: Scenario = {
  ...plain,
  name: "a question",
  tools: () => [ask],
  answer: (index) => (index === 0 ? { calls: [{ name: "ask", input: {} }] } : { text: "done" }),
  steps: [
    go,
    drive,
    async (running) => {
      const open = (await running.view()).openQuestions[0];
      if (open === undefined) return;
      await running.post({ type: "question.answer", questionId: open.id, answer: { choices: ["a"], text: "" }, by: "me" }, "msg_answer");
    },
    drive,
  ],
};

const deadlines: Scenario = {
  ...plain,
  name: "deadlines that pass",
  tools: (running) => [ask, target(running, "safe")],
  policy: (tool) => (tool === "act" ? review : allow),
  answer: (index) => (index === 0 ? { calls: [{ name: "ask", input: {} }, ...act.calls] } : { text: "done" }),
  steps: [go, drive, async ({ passTime }) => passTime(2 * week), drive],
};

const hook: HookAnswer = { hook: "user: test", trust: "user", result: "passed", reason: "", context: "", durationMs: 1 };
const hooks: Scenario = {
  ...plain,
  name: "hooks",
  change: (ports) => ({ ...ports, hooks: { has: () => true, run: async () => [hook] } as NonNullable<Ports["hooks"]> }),
  steps: [go, drive],
};

const failing: Scenario = {
  ...plain,
  name: "a check that fails at first",
  checks: true,
  answer: (index, { outside }) => {
    if (index >= 2) outside.known.set("fixed", "yes");
    return index === 0 || index === 2 ? act : { text: "done" };
  },
  change: (ports) => ({ ...ports, verifier: { ...ports.verifier, stale: () => [testCheck.id] } }),
  steps: [go, drive],
};

const shortened: Scenario = {
  ...plain,
  name: "a conversation that is shortened",
  answer: (index, { outside }) => {
    if (!outside.known.has("long")) return index === 0 ? act : { text: "done" };
    return { text: "word ".repeat(4_000) };
  },
  steps: [
    go,
    drive,
    async ({ post, outside }) => {
      outside.known.set("long", "yes");
      await post(say("and more"), "msg_more");
    },
    drive,
    ({ post }) => post({ type: "compaction.request", by: "me" }, "msg_second"),
    drive,
    // What was just shortened can't be again.
    ({ post }) => post({ type: "compaction.request", by: "me" }, "msg_third"),
    drive,
  ],
};

const steering: Scenario = {
  ...plain,
  name: "text typed during a turn",
  tools: (running) => [target(running, "safe", () => running.post(say("and this"), "msg_more"))],
  steps: [go, drive],
};

const interrupted: Scenario = {
  ...plain,
  name: "an interrupt while the model is asked",
  answer: async (index, running) => {
    if (index === 0) return act;
    await running.post({ type: "interrupt", by: "me" }, "msg_stop");
    await new Promise((resolve) => setTimeout(resolve, 40));
    return { text: "done" };
  },
  steps: [go, drive],
};

const limited: Scenario = {
  ...plain,
  name: "a limit",
  settings: { limits: { ...defaultLimits, callsPerTurn: 5 } },
  // Four of the five calls, and with the fifth the end.
  answer: (index) => (index === 0 ? { calls: [1, 2, 3, 4].map((n) => ({ name: "act", input: { n } })) } : act),
  steps: [go, drive],
};

const retried: Scenario = {
  ...plain,
  name: "a sampling that fails",
  answer: (index, _, samplings) => {
    const error = { class: "overloaded" as const, message: "busy", status: 529, code: null, retryAfterMs: null };
    return samplings === 1 ? { fail: { type: "failed", error } } : index === 0 ? act : { text: "done" };
  },
  steps: [go, drive],
};

const advised: Scenario = {
  ...plain,
  name: "calls that fall short, one after the other",
  tools: () => [createTestTool({ name: "fail", run: async () => ({ ...done("it did not work"), status: "failed" as const }) })],
  answer: (index) => (index < 3 ? { calls: [{ name: "fail", input: { n: index } }] } : { text: "done" }),
  steps: [go, drive],
};

const schema: Scenario = {
  ...plain,
  name: "an answer under a schema",
  settings: { outputSchema: "done" },
  steps: [go, drive],
};

const install: Scenario = {
  ...plain,
  name: "an install, and a command left running",
  checks: true,
  tools: () => [
    createTestTool({
      name: "run",
      exclusive: true,
      changesWorkspace: true,
      command: "npm ci",
      run: async ({ callId, plan }) => {
        const task = { id: "task_1", callId, kind: "command" as const, title: "serve", ref: "task_1" };
        return (plan.input as { background?: boolean }).background === true ? done("runs on", { task }) : done("ran", { exitCode: 0 });
      },
    }),
  ],
  answer: (index) => {
    const input: Json = index === 0 ? {} : { background: true };
    return index < 2 ? { calls: [{ name: "run", input }] } : { text: "done" };
  },
  steps: [go, drive, ({ api, ports, session }) => api.closeSession(ports, session)],
};

const administered: Scenario = {
  ...plain,
  name: "what a person does with a session",
  steps: [
    go,
    drive,
    ({ api, ports, session }) => api.renameSession(ports, session, "another title"),
    ({ api, ports, session }) => api.changeSettings(ports, session, { network: "all" }),
    ({ api, ports, session }) => api.acceptChecks(ports, session, [testCheck]),
    async ({ api, ports, session }) => {
      const undone = (await api.readSession(ports, session)).events.some(({ type }) => type === "edits.undone");
      if (!undone) await api.recordUndo(ports, session, async () => ({ callIds: ["call"] }));
    },
    async ({ api, ports, session, outside }) => {
      const known = outside.known.get("fork");
      if (known === undefined || (await ports.log.load(known)) === null) {
        outside.known.set("fork", (await api.forkSession(ports, session)).session);
      }
    },
    async ({ api, ports, session }) => {
      const { items } = await api.readSession(ports, session);
      const result = items.find((item) => item.kind === "tool_result");
      if (result !== undefined) await api.eraseItem(ports, session, result.id);
    },
    async ({ ports, outside }) => {
      const fork = outside.known.get("fork") ?? "";
      if ((await ports.log.load(fork)) !== null) await ports.log.delete(fork);
    },
  ],
};

const hour = 3600 * 1000;

/** A sandbox that lives for an hour, can't be prolonged, and is known to every process. */
function hourly(ports: Ports, { known }: Outside): Ports {
  const ends = (id: string): number | null => (known.has(id) ? Number(known.get(id)) : null);
  const alive = (id: string): { id: string; expiresAt: number } => {
    const expiresAt = ends(id);
    if (expiresAt === null || expiresAt <= ports.clock.now()) throw new HoldfastError("sandbox_lost", `${id} has ended`);
    return { id, expiresAt };
  };
  return {
    ...ports,
    sandbox: {
      find: async (id) => ((ends(id) ?? 0) > ports.clock.now() ? alive(id) : null),
      open: async () => {
        const id = `box ${known.size}`;
        known.set(id, String(ports.clock.now() + hour));
        return alive(id);
      },
      prolong: async (id) => (alive(id), null),
      save: async (id) => ({ snapshot: `of ${alive(id).id}`, subject: "files" }),
      check: async (id) => (alive(id), { subject: "files", problems: [], renewed: [] }),
    },
  };
}

const recycled: Scenario = {
  ...plain,
  name: "a sandbox that ends",
  answer: (index, running) => {
    // Long enough for its end to be near.
    if (index === 3) running.passTime(hour - 60_000);
    return [0, 2, 3, 5].includes(index) ? act : { text: "done" };
  },
  change: hourly,
  steps: [
    go,
    drive,
    (running) => running.post(say("on"), "msg_on"),
    drive,
    async (running) => running.passTime(week),
    (running) => running.post(say("again"), "msg_again"),
    drive,
  ],
};

export const scenarios: readonly Scenario[] = [
  ...turns,
  ...takeovers,
  approval,
  question,
  deadlines,
  advised,
  hooks,
  failing,
  shortened,
  steering,
  interrupted,
  limited,
  retried,
  schema,
  install,
  administered,
  recycled,
];
