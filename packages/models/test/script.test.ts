import { describe, expect, it } from "vitest";
import type { Item, ToolResult } from "@holdfast/protocol";
import type { StreamPart } from "@holdfast/runtime";
import { createScriptModel, type ScriptModel, type ScriptStep } from "../src/index.ts";
import { collect, errorOf, hello, items, last, requestOf, streamed } from "./loopback.ts";

/** Plays a session the way a driver does: what an answer proposes is added with ids, and each call gets a result. */
function session(result: Partial<ToolResult> = {}) {
  const log: Item[] = [...hello];
  return {
    log,
    step: async (model: ScriptModel): Promise<StreamPart[]> => {
      const parts = await collect(model, requestOf([...log]));
      const calls: string[] = [];
      for (const item of items(parts)) {
        const id = `i${log.length}`;
        if (item.kind === "tool_call") calls.push(id);
        log.push(item.kind === "tool_call" ? { ...item, id, callId: id } : { ...item, id });
      }
      for (const callId of calls)
        log.push({ kind: "tool_result", id: `r${callId}`, callId, status: "completed", trust: "tool", text: "ok", ...result });
      return parts;
    },
  };
}

const read: ScriptStep = { reasoning: "Hm.", text: "I look.", calls: [{ name: "read_file", input: { path: "a.ts" } }] };

describe("a scripted model", () => {
  it("streams each answer's text whole, in pieces, then its items", async () => {
    const model = createScriptModel([{ ...read, text: "Ein 😀 für 你好", deltas: 5 }]);
    const parts = await collect(model);
    expect(parts[0]).toEqual({ type: "started" });
    expect(streamed(parts, "reasoning.delta")).toEqual(["Hm."]);
    expect(streamed(parts, "text.delta")).toEqual(["Ein 😀 für 你好"]);
    expect(parts.filter((part) => part.type === "text.delta").length).toBe(5);
    expect(streamed(parts, "call.delta")).toEqual(['{"path":"a.ts"}']);
    expect(items(parts)).toEqual([
      { kind: "reasoning", text: "Hm." },
      { kind: "assistant_message", text: "Ein 😀 für 你好" },
      { kind: "tool_call", name: "read_file", input: '{"path":"a.ts"}' },
    ]);
    expect(last(parts)).toMatchObject({ type: "finished", finish: "calls", usage: { estimated: true } });
  });

  it("takes its steps in order, over turns and repeats, in whatever process", async () => {
    const steps: ScriptStep[] = [
      read,
      {
        calls: [
          { name: "a", input: {} },
          { name: "b", input: "no json" },
        ],
        repeat: 2,
      },
      { text: "Done." },
      { text: "Again." },
    ];
    const { log, step } = session();
    const seen: string[] = [];
    for (let i = 0; i < 5; i++) {
      // A model of its own each time: nothing is remembered between them.
      const parts = await step(createScriptModel(steps));
      seen.push(
        items(parts)
          .map((item) => (item.kind === "tool_call" ? item.name : item.text))
          .join("+"),
      );
      if (i === 3) log.push({ kind: "user_message", id: "u2", trust: "user", parts: [{ type: "text", text: "more" }] });
    }
    expect(seen).toEqual(["Hm.+I look.+read_file", "a+b", "a+b", "Done.", "Again."]);
    const end = errorOf(await step(createScriptModel({ name: "demo.yaml", steps })));
    expect(end).toMatchObject({ class: "script", code: "past_end" });
    expect(end.message).toContain("demo.yaml");
  });

  it("takes the next step after one that was steered, noticed or cut short in between", async () => {
    const { log, step } = session();
    const model = createScriptModel([{ text: "Half", isCutShort: true }, read, { text: "Done." }]);
    expect(last(await step(model))).toMatchObject({ finish: "length" });
    log.push({ kind: "notice", id: "n", trust: "system", text: "Go on." });
    await step(model);
    log.push({ kind: "user_message", id: "u", trust: "user", parts: [{ type: "text", text: "hurry" }] });
    expect(items(await step(model))).toEqual([{ kind: "assistant_message", text: "Done." }]);
  });

  it("fails where its step says so, after what it streamed, and then goes on", async () => {
    const fail: ScriptStep = { text: "Half an ans", fail: { class: "cut" } };
    const limited: ScriptStep = { fail: { class: "rate_limited", status: 429, retryAfterMs: 50 }, repeat: 2 };
    const { step } = session();
    const model = createScriptModel([read, fail, limited, { text: "Done." }]);
    await step(model);
    const cut = await step(model);
    expect(streamed(cut, "text.delta")).toEqual(["Half an ans"]);
    expect(items(cut)).toEqual([]);
    expect(errorOf(cut).class).toBe("cut");
    const second = await step(model);
    expect(second).toEqual([
      {
        type: "failed",
        error: { class: "rate_limited", message: "the script fails here, as rate_limited", status: 429, code: null, retryAfterMs: 50 },
      },
    ]);
    expect(errorOf(await step(model)).class).toBe("rate_limited");
    expect(items(await step(model))).toEqual([{ kind: "assistant_message", text: "Done." }]);
  });

  it("plays an empty answer once", async () => {
    const model = createScriptModel([{}, { text: "Here." }]);
    expect(await collect(model, requestOf(hello))).toEqual([
      { type: "started" },
      expect.objectContaining({ type: "finished", finish: "stop" }),
    ]);
    expect(items(await collect(model, requestOf(hello)))).toEqual([{ kind: "assistant_message", text: "Here." }]);
  });

  it("fails with the script's place where an expectation doesn't hold", async () => {
    const steps: ScriptStep[] = [read, { text: "Fine.", expect: { lastResultContains: "export", lastStatus: "completed" } }];
    const model = () => createScriptModel({ name: "demo.yaml", steps, lines: [2, 7] });
    const held = session({ text: "export const a" });
    await held.step(model());
    expect(items(await held.step(model()))).toEqual([{ kind: "assistant_message", text: "Fine." }]);

    for (const [result, word] of [
      [{ text: "nothing here" }, "nothing here"],
      [{ text: "export", status: "denied" as const }, "denied"],
    ] as const) {
      const { step } = session(result);
      await step(model());
      const error = errorOf(await step(model()));
      expect(error).toMatchObject({ class: "script", code: "expectation" });
      expect(error.message).toContain("demo.yaml, step 2 (line 7)");
      expect(error.message).toContain(word);
    }
    expect(errorOf(await collect(createScriptModel([{ text: "x", expect: { lastStatus: "failed" } }]))).message).toContain("none yet");
  });

  it("can be a function of the request and the answer's number", async () => {
    const model = createScriptModel(
      ({ request, index }) =>
        index < 2 ? { calls: [{ name: "t", input: { n: request.items.length } }] } : { text: `done after ${index}` },
      { id: "script/fn" },
    );
    const { step } = session();
    expect(items(await step(model))).toEqual([{ kind: "tool_call", name: "t", input: '{"n":1}' }]);
    await step(model);
    expect(items(await step(model))).toEqual([{ kind: "assistant_message", text: "done after 2" }]);
    expect(model.id).toBe("script/fn");
    const broken = createScriptModel(() => {
      throw new Error("oh no");
    });
    expect(errorOf(await collect(broken))).toMatchObject({ class: "script", code: "function_threw" });
  });

  it("records each request as it was, frozen", async () => {
    const model = createScriptModel([read, { text: "Done." }]);
    const { log, step } = session();
    log[0] = structuredClone(hello[0] as Item);
    await step(model);
    await step(model);
    expect(model.requests.map((request) => request.items.length)).toEqual([1, 5]);
    const first = model.requests[0]?.items[0];
    expect(first).toEqual(hello[0]);
    expect(model.requests[1]?.items[0]).toBe(first);
    log[0] = Object.assign(log[0] as Item, { id: "changed later" });
    expect(first?.id).toBe("i1");
    expect(Object.isFrozen(first) && Object.isFrozen((first as { parts: object[] }).parts[0])).toBe(true);
    expect(Object.isFrozen(log[0])).toBe(false);
  });

  it("waits as long as its step says, and stops waiting at an abort", async () => {
    const slept: number[] = [];
    const clock = { sleep: async (ms: number) => void slept.push(ms) };
    await collect(createScriptModel([{ text: "x", delayMs: 700 }], { clock }));
    expect(slept).toEqual([700]);
    expect(await collect(createScriptModel([{ text: "x", delayMs: 3_000_000 }]), requestOf(), AbortSignal.timeout(20))).toEqual([]);
  });
});
