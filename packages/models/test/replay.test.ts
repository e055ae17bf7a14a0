import { describe, expect, it } from "vitest";
import { defaultLimits, type EventPayload, type Item, type SessionEvent, type ToolResult, type Usage } from "@holdfast/protocol";
import { createReplayModel, readRecording, type Departure } from "../src/index.ts";
import { collect, errorOf, items, last, requestOf, streamed } from "./loopback.ts";

type ModelItems = EventPayload<"sampling.settled">["items"];
const id = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(26, "0")}`;
const usage: Usage = { inputTokens: 900, cachedInputTokens: 300, outputTokens: 20, reasoningTokens: 5 };

const said = (text: string): Item & { kind: "user_message" } => ({
  kind: "user_message",
  id: "u",
  trust: "user",
  parts: [{ type: "text", text }],
});
const event = <T extends SessionEvent["type"]>(type: T, payload: EventPayload<T>): SessionEvent => ({ type, payload }) as SessionEvent;
const call = (n: number, name: string, input: object): ModelItems[number] => ({
  kind: "tool_call",
  id: `i${n}`,
  callId: id("call", n),
  name,
  input: JSON.stringify(input),
});
const result = (callId: string, text: string, status: ToolResult["status"] = "completed"): ToolResult => ({
  kind: "tool_result",
  id: "r",
  callId,
  status,
  text,
  trust: "tool",
});
const answered = (...given: ModelItems): SessionEvent =>
  event("sampling.settled", {
    samplingId: "s",
    items: given,
    usage,
    cost: 0.5,
    finish: given.some((item) => item.kind === "tool_call") ? "calls" : "stop",
  });
const settled = (n: number, text: string): SessionEvent =>
  event("call.settled", {
    callId: id("call", n),
    outcome: { status: "completed", text, trust: "tool" },
    result: result(id("call", n), text),
    judgement: null,
  });

const created = event("session.created", {
  behaviour: 1,
  roots: [{ id: "root", path: "/home/ann/app" }],
  cwd: "/home/ann/app",
  title: "",
  settings: {
    model: "test/model",
    effort: null,
    sandbox: "off",
    network: "none",
    approvals: "deny",
    isTrusted: false,
    limits: defaultLimits,
    takesBaseline: true,
    acceptCheckChanges: [],
  },
});
const cut = { class: "cut", message: "it broke", status: null, code: null, retryAfterMs: null } as const;

/** A cut answer, a command that yields a task, a look at the task, the end; then a second turn. */
const events: SessionEvent[] = [
  created,
  event("world.observed", {
    sections: [
      { id: "environment", trust: "tool", text: "Date: 2026-01-01" },
      { id: "project", trust: "project", text: "Test in /home/ann/app with npm test." },
    ],
  }),
  event("turn.started", { turnId: "t1", message: said("fix it") }),
  event("sampling.failed", { samplingId: "s", attempt: 1, error: cut, retracted: "I beg", usage: null, retryAt: 1 }),
  answered(
    { kind: "reasoning", id: "i0", text: "Hm.", opaque: { provider: "test", model: "model", payload: { sealed: "x" } } },
    call(1, "run_command", { command: "npm test", cwd: "/home/ann/app/web" }),
  ),
  settled(1, `goes on as ${id("task", 7)} after 1.2 s in /home/ann/app/web`),
  answered(call(2, "read_output", { task: id("task", 7), of: id("call", 1), near: "/home/ann/app2" })),
  settled(2, "3 passed"),
  answered({ kind: "assistant_message", id: "i3", text: "Done." }),
  event("turn.started", { turnId: "t2", message: said("thanks") }),
  answered({ kind: "assistant_message", id: "i4", text: "Gladly." }),
];
const recording = readRecording("ses_1", events);
const instructions = "Be brief.\nDate: 2026-11-29\nTest in /tmp/copy with npm test.";

/** A run in another folder whose own ids begin at 500. */
function run(options: { readonly told?: Departure[]; readonly instructions?: string; readonly from?: readonly SessionEvent[] } = {}) {
  const told = options.told ?? [];
  const open = () =>
    createReplayModel(options.from === undefined ? recording : readRecording("ses_1", options.from), {
      id: "replay:ses_1",
      roots: ["/tmp/copy"],
      onDeparture: (one) => told.push(one),
    });
  let model = open();
  const log: Item[] = [said("fix it")];
  const step = async () => {
    const parts = await collect(model, requestOf([...log], { instructions: options.instructions ?? instructions }));
    const given = items(parts);
    for (const item of given)
      log.push(item.kind === "tool_call" ? { ...item, id: "i", callId: id("call", 500 + log.length) } : { ...item, id: "i" });
    return { parts, given };
  };
  const answer = (text: string, status?: ToolResult["status"]) => {
    const item = log.findLast((one) => one.kind === "tool_call");
    if (item?.kind === "tool_call") log.push(result(item.callId, text, status));
  };
  return { log, told, step, answer, reopen: () => (model = open()), model: () => model };
}

describe("a replay", () => {
  it("plays the recorded answers with their failures, usage, cost and finish, in this run's paths and ids", async () => {
    const { step, answer, log, told, model } = run();
    const first = await step();
    expect(streamed(first.parts, "text.delta")).toEqual(["I beg"]);
    expect(errorOf(first.parts)).toEqual(cut);
    const second = await step();
    expect(second.given).toEqual([
      { kind: "reasoning", text: "Hm.", opaque: { provider: "test", model: "model", payload: { sealed: "x" } } },
      { kind: "tool_call", name: "run_command", input: '{"command":"npm test","cwd":"/tmp/copy/web"}' },
    ]);
    expect(last(second.parts)).toEqual({ type: "finished", finish: "calls", usage, cost: 0.5 });
    const own = log.findLast((item) => item.kind === "tool_call");
    answer(`goes on as ${id("task", 900)} after 12 ms in /tmp/copy/web`);
    const third = await step();
    expect(third.given[0]).toMatchObject({ input: JSON.stringify({ task: id("task", 900), of: own?.callId, near: "/home/ann/app2" }) });
    answer("3 passed");
    expect((await step()).given).toEqual([{ kind: "assistant_message", text: "Done." }]);
    log.push(said("thanks"));
    expect((await step()).given).toEqual([{ kind: "assistant_message", text: "Gladly." }]);
    expect(told).toEqual([]);
    expect(model().played).toBe(5);
  });

  it("ends with class script when the recording is over, and says that it departed before", async () => {
    const { step, answer, log } = run();
    await step();
    await step();
    answer("goes on as nothing");
    for (const text of ["3 passed", "x"]) {
      await step();
      answer(text);
    }
    log.push(said("thanks"), said("more"));
    await step();
    log.push(said("again"));
    const { parts } = await step();
    expect(errorOf(parts)).toMatchObject({ class: "script", code: "past_end" });
    expect(errorOf(parts)?.message).toMatch(
      /ses_1 has 5 steps, and this request is past the last.*departed from it at step 3: a tool result differs/s,
    );
  });

  it.each<[string, (items: Item[]) => void, Departure]>([
    [
      "another prompt",
      (log) => log.splice(0, 1, said("break it")),
      { step: 1, what: 'the person\'s message differs: line 1 was "fix it", now it is "break it"' },
    ],
    [
      "one more notice",
      (log) => log.push({ kind: "notice", id: "n", trust: "system", text: "Hurry." }),
      { step: 1, what: "what the runtime told the model was not there" },
    ],
  ])("tells %s at the first request", async (_, change, departure) => {
    const { step, log, told } = run();
    change(log);
    await step();
    expect(told).toEqual([departure]);
    await step();
    expect(told.filter(({ step: at }) => at === 1)).toEqual([departure]);
  });

  it("tells instructions that differ, but not another day", async () => {
    const { step, told } = run({ instructions: "Be brief.\nTest in /tmp/copy with make." });
    await step();
    expect(told).toEqual([{ step: 1, what: "the instructions (project) differ" }]);
  });

  it("tells a result that differs with the first line that does, once, and plays on", async () => {
    const { step, answer, told } = run();
    await step();
    await step();
    answer(`goes on as ${id("task", 900)} after 12 ms in /tmp/copy/web`);
    await step();
    answer("2 passed\n1 failed");
    expect((await step()).given).toEqual([{ kind: "assistant_message", text: "Done." }]);
    expect(told).toEqual([{ step: 4, what: 'a tool result differs: line 1 was "3 passed", now it is "2 passed"' }]);
  });

  it("tells a call that was refused now and not then", async () => {
    const { step, answer, told } = run();
    await step();
    await step();
    answer("Not allowed.", "denied");
    await step();
    expect(told).toEqual([{ step: 3, what: 'a tool result was completed, now it is denied: "Not allowed."' }]);
  });

  it("goes on in another process where it stood, with the ids of before", async () => {
    const { step, answer, reopen, told } = run();
    await step();
    await step();
    answer(`goes on as ${id("task", 900)} after 3 ms in /tmp/copy/web`);
    reopen();
    expect((await step()).given[0]).toMatchObject({ input: expect.stringContaining(id("task", 900)) });
    expect(told).toEqual([]);
  });

  it("does not go on with what was said after another message, as long as there is none", async () => {
    const { step, answer, log } = run();
    for (const text of ["", "", "3 passed", ""]) {
      await step();
      if (text !== "") answer(text);
      else if (log.at(-1)?.kind === "tool_call") answer("goes on as nothing");
    }
    log.push({ kind: "notice", id: "n", trust: "system", text: "A check failed." });
    expect(errorOf((await step()).parts)).toMatchObject({ class: "script", code: "turn_over" });
  });

  it("stops where the recorded turn was interrupted, and where another model answered in between", async () => {
    const from = [
      created,
      event("turn.started", { turnId: "t", message: said("fix it") }),
      event("sampling.abandoned", { samplingId: "s", retracted: "", usage: null }),
    ];
    expect(errorOf((await run({ from }).step()).parts)).toMatchObject({ class: "script", code: "interrupted" });
    const { step, log } = run();
    log.push({ kind: "assistant_message", id: "x", text: "Mine." });
    expect(errorOf((await step()).parts)).toMatchObject({ class: "script", code: "misplaced" });
  });

  it("of a session without any answer is over at once", async () => {
    expect(errorOf((await run({ from: [created] }).step()).parts)).toMatchObject({ class: "script", code: "past_end" });
  });
});
