import { describe, expect, test } from "vitest";
import type { CallOutcome, SessionEvent } from "@holdfast/protocol";
import { expectLaw } from "./invariants.ts";
import { createTestModel, createTestTool, createWorld, done, portsOf, runPrompt, testCheck } from "./kit.ts";

/** The events of a turn in which one command ran, and what the session knows of its installs. */
async function turnWith(command: string, outcome: Partial<CallOutcome>, before: Partial<CallOutcome> | null = null) {
  const other = createTestTool({ name: "other", run: async () => done("ran", before ?? {}) });
  const run = createTestTool({
    name: "run",
    exclusive: true,
    changesWorkspace: true,
    command,
    run: async () => done("ran", outcome),
  });
  const calls = [...(before === null ? [] : ["other"]), "run"];
  const model = createTestModel((n) => {
    const name = calls[n];
    return name === undefined ? {} : { calls: [{ name, input: {} }] };
  });
  const world = createWorld({ model, tools: [run, other] });
  const types: string[] = [];
  const { session } = await runPrompt(portsOf(world), {}, { onEvent: (event) => types.push(event.type) }, [testCheck]);
  await expectLaw(world.log, session);
  return types;
}

describe("an install", () => {
  test("that ended well is recorded with its settlement", async () => {
    const types = await turnWith("npm ci", { exitCode: 0 });
    expect(types[types.indexOf("call.settled") + 1]).toBe("run.recorded");
  });

  const task = { id: "t1", callId: "c1", kind: "command" as const, title: "npm ci", ref: "t1" };
  test("that runs on is recorded when its end is seen, unless something ran meanwhile", async () => {
    const turn = async (...names: string[]) => {
      const run = createTestTool({
        name: "run",
        exclusive: true,
        changesWorkspace: true,
        command: "npm ci",
        run: async () => done("on", { task }),
      });
      const read = createTestTool({ name: "read", run: async () => done("ended", { endedTask: "t1", exitCode: 0 }) });
      const edit = createTestTool({ name: "edit", changesWorkspace: true, run: async () => done("edited") });
      const other = createTestTool({
        name: "other",
        exclusive: true,
        changesWorkspace: true,
        command: "make",
        run: async () => done("made"),
      });
      const model = createTestModel((n) => (names[n] === undefined ? {} : { calls: [{ name: names[n], input: {} }] }));
      const world = createWorld({ model, tools: [run, read, edit, other] });
      const seen: SessionEvent[] = [];
      const { session } = await runPrompt(portsOf(world), {}, { onEvent: (event) => seen.push(event) }, [testCheck]);
      await expectLaw(world.log, session);
      const first = seen.find((event) => event.type === "call.decided");
      const recorded = seen.find((event) => event.type === "run.recorded");
      return recorded?.type === "run.recorded" && first?.type === "call.decided" && recorded.payload.callId === first.payload.callId;
    };
    expect(await turn("run", "read")).toBe(true);
    expect(await turn("run", "edit", "read")).toBe(false);
    expect(await turn("run", "other", "read")).toBe(false);
    expect(await turn("run", "read", "read")).toBe(true);
  });

  test.each([
    ["that failed", "npm ci", { exitCode: 1 }, null],
    ["that runs on", "npm ci", { task }, null],
    ["beside a command that runs on", "npm ci", { exitCode: 0 }, { task }],
    ["that is none", "npm ci && true", { exitCode: 0 }, null],
  ] as const)("%s is not recorded", async (_, command, outcome, before) => {
    expect(await turnWith(command, outcome, before)).not.toContain("run.recorded");
  });
});
