import { describe, expect, test } from "vitest";
import type { Stop } from "../src/index.ts";
import { drive, post, readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, createTestModel, createTestTool, createWorld, done, newSession, portsOf, say, testCheck } from "./kit.ts";

/** Does something the first time a stop is reached, before the driver goes on: this is how both orders of a race are played. */
function at(match: (stop: Stop) => boolean, act: () => Promise<void>): (stop: Stop) => Promise<void> {
  let isDone = false;
  return async (stop) => {
    if (isDone || !match(stop)) return;
    isDone = true;
    await act();
  };
}

const commitOf = (when: Stop["when"], type: string) => (stop: Stop) =>
  stop.what === "commit" && stop.when === when && stop.name.includes(type);
const effectOf = (when: Stop["when"], prefix: string) => (stop: Stop) =>
  stop.what === "effect" && stop.when === when && stop.name.startsWith(prefix);
const interrupt = { type: "interrupt", by: "test" } as const;

async function play(match: (stop: Stop) => boolean, setUp: { approvals?: boolean; check?: boolean; act: "interrupt" | "steer" }) {
  const tool = createTestTool({
    name: "act",
    replay: "never",
    changesWorkspace: true,
    exclusive: true,
    run: async (_, signal) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return signal.aborted ? { status: "interrupted", text: "stopped", trust: "tool" } : done("acted");
    },
  });
  const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "act", input: {} }] } : {}));
  const review = { ...allow, decision: "review" as const };
  const world = createWorld({ model, tools: [tool], policy: () => (setUp.approvals === true ? review : allow), check: () => true });
  const ports = portsOf(world);
  const session = await newSession(ports, {}, setUp.check === true ? [testCheck] : []);
  await post(ports, session, say("go"));
  const act = async (): Promise<void> => {
    await post(ports, session, setUp.act === "interrupt" ? interrupt : say("also this"));
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const end = await drive(ports, session, { waiting: "return", stops: at(match, act) });
  await expectLaw(world.log, session);
  const view = await readSession(world, session);
  if (end.standing !== "waiting") expectPaired(view.items);
  for (const request of model.requests) expectPaired(request.items);
  return { end, view, world, ports, session, model, tool };
}

describe("interrupt against", () => {
  test.each([
    ["the sampling's intent, before its commit", commitOf("before", "sampling.intended")],
    ["the sampling, before it starts", effectOf("before", "sample:")],
    ["the sampling's answer, after it came", effectOf("after", "sample:")],
    ["the sampling's settlement, before its commit", commitOf("before", "sampling.settled")],
    ["the call, before it starts", effectOf("before", "call:")],
    ["the call's result, after it came", effectOf("after", "call:")],
    ["the call's settlement, before its commit", commitOf("before", "call.settled")],
    ["the call's settlement, after its commit", commitOf("after", "call.settled")],
  ])("%s: the turn ends interrupted and the log can go on", async (_, match) => {
    const { end, session, ports, model } = await play(match, { act: "interrupt" });
    expect(end).toMatchObject({ standing: "interrupted", exitStatus: 130 });
    await post(ports, session, say("hi"));
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
    for (const request of model.requests) expectPaired(request.items);
  });

  test.each([
    ["a running check", effectOf("before", "check:")],
    ["a judgement", effectOf("before", "judge:")],
  ])("%s: interrupted, not verified", async (_, match) => {
    expect((await play(match, { act: "interrupt", check: true })).end.standing).toBe("interrupted");
  });

  test("the end of the turn, after its commit: the outcome stands and the interrupt touches no later turn", async () => {
    const { end, session, ports } = await play(commitOf("after", "turn.ended"), { act: "interrupt" });
    expect(end.standing).toBe("unverified");
    await post(ports, session, say("hi"));
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
  });

  test("text that was typed before it: the interrupted turn ends, and the text starts the next one when the session is driven again", async () => {
    const world = createWorld({ model: createTestModel(() => ({})) });
    const ports = portsOf(world);
    const session = await newSession(ports);
    await post(ports, session, say("go"));
    const both = async () => {
      await post(ports, session, say("and this"));
      await post(ports, session, interrupt);
    };
    expect((await drive(ports, session, { waiting: "return", stops: at(effectOf("before", "sample:"), both) })).standing).toBe(
      "interrupted",
    );
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
    expect((await readSession(ports, session)).turns.map((turn) => turn.goal)).toEqual(["go", "and this"]);
  });

  test("an open approval: the call is not run, a later answer changes nothing", async () => {
    const { end, session, ports, tool } = await play(commitOf("after", "approval.requested"), { act: "interrupt", approvals: true });
    expect(end.standing).toBe("interrupted");
    const view = await readSession(ports, session);
    expect(view.openApprovals).toEqual([]);
    const requested = view.events.find((event) => event.type === "approval.requested");
    const approvalId = requested?.type === "approval.requested" ? requested.payload.approval.id : "";
    await post(ports, session, { type: "approval.answer", approvalId, answer: "allow", by: "late", note: "" });
    await drive(ports, session, { waiting: "return" });
    expect(tool.runs).toEqual([]);
  });
});

describe("steering against", () => {
  test.each([
    ["the first sampling", effectOf("before", "sample:")],
    ["the call", effectOf("after", "call:")],
    ["the settlement that ends the step", commitOf("before", "call.settled")],
  ])("%s: it is in the next request", async (_, match) => {
    const { model } = await play(match, { act: "steer" });
    const texts = model.requests.at(-1)?.items.filter((item) => item.kind === "user_message").length;
    expect(texts).toBe(2);
  });

  test("the final answer while checks run: the turn goes on and the checks are run anew", async () => {
    const { end, view } = await play(effectOf("before", "check:"), { act: "steer", check: true });
    expect(end.standing).toBe("verified");
    expect(view.turns).toHaveLength(1);
    expect(view.events.filter((event) => event.type === "checks.started").length).toBe(2);
  });

  test.each([
    ["the judgement of the checks", "judge:", true],
    ["the end after a judgement", "end:", true],
    ["the end without checks", "end:", false],
  ])("%s, after it came: it counts for nothing, the turn goes on", async (_, prefix, check) => {
    const { end, view, model } = await play(effectOf("after", prefix), { act: "steer", check });
    expect(end.standing).toBe(check ? "verified" : "unverified");
    expect(view.turns).toHaveLength(1);
    expect(model.requests.at(-1)?.items.filter((item) => item.kind === "user_message")).toHaveLength(2);
    expect(view.items.at(-1)?.kind).toBe("assistant_message");
    expect(view.events.filter((event) => event.type === "round.judged")).toHaveLength(check ? (prefix === "end:" ? 2 : 1) : 0);
  });

  test("a check that takes its time to stop: the next one waits for it and is another run", async () => {
    const world = createWorld({ model: createTestModel(() => ({})) });
    const base = portsOf(world);
    const runs: string[] = [];
    let running = 0;
    const verifier: typeof base.verifier = {
      ...base.verifier,
      check: async (...args) => {
        expect((running += 1)).toBe(1);
        runs.push(args[2].runId);
        if (runs.length === 1) {
          await post(base, session, say("also this"));
          await new Promise((resolve) => args[3].addEventListener("abort", resolve));
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        running -= 1;
        return base.verifier.check(...args);
      },
    };
    const ports = { ...base, verifier };
    const session = await newSession(ports, {}, [testCheck]);
    await post(ports, session, say("go"));
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("verified");
    expect(new Set(runs).size).toBe(2);
    const evidence = (await readSession(world, session)).events.filter((event) => event.type === "check.completed");
    expect(evidence).toHaveLength(1);
  });

  test("the end of the turn: it starts the next one and is not lost", async () => {
    const { view } = await play(commitOf("after", "turn.ended"), { act: "steer" });
    expect(view.turns.map((turn) => turn.outcome)).toEqual(["unverified", "unverified"]);
  });
});

describe("answers", () => {
  test("an answer and its deadline: whichever is committed first stands", async () => {
    for (const late of [false, true]) {
      const { end, session, ports, world, tool } = await play(() => false, { act: "steer", approvals: true });
      if (late) world.clock.advance(8 * 24 * 3600 * 1000);
      await post(ports, session, {
        type: "approval.answer",
        approvalId: end.approvals[0]?.id ?? "",
        answer: "allow",
        by: "test",
        note: "",
      });
      await drive(ports, session, { waiting: "return" });
      expect(tool.runs.length).toBe(late ? 0 : 1);
    }
  });

  test("an answer to another digest than the one shown is not taken", async () => {
    const { end, session, ports, tool } = await play(() => false, { act: "steer", approvals: true });
    await post(ports, session, {
      type: "approval.answer",
      approvalId: end.approvals[0]?.id ?? "",
      answer: "allow",
      by: "x",
      note: "",
      digest: "other",
    });
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("waiting");
    expect(tool.runs).toEqual([]);
  });
});
