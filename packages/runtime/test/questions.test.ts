import type { Asking, Op } from "@holdfast/protocol";
import { defaultLimits } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import type { DriveEnd, Stop } from "../src/index.ts";
import { answerQuestion, drive, post, readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, Crash, crashAt, createTestModel, createTestTool, createWorld, done, newSession, portsOf, say } from "./kit.ts";

const week = 7 * 24 * 3600 * 1000;
const which: Asking = { text: "Which database?", choices: ["Postgres", "SQLite"], allowsText: true, isMultiple: false };
const answerTo = (end: DriveEnd, choices: readonly string[], text = "", position = 0): Op => ({
  type: "question.answer",
  questionId: end.questions[position]?.id ?? "",
  answer: { choices: [...choices], text },
  by: "me",
});

/** A turn that asks, beside a call that doesn't wait. */
async function ask(question: Partial<Asking> = {}, at?: (stop: Stop, act: (op: Op) => Promise<void>) => Promise<void>) {
  const asking = createTestTool({ name: "ask", question: { ...which, ...question } });
  const work = createTestTool({ name: "work", replay: "never" });
  const model = createTestModel((index) =>
    index < 1
      ? {
          calls: [
            { name: "ask", input: {} },
            { name: "work", input: {} },
          ],
        }
      : { text: "built" },
  );
  const world = createWorld({ model, tools: [asking, work] });
  const ports = portsOf(world);
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  const stops = (stop: Stop) => at?.(stop, (op) => post(ports, session, op)) ?? Promise.resolve();
  const end = await drive(ports, session, { waiting: "return", stops });
  const goOn = async (...ops: Op[]): Promise<DriveEnd> => {
    for (const op of ops) await post(ports, session, op);
    const rest = await drive(ports, session, { waiting: "return" });
    await expectLaw(world.log, session);
    if (rest.standing !== "waiting") expectPaired((await readSession(world, session)).items);
    return rest;
  };
  const result = async () => (await readSession(world, session)).items.find((item) => item.kind === "tool_result");
  return { end, goOn, result, world, ports, session, model, work, asking };
}

test("a question waits beside calls that go on; its answer is the call's result, in the person's words and with their trust", async () => {
  const { end, goOn, result, work, asking, world, session } = await ask();
  expect(end).toMatchObject({ standing: "waiting", exitStatus: 4, approvals: [] });
  expect(end.questions).toMatchObject([{ ...which, id: expect.stringMatching(/^qst_/), deadline: expect.any(Number) }]);
  expect(work.runs).toHaveLength(1);
  expect((await readSession(world, session)).openQuestions).toEqual(end.questions);
  expect((await world.log.load(session))?.row).toMatchObject({ status: "waiting", wakeAt: end.questions[0]?.deadline });

  expect((await goOn(answerTo(end, ["SQLite"], "  but keep it small very-secret-value "))).standing).toBe("unverified");
  expect(await result()).toMatchObject({ status: "completed", trust: "user", text: "SQLite\nbut keep it small [redacted secret]" });
  expect(asking.runs).toEqual([]);
  expect((await readSession(world, session)).openQuestions).toEqual([]);
  expect(JSON.stringify((await readSession(world, session)).events)).not.toContain("very-secret-value");
});

test("waiting costs no active time", async () => {
  const { end, goOn, world } = await ask();
  world.clock.advance(week - 1000);
  expect((await goOn(answerTo(end, ["SQLite"]))).standing).toBe("unverified");
});

describe("an answer that doesn't fit changes nothing, and one that fits still counts:", () => {
  test.each<[string, Partial<Asking>, readonly string[], string]>([
    ["nothing", {}, [], "  "],
    ["no choice of the question", {}, ["Oracle"], ""],
    ["two where one is asked for", {}, ["Postgres", "SQLite"], ""],
    ["the same twice", { isMultiple: true }, ["SQLite", "SQLite"], ""],
    ["free text where only choices count", { allowsText: false }, ["SQLite"], "or not"],
  ])("%s", async (_, question, choices, text) => {
    const { end, goOn } = await ask(question);
    const still = await goOn(answerTo(end, choices, text));
    expect(still.standing).toBe("waiting");
    expect((await goOn(answerTo(still, ["SQLite"]))).standing).toBe("unverified");
  });

  test("several choices where several may be taken", async () => {
    const { end, goOn, result } = await ask({ isMultiple: true });
    await goOn(answerTo(end, ["SQLite", "Postgres"]));
    expect(await result()).toMatchObject({ text: "SQLite\nPostgres" });
  });
});

describe("races", () => {
  const interrupt: Op = { type: "interrupt", by: "me" };

  test("of two answers the first counts", async () => {
    const { end, goOn, result, world, session } = await ask();
    await goOn(answerTo(end, ["Postgres"]), answerTo(end, ["SQLite"]));
    expect(await result()).toMatchObject({ text: "Postgres" });
    expect((await readSession(world, session)).events.filter((event) => event.type === "question.answered")).toHaveLength(1);
    expect((await goOn(answerTo(end, ["SQLite"]))).standing).toBe("idle");
  });

  test("the answer before the interrupt: it is kept, the turn ends", async () => {
    const { end, goOn, result } = await ask();
    expect((await goOn(answerTo(end, ["Postgres"]), interrupt)).standing).toBe("interrupted");
    expect(await result()).toMatchObject({ status: "completed", text: "Postgres" });
  });

  test("the interrupt before the answer: the call is settled as interrupted, the answer is too late", async () => {
    const { end, goOn, result, world, session } = await ask();
    expect((await goOn(interrupt, answerTo(end, ["Postgres"]))).standing).toBe("interrupted");
    expect(await result()).toMatchObject({ status: "interrupted", text: "The turn was interrupted before anyone answered." });
    expect((await goOn(answerTo(end, ["Postgres"]))).standing).toBe("idle");
    expect((await readSession(world, session)).openQuestions).toEqual([]);
  });

  test("an interrupt while the question is being committed ends the turn, and nobody is asked on", async () => {
    let isDone = false;
    const { end, world, session } = await ask({}, async (stop, act) => {
      if (isDone || stop.when !== "before" || !stop.name.includes("question.asked")) return;
      isDone = true;
      await act(interrupt);
    });
    expect(end.standing).toBe("interrupted");
    expect((await readSession(world, session)).openQuestions).toEqual([]);
  });

  test.each([
    ["just before its deadline: it counts", week - 1, "completed"],
    ["at its deadline: the question has expired, as if it was refused", week, "denied"],
  ])("an answer %s", async (_, after, status) => {
    const { end, goOn, result, world } = await ask();
    world.clock.advance((end.questions[0]?.deadline ?? 0) - week + after - world.clock.now());
    expect((await goOn(answerTo(end, ["Postgres"]))).standing).toBe("unverified");
    expect(await result()).toMatchObject({ status });
  });

  test("a text typed meanwhile is no answer: it is taken in after it", async () => {
    const { end, goOn, model } = await ask();
    expect((await goOn(say("and hurry"))).standing).toBe("waiting");
    await goOn(answerTo(end, ["Postgres"]));
    expect(model.requests.at(-1)?.items.slice(-2)).toMatchObject([{ kind: "tool_result" }, { kind: "user_message" }]);
  });
});

test("two questions of one answer wait side by side and are answered in any order", async () => {
  const model = createTestModel((index) => (index < 1 ? { calls: [1, 2].map((input) => ({ name: "ask", input })) } : {}));
  const world = createWorld({ model, tools: [createTestTool({ name: "ask", question: which })] });
  const ports = portsOf(world);
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  const both = await drive(ports, session, { waiting: "return" });
  await post(ports, session, answerTo(both, ["SQLite"], "", 1));
  const one = await drive(ports, session, { waiting: "return" });
  expect(one.questions.map(({ id }) => id)).toEqual([both.questions[0]?.id]);
  await post(ports, session, answerTo(one, ["Postgres"]));
  await drive(ports, session, { waiting: "return" });
  const results = model.requests.at(-1)?.items.flatMap((item) => (item.kind === "tool_result" ? [item.text] : []));
  expect(results).toEqual(["Postgres", "SQLite"]);
});

test("a question that policy reviews is asked once it was allowed", async () => {
  const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "ask", input: {} }] } : {}));
  const policy = () => ({ ...allow, decision: "review" as const });
  const world = createWorld({ model, tools: [createTestTool({ name: "ask", question: which })], policy });
  const ports = portsOf(world);
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  const reviewed = await drive(ports, session, { waiting: "return" });
  expect([reviewed.approvals.length, reviewed.questions.length]).toEqual([1, 0]);
  await post(ports, session, { type: "approval.answer", approvalId: reviewed.approvals[0]?.id ?? "", answer: "allow", by: "me", note: "" });
  world.clock.advance(1000);
  const asked = await drive(ports, session, { waiting: "return" });
  expect([asked.approvals.length, asked.questions.length]).toEqual([0, 1]);
  // The approval's own deadline has no meaning any more.
  world.clock.advance((reviewed.approvals[0]?.deadline ?? 0) - world.clock.now());
  expect((await drive(ports, session, { waiting: "return" })).questions).toHaveLength(1);
  await post(ports, session, answerTo(asked, ["SQLite"]));
  expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
  await expectLaw(world.log, session);
});

test("killed at every stop while it asks and waits: the question is asked once, its answer is not lost", async () => {
  let isWhole = false;
  for (let n = 1; !isWhole; n += 1) {
    const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "ask", input: {} }] } : { text: "built" }));
    const world = createWorld({ model, tools: [createTestTool({ name: "ask", question: which })] });
    const session = await newSession(portsOf(world));
    await post(portsOf(world), session, say("go"));
    const stops = crashAt(n);
    const survive = async (pid: number): Promise<DriveEnd> => {
      try {
        return await drive(portsOf(world, pid), session, { waiting: "return", stops });
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        await expectLaw(world.log, session);
        return drive(portsOf(world, pid + 1), session, { waiting: "return" });
      }
    };
    const first = await survive(1);
    const asked = first.standing === "waiting" ? first : await drive(portsOf(world, 3), session, { waiting: "return" });
    expect(asked.questions, `stop ${n}`).toHaveLength(1);
    await post(portsOf(world), session, answerTo(asked, ["SQLite"]));
    let end: DriveEnd | null = null;
    try {
      end = await drive(portsOf(world, 4), session, { waiting: "return", stops });
      isWhole = true;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      end = await drive(portsOf(world, 5), session, { waiting: "return" });
      isWhole = false;
    }
    expect(["unverified", "idle"], `stop ${n}`).toContain(end.standing);
    const { events, turns } = await readSession(world, session);
    expect(events.filter((event) => event.type === "question.asked")).toHaveLength(1);
    expect(events.filter((event) => event.type === "question.answered")).toHaveLength(1);
    expect(turns.map((turn) => turn.outcome)).toEqual(["unverified"]);
    await expectLaw(world.log, session);
  }
});

describe("a plan", () => {
  const steps = [
    { text: "look", status: "completed" },
    { text: "build", status: "pending" },
  ] as const;
  const plan = createTestTool({ name: "plan", run: async () => done("Shown.", { steps: [...steps] }) });

  test("is kept, survives a new driver, and is told as what remains when the turn is stopped", async () => {
    const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "plan", input: {} }] } : { text: "half" }));
    const world = createWorld({ model, tools: [plan] });
    const ports = portsOf(world);
    const session = await newSession(ports);
    await post(ports, session, say("go"));
    expect((await drive(ports, session, { waiting: "return" })).report?.plan).toBeUndefined();
    await expectLaw(world.log, session);
    expect((await readSession(world, session)).plan).toEqual(steps);

    await post(ports, session, say("go on"));
    let isDone = false;
    const stops = async (stop: Stop) => {
      if (isDone || !stop.name.startsWith("sample:")) return;
      isDone = true;
      await post(ports, session, { type: "interrupt", by: "me" });
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const end = await drive(portsOf(world, 2), session, { waiting: "return", stops });
    expect(end).toMatchObject({ standing: "interrupted", report: { plan: steps } });
    await expectLaw(world.log, session);
  });

  test("that is done is not told as what remains", async () => {
    const all = createTestTool({ name: "plan", run: async () => done("Shown.", { steps: [{ text: "look", status: "completed" }] }) });
    const model = createTestModel(() => ({ calls: [{ name: "plan", input: {} }] }));
    const world = createWorld({ model, tools: [all] });
    const ports = portsOf(world);
    const session = await newSession(ports, { limits: { ...defaultLimits, stepsPerTurn: 1 } });
    await post(ports, session, say("go"));
    const end = await drive(ports, session, { waiting: "return" });
    expect(end.standing).toBe("exhausted");
    expect(end.report?.plan).toBeUndefined();
  });
});

test("of answers given at once one counts, and the others are told, also while the session takes it in", async () => {
  const { end, goOn, result, ports, session } = await ask();
  const questionId = end.questions[0]?.id ?? "";
  const give = (text: string) => answerQuestion(ports, session, { questionId, answer: { choices: [], text }, by: text });
  const words = ["a", "b", "c"];
  const given = await Promise.allSettled(words.map(give));
  const taken = words.filter((_, at) => given[at]?.status === "fulfilled");
  expect(taken).toHaveLength(1);
  for (const one of given) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "question_closed" });
  const [late] = await Promise.allSettled([give("late"), goOn()]);
  expect(late).toMatchObject({ status: "rejected", reason: { code: "question_closed" } });
  expect(await result()).toMatchObject({ status: "completed", text: taken[0] });
  await expect(give("later")).rejects.toMatchObject({ code: "question_closed" });
  await expect(answerQuestion(ports, session, { questionId: "qst_x", answer: { choices: [], text: "x" }, by: "me" })).rejects.toMatchObject(
    {
      code: "question_not_found",
    },
  );
});

test("an answer that a question doesn't take is refused, and stands in no other's way", async () => {
  const { end, goOn, result, ports, session } = await ask();
  const questionId = end.questions[0]?.id ?? "";
  const give = (choices: string[]) => answerQuestion(ports, session, { questionId, answer: { choices, text: "" }, by: "me" });
  await expect(give(["Oracle"])).rejects.toMatchObject({ code: "usage" });
  await post(ports, session, answerTo(end, ["Oracle"]));
  await give(["SQLite"]);
  await goOn();
  expect(await result()).toMatchObject({ text: "SQLite" });
});
