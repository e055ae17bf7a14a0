import { describe, expect, test } from "vitest";
import type { Stop } from "../src/index.ts";
import { changeSettings, drive, eraseItem, post, readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { Crash, crashAt, createTestModel, createTestTool, createWorld, newSession, portsOf, runPrompt, say, testCheck } from "./kit.ts";

/** The test's verifier takes the schema for the text that is wanted. */
const wanted = "right";

async function answer(
  texts: readonly string[],
  options: { readonly hasCheck?: boolean; readonly passes?: (round: number) => boolean } = {},
) {
  const model = createTestModel((index) => ({ text: texts[index] ?? "right" }));
  const world = createWorld({ model, check: options.passes ?? (() => true) });
  const ports = portsOf(world);
  const { session, end } = await runPrompt(ports, { outputSchema: wanted }, {}, options.hasCheck === true ? [testCheck] : []);
  await expectLaw(world.log, session);
  const view = await readSession(world, session);
  expectPaired(view.items);
  const judged = view.events.flatMap((event) => (event.type === "output.judged" ? [event.payload.problems.length === 0] : []));
  return { end, judged, view, model, world, ports, session };
}

describe("the final answer under an output schema", () => {
  test("that is valid ends the turn as any other", async () => {
    const { end, judged, model } = await answer(["right"]);
    expect(end).toMatchObject({ standing: "unverified", exitStatus: 0, report: { message: "right" } });
    expect(judged).toEqual([true]);
    expect(model.requests.map(({ output }) => output)).toEqual([{ schema: wanted, isRepair: false }]);
  });

  test("that is not valid is corrected once, told exactly what is wrong", async () => {
    const { end, judged, model } = await answer(["wrong", "right"]);
    expect(end).toMatchObject({ standing: "unverified", report: { message: "right" } });
    expect(judged).toEqual([false, true]);
    const told = model.requests.at(-1);
    expect(told?.output).toEqual({ schema: wanted, isRepair: true });
    expect(told?.items.at(-1)).toMatchObject({
      kind: "notice",
      text: expect.stringContaining('- it is not "right", secret: [redacted secret]'),
    });
  });

  test("that is still not valid fails the turn with a code of its own, and the answer is kept", async () => {
    const { end, judged, view } = await answer(["wrong", "worse"]);
    expect(end).toMatchObject({ standing: "failed", exitStatus: 1, error: { code: "output_invalid" }, report: { message: "worse" } });
    expect(judged).toEqual([false, false]);
    expect(JSON.stringify(view.events)).not.toContain("very-secret-value");
  });

  test("is judged before the checks, and again after a failed round", async () => {
    const { end, judged, view } = await answer(["wrong", "right", "wrong", "right"], { hasCheck: true, passes: (round) => round > 0 });
    expect(end.standing).toBe("verified");
    expect(judged).toEqual([false, true, false, true]);
    const order = view.events.flatMap(({ type }) => (["output.judged", "checks.started"].includes(type) ? [type] : []));
    expect(order).toEqual(["output.judged", "output.judged", "checks.started", "output.judged", "output.judged", "checks.started"]);
  });

  test("holds for the answer alone, not for what is said beside calls", async () => {
    const read = createTestTool({ name: "read" });
    const model = createTestModel((index) =>
      index === 0 ? { text: "let me see", calls: [{ name: "read", input: {} }] } : { text: "right" },
    );
    const ports = portsOf(createWorld({ model, tools: [read] }));
    const { session, end } = await runPrompt(ports, { outputSchema: wanted });
    expect(end.standing).toBe("unverified");
    expect((await readSession(ports, session)).events.filter(({ type }) => type === "output.judged")).toHaveLength(1);
  });

  test("is not asked for any more once the setting is taken back", async () => {
    const { ports, session, model } = await answer(["right", "in words"]);
    await changeSettings(ports, session, { outputSchema: null });
    await post(ports, session, say("and now?"));
    expect(await drive(ports, session, { waiting: "return" })).toMatchObject({ standing: "unverified", report: { message: "in words" } });
    expect(model.requests.at(-1)).not.toHaveProperty("output");
  });

  test("goes, with what was told of it, when the message is erased", async () => {
    const { ports, session, world, view } = await answer(["right"]);
    await eraseItem(ports, session, view.items.find((item) => item.kind === "assistant_message")?.id ?? "");
    await expectLaw(world.log, session);
    const bad = await answer(["wrong", "worse"]);
    for (const item of bad.view.items.filter(({ kind }) => kind !== "user_message")) await eraseItem(bad.ports, bad.session, item.id);
    await expectLaw(bad.world.log, bad.session);
    expect(JSON.stringify(await bad.world.log.read(bad.session, 1))).not.toMatch(/it is not \\"right|worse/);
  });
});

test.each([
  ["before it is judged", "before"],
  ["after it was judged", "after"],
] as const)("text that comes %s leads to another step, whose answer is judged", async (_, when) => {
  const model = createTestModel((index) => ({ text: index === 0 ? "wrong" : "right" }));
  const world = createWorld({ model });
  const ports = portsOf(world);
  const session = await newSession(ports, { outputSchema: wanted });
  await post(ports, session, say("go"));
  let isDone = false;
  const stops = async (stop: Stop) => {
    if (isDone || stop.what !== "effect" || stop.when !== when || !stop.name.startsWith("output:")) return;
    isDone = true;
    await post(ports, session, say("also this"));
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const end = await drive(ports, session, { waiting: "return", stops });
  expect(end).toMatchObject({ standing: "unverified", report: { message: "right" } });
  expect(model.requests.at(-1)?.items.filter(({ kind }) => kind === "user_message")).toHaveLength(2);
  await expectLaw(world.log, session);
});

test("killed at every stop: the answer is corrected once and judged again, nothing is said twice", async () => {
  let isWhole = false;
  for (let n = 1; !isWhole; n += 1) {
    const model = createTestModel((index) => ({ text: index === 0 ? "wrong" : "right" }));
    const world = createWorld({ model });
    const session = await newSession(portsOf(world), { outputSchema: wanted });
    await post(portsOf(world), session, say("go"));
    try {
      await drive(portsOf(world, 1), session, { waiting: "return", stops: crashAt(n) });
      isWhole = true;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      await drive(portsOf(world, 2), session, { waiting: "return" });
    }
    const { events, turns } = await readSession(world, session);
    expect(turns, `stop ${n}`).toMatchObject([{ outcome: "unverified", report: { message: "right" } }]);
    expect(events.filter(({ type }) => type === "output.judged")).toHaveLength(2);
    expect(events.filter(({ type }) => type === "notice.added")).toHaveLength(1);
    await expectLaw(world.log, session);
  }
});
