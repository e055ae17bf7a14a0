import type { Recall, RecallEvent } from "@holdfast/runtime";
import { drive, post } from "@holdfast/runtime";
import { expect, test } from "vitest";
import { expectLaw } from "./invariants.ts";
import { createTestModel, createWorld, newSession, portsOf, runPrompt, say, testCheck } from "./kit.ts";

const context = { kind: "documents", source: "docs/a.md:1-4", reason: "a check failed" } as const;

async function failing(recall: Recall, isTrusted = true) {
  const model = createTestModel(() => ({}));
  const world = createWorld({ model, check: () => false });
  const { session, end } = await runPrompt({ ...portsOf(world), recall }, { isTrusted }, {}, [testCheck]);
  await expectLaw(world.log, session);
  const notices = model.requests.at(-1)?.items.filter((item) => item.kind === "notice") ?? [];
  return { end, requests: model.requests.length, notices };
}

test("what is recalled at a failing check follows its notice, piece by piece, with source and reason, and without secrets", async () => {
  const events: RecallEvent[] = [];
  const { notices } = await failing({
    on: async (event) => {
      events.push(event);
      return events.length > 1
        ? []
        : [
            { text: "it says very-secret-value", trust: "tool", context },
            { text: "and this", trust: "tool", context },
          ];
    },
  });
  expect(events[0]).toEqual({ type: "check_failed", text: "the check failed" });
  expect(notices.map(({ trust, text, context: own }) => [trust, text.includes("very-secret-value"), own?.source])).toEqual([
    ["tool", false, undefined],
    ["tool", false, "docs/a.md:1-4"],
    ["tool", false, "docs/a.md:1-4"],
    ["tool", false, undefined],
    ["tool", false, undefined],
  ]);
});

test("in a project without trust it is untrusted, and what doesn't show is shown", async () => {
  const { notices } = await failing({ on: async () => [{ text: "a\u200bb", trust: "tool", context }] }, false);
  expect(notices[1]).toMatchObject({ trust: "untrusted", text: "a<U+200B>b", context });
});

test("a search that fails ends no turn, and nothing is recalled before a sampling as such", async () => {
  const { end, requests } = await failing({ on: () => Promise.reject(new Error("the index is gone")) });
  expect([end.standing, requests]).toEqual(["refuted", 4]);
  let asked = 0;
  const model = createTestModel(() => ({ text: "done" }));
  await runPrompt({ ...portsOf(createWorld({ model })), recall: { on: async () => ((asked += 1), []) } });
  expect([model.requests.length, asked]).toEqual([1, 0]);
});

test("a search that never ends holds no turn that is interrupted", async () => {
  const model = createTestModel(() => ({}));
  const world = createWorld({ model, check: () => false });
  const asked: string[] = [];
  const recall: Recall = {
    on: (_, signal) => {
      void post(ports, session, { type: "interrupt", by: "me" });
      signal.addEventListener("abort", () => asked.push("aborted"));
      return new Promise(() => {});
    },
  };
  const ports = { ...portsOf(world), recall };
  const session = await newSession(ports, {}, [testCheck]);
  await post(ports, session, say("do it"));
  expect((await drive(ports, session, { waiting: "return" })).standing).toBe("interrupted");
  expect(asked).toEqual(["aborted"]);
});
