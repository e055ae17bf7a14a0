import type { CallOutcome, CallPlan, EventPayload, EventType, Evidence, SessionEvent } from "@holdfast/protocol";
import type { RecordedEvent } from "@holdfast/runtime";

/** Numbers events and spaces them a second apart. */
export function recorded(...events: readonly SessionEvent[]): RecordedEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, at: index * 1000 }));
}

export function event<T extends EventType>(type: T, payload: EventPayload<T>): SessionEvent {
  return { type, payload } as SessionEvent;
}

const usage = { inputTokens: 100, cachedInputTokens: 60, outputTokens: 20, reasoningTokens: 5 };

export function settledWith(...items: EventPayload<"sampling.settled">["items"]): SessionEvent {
  const hasCalls = items.some((item) => item.kind === "tool_call");
  return event("sampling.settled", { samplingId: "smp_1", items, usage, cost: null, finish: hasCalls ? "calls" : "stop" });
}

export function proposes(callId: string, name: string, input: unknown): EventPayload<"sampling.settled">["items"][number] {
  return { kind: "tool_call", id: `itm_${callId}`, callId, name, input: typeof input === "string" ? input : JSON.stringify(input) };
}

function says(text: string): EventPayload<"sampling.settled">["items"][number] {
  return { kind: "assistant_message", id: `itm_${text.length}`, text };
}

export function decided(callId: string, plan: Partial<CallPlan>, decision: "allow" | "review" | "deny" = "allow"): SessionEvent {
  return event("call.decided", {
    callId,
    plan: { input: {}, summary: "", reads: [], writes: [], workspace: "none", replay: "safe", changesWorkspace: false, ...plan },
    decision,
    rule:
      decision === "allow" ? { id: "workspace-command", source: "builtin" } : { id: "no-push", source: "/home/ann/.holdfast/rules.toml:3" },
    reason: "It sends data out.",
    forModel: "",
    scope: {},
    inputDigest: "0",
  });
}

export function done(
  callId: string,
  outcome: Partial<CallOutcome>,
  judgement: EventPayload<"call.settled">["judgement"] = null,
): SessionEvent {
  const whole: CallOutcome = { status: "completed", text: "", trust: "tool", ...outcome };
  const { status, text, trust } = whole;
  return event("call.settled", {
    callId,
    outcome: whole,
    result: { kind: "tool_result", id: `res_${callId}`, callId, status, text, trust },
    judgement,
  });
}

function evidenceOf(phase: "baseline" | "final", passed: boolean): Evidence {
  return {
    checkId: "check_1",
    phase,
    subjectBefore: "aaaabbbbccccdddd",
    subjectAfter: "aaaabbbbccccdddd",
    inputs: "i",
    definition: "d",
    run: {
      exitCode: passed ? 0 : 1,
      signal: null,
      timedOut: false,
      durationMs: 2300,
      passed,
      counts: { passed: passed ? 42 : 41, failed: passed ? 0 : 1, skipped: 0 },
      tail: passed ? "42 passing" : "1 failing\n  login rejects an empty password",
      output: "out_1",
    },
    originalInputsRun: null,
    repeats: [],
    weaknesses: [],
    sandboxed: true,
    gitTree: null,
    at: 0,
  };
}

/** A whole turn: a command that fails, an edit, a refused push, a retry, steering, and checks that pass. */
export const wholeTurn = recorded(
  event("checks.accepted", {
    checks: [
      {
        id: "check_1",
        kind: "command",
        name: "npm test",
        command: "npm test",
        authority: "user",
        isRequired: true,
        inputs: [],
        outputs: [],
        timeoutMs: 1,
      },
    ],
  }),
  event("turn.started", {
    turnId: "trn_1",
    message: { kind: "user_message", id: "itm_u", trust: "user", parts: [{ type: "text", text: "Fix the login bug" }] },
  }),
  event("world.observed", { sections: [{ id: "instructions", trust: "untrusted", text: "AGENTS.md found" }] }),
  event("sampling.failed", {
    samplingId: "smp_1",
    attempt: 1,
    error: { class: "rate_limited", message: "slow down", status: 429, code: null, retryAfterMs: 2000 },
    retracted: "",
    usage: null,
    retryAt: 5000,
  }),
  settledWith(
    { kind: "reasoning", id: "itm_r", text: "The test tells where." },
    says("I run the tests first."),
    proposes("c1", "run_command", { command: "npm test" }),
  ),
  event("baseline.recorded", { subject: "aaaa", manifest: null, blobs: [], evidence: [evidenceOf("baseline", false)], inputs: {} }),
  decided("c1", { summary: "npm test", command: "npm test", workspace: "exclusive", changesWorkspace: true }),
  done(
    "c1",
    {
      text: Array.from({ length: 30 }, (_, index) => `\u001b[32mline ${index + 1}\u001b[0m`).join("\n"),
      exitCode: 1,
      durationMs: 1234,
    },
    { verdict: "unmet", cause: "wrong_belief", expected: "exit 0", observed: "exit 1" },
  ),
  settledWith(proposes("c2", "edit_file", {}), proposes("c3", "run_command", {}), proposes("c4", "read_file", { path: "a" })),
  decided("c2", { summary: "edit login.js: 1 replacement", changesWorkspace: true }),
  decided("c3", { summary: "git push\nrm -rf ~", command: "git push\nrm -rf ~" }, "deny"),
  done("c2", {
    text: "edited login.js",
    changed: [{ path: "/w/login.js", beforeDigest: "a", afterDigest: "b", before: "blob", beforeMode: 420 }],
  }),
  done("c3", { status: "denied", text: "refused" }),
  done("c4", { status: "in_doubt", text: "This may have happened." }),
  event("input.taken", {
    message: { kind: "user_message", id: "itm_s", trust: "user", parts: [{ type: "text", text: "also the empty password" }] },
  }),
  settledWith(says("Fixed.\nAll tests pass.")),
  event("checks.started", { round: 1, attempt: 1 }),
  event("check.completed", { evidence: evidenceOf("final", true) }),
);
