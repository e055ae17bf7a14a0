import { HoldfastError } from "@holdfast/protocol";
import { expect, test } from "vitest";
import type { Owner, Stop, Tool } from "../src/index.ts";
import { acceptChecks, drive, post, readSession } from "../src/index.ts";
import { Crash, createTestModel, createTestTool, createWorld, done, newSession, portsOf, runPrompt, say, testCheck } from "./kit.ts";

test("two sessions of one program take turns with the workspace", async () => {
  let running = 0;
  let most = 0;
  const tool = createTestTool({
    name: "build",
    exclusive: true,
    run: async () => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 10));
      running -= 1;
      return done("built");
    },
  });
  const world = createWorld({ model: createTestModel((n) => (n < 2 ? { calls: [{ name: "build", input: { n } }] } : {})), tools: [tool] });
  const ports = portsOf(world);
  await Promise.all([runPrompt(ports), runPrompt(ports)]);
  expect(tool.runs).toHaveLength(4);
  expect(most).toBe(1);
});

test("who waits long for the workspace is told who has it", async () => {
  const holder: Owner = { pid: 5, startTime: "0", bootId: "boot", label: "session x, call y" };
  const world = createWorld({
    model: createTestModel((n) => (n < 1 ? { calls: [{ name: "build", input: {} }] } : {})),
    tools: [createTestTool({ name: "build", exclusive: true })],
  });
  await world.log.lock("workspace:/w", holder, () => true);
  const said: string[] = [];
  const onWait = (message: string): void => {
    said.push(message);
    void world.log.unlock("workspace:/w", holder);
  };
  const { end } = await runPrompt(portsOf(world, 1, new Set([1, 5])), {}, { onWait });
  expect(end.standing).toBe("unverified");
  expect(said).toEqual([expect.stringContaining("session x, call y")]);
});

test("a call with a key whose answer was lost is in doubt, also while it waits for the workspace to ask again", async () => {
  const holder: Owner = { pid: 5, startTime: "0", bootId: "boot", label: "session x, call y" };
  const tool = createTestTool({
    name: "pay",
    exclusive: true,
    replay: "keyed",
    run: async () => {
      throw new Error("connection reset");
    },
  });
  const world = createWorld({ model: createTestModel((n) => (n < 1 ? { calls: [{ name: "pay", input: {} }] } : {})), tools: [tool] });
  const ports = portsOf(world, 1, new Set([1, 5]));
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  const stops = async ({ when, name }: Stop): Promise<void> => {
    if (when === "before" && name === "call.recovered") await world.log.lock("workspace:/w", holder, () => true);
  };
  const onWait = () => void post(ports, session, { type: "interrupt", by: "test" });
  expect((await drive(ports, session, { waiting: "return", stops, onWait })).standing).toBe("interrupted");
  expect(tool.runs).toHaveLength(1);
  expect((await readSession(world, session)).inDoubt).toHaveLength(1);
});

test("a call that may not be repeated is not in doubt while it only waits for the workspace", async () => {
  const holder: Owner = { pid: 5, startTime: "0", bootId: "boot", label: "session x, call y" };
  const tool = createTestTool({ name: "charge", exclusive: true, replay: "never" });
  const world = createWorld({ model: createTestModel((n) => (n < 1 ? { calls: [{ name: "charge", input: {} }] } : {})), tools: [tool] });
  await world.log.lock("workspace:/w", holder, () => true);
  const interrupt = (session: string) => post(portsOf(world), session, { type: "interrupt", by: "test" });
  const interrupted = portsOf(world, 1, new Set([1, 5]));
  const session = await newSession(interrupted);
  await post(interrupted, session, say("go"));
  const end = await drive(interrupted, session, { waiting: "return", onWait: () => void interrupt(session) });
  expect(end.standing).toBe("interrupted");
  const { items, inDoubt } = await readSession(world, session);
  expect(items.find((item) => item.kind === "tool_result")).toMatchObject({
    status: "interrupted",
    text: expect.stringContaining("nothing was done"),
  });
  expect(inDoubt).toEqual([]);

  // The same, killed while it waits: whoever comes next carries it out.
  const killed = portsOf(world, 2, new Set([2, 5]));
  const other = await newSession(killed);
  await post(killed, other, say("go"));
  const death = new AbortController();
  const dead = drive(killed, other, { waiting: "return", signal: death.signal, onWait: () => death.abort() });
  await expect(dead).rejects.toMatchObject({ code: "stale_driver" });
  await world.log.unlock("workspace:/w", holder);
  expect((await drive(portsOf(world, 3), other, { waiting: "return" })).standing).toBe("unverified");
  expect(tool.runs).toHaveLength(1);
  expect((await readSession(world, other)).inDoubt).toEqual([]);
});

test("what is handed over stays held by the process that carries the effect on, when the driver dies", async () => {
  const wrapper: Owner = { pid: 77, startTime: "0", bootId: "boot", label: "wrapper" };
  const alive = new Set([1, 2, 77]);
  const tool = createTestTool({
    name: "build",
    exclusive: true,
    run: async (_, __, context) => {
      await context.handOver(wrapper);
      throw Object.assign(new Error("killed"), { code: "claim_lost", [Symbol.for("holdfast.error")]: true });
    },
  });
  const world = createWorld({ model: createTestModel(() => ({ calls: [{ name: "build", input: {} }] })), tools: [tool] });
  const held: (number | undefined)[] = [];
  const log = {
    ...world.log,
    unlock: async (name: string, owner: Owner) => {
      if (name.startsWith("workspace:")) held.push((await world.log.holder(name))?.pid);
      await world.log.unlock(name, owner);
    },
  };
  await expect(runPrompt({ ...portsOf(world, 1, alive), log })).rejects.toThrow("killed");
  expect(held[0]).toBe(77);
});

test("a command that outlived its driver gives the workspace back when it yields, and only then", async () => {
  const wrapper: Owner = { pid: 77, startTime: "0", bootId: "boot", label: "wrapper" };
  const alive = new Set([1, 2, 77]);
  const holders: (number | undefined)[] = [];
  const look = async (): Promise<void> => void holders.push((await world.log.holder("workspace:/w"))?.pid);
  const serve = createTestTool({
    name: "serve",
    exclusive: true,
    replay: "probe",
    probe: async () => ({ type: "running" }),
    run: async (_, signal, context) => {
      await context.handOver(wrapper);
      detach.abort();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw signal.reason;
    },
  });
  const attach: Tool["attach"] = async (_, context) => {
    await context.handOver(wrapper);
    await look();
    return done("serves");
  };
  const other = createTestTool({ name: "other", exclusive: true });
  const model = createTestModel((n) => (n < 2 ? { calls: [{ name: n < 1 ? "serve" : "other", input: {} }] } : {}));
  const world = createWorld({ model, tools: [{ ...serve, attach }, other] });
  const session = await newSession(portsOf(world, 1, alive));
  await post(portsOf(world, 1, alive), session, say("go"));
  const detach = new AbortController();
  await expect(drive(portsOf(world, 1, alive), session, { waiting: "return", signal: detach.signal })).rejects.toThrow("detached");
  await look();
  const end = await drive(portsOf(world, 2, alive), session, { waiting: "return" });
  expect(end.standing).toBe("unverified");
  expect(other.runs).toHaveLength(1);
  expect(holders).toEqual([77, 77]);
});

test("checks that a later check of the round has made stale are run once more, and only once", async () => {
  const second = { ...testCheck, id: "chk_2", name: "second" };
  const world = createWorld({ model: createTestModel(() => ({})) });
  const base = portsOf(world);
  const asked: string[] = [];
  const verifier = {
    ...base.verifier,
    stale: () => ["chk_1"],
    check: (...args: Parameters<typeof base.verifier.check>) => {
      asked.push(`${args[0].id} ${args[2].runId.endsWith(".again")}`);
      return base.verifier.check(...args);
    },
  };
  const ports = { ...base, verifier };
  const session = await newSession(ports, {}, [testCheck, second]);
  await post(ports, session, say("go"));
  await drive(ports, session, { waiting: "return" });
  expect(asked).toEqual(["chk_1 false", "chk_2 false", "chk_1 true"]);
  expect((await readSession(world, session)).turns[0]?.outcome).toBe("verified");
});

test("checks that are added later get the baseline there is", async () => {
  const world = createWorld({ model: createTestModel(() => ({})) });
  const base = portsOf(world);
  const earlier: boolean[] = [];
  const verifier = {
    ...base.verifier,
    baseline: (...args: Parameters<typeof base.verifier.baseline>) => {
      earlier.push(args[2].earlier !== null);
      return base.verifier.baseline(...args);
    },
  };
  const ports = { ...base, verifier };
  const session = await newSession(ports, {}, [testCheck]);
  await post(ports, session, say("go"));
  await drive(ports, session, { waiting: "return" });
  await acceptChecks(ports, session, [testCheck, { ...testCheck, id: "chk_2" }]);
  await post(ports, session, say("more"));
  expect((await drive(ports, session, { waiting: "return" })).standing).toBe("verified");
  expect(earlier).toEqual([false, true]);
});

test("a baseline that ended with an interrupted turn is taken under another number in the next", async () => {
  const world = createWorld({ model: createTestModel(() => ({})) });
  const base = portsOf(world);
  const runs: string[] = [];
  const verifier = {
    ...base.verifier,
    baseline: async (...args: Parameters<typeof base.verifier.baseline>) => {
      const [, , { runId }, signal] = args;
      if (runs.includes(runId)) throw new HoldfastError("claim_lost", `the run ${runId} was started before`);
      runs.push(runId);
      if (runs.length > 1) return base.verifier.baseline(...args);
      await post(ports, session, { type: "interrupt", by: "test" });
      return new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    },
  };
  const ports = { ...base, verifier };
  const session = await newSession(ports, {}, [testCheck]);
  await post(ports, session, say("go"));
  expect((await drive(ports, session, { waiting: "return" })).standing).toBe("interrupted");
  await post(ports, session, say("go on"));
  expect((await drive(ports, session, { waiting: "return" })).standing).toBe("verified");
  expect(runs).toEqual(["baseline.1", "baseline.2"]);
});

test("the first checks of a session can come with the resuming of an open turn", async () => {
  const tool = createTestTool({ name: "act", replay: "probe", probe: async () => ({ type: "not_happened" }), changesWorkspace: true });
  const world = createWorld({ model: createTestModel((n) => (n < 2 ? { calls: [{ name: "act", input: { n } }] } : {})), tools: [tool] });
  const session = await newSession(portsOf(world, 1));
  await post(portsOf(world, 1), session, say("go"));
  const stops = async ({ when, name }: Stop): Promise<void> => {
    if (when === "before" && name.startsWith("call:")) throw new Crash("killed");
  };
  await expect(drive(portsOf(world, 1), session, { waiting: "return", stops })).rejects.toThrow("killed");
  await acceptChecks(portsOf(world, 2), session, [testCheck]);
  expect((await drive(portsOf(world, 2), session, { waiting: "return" })).standing).toBe("verified");
  expect(tool.runs).toHaveLength(2);
});

test("a check that nobody requires has its baseline too, and holds nothing up", async () => {
  const tool = createTestTool({ name: "act", changesWorkspace: true });
  const world = createWorld({ model: createTestModel((n) => (n < 1 ? { calls: [{ name: "act", input: {} }] } : {})), tools: [tool] });
  const { end } = await runPrompt(portsOf(world), {}, {}, [{ ...testCheck, isRequired: false }]);
  expect(end.standing).toBe("unverified");
  expect(tool.runs).toHaveLength(1);
});
