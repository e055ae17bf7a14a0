import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench();
});
afterEach(() => at.close());
const plan = (name: string, input: Parameters<Workbench["call"]>[1]) => at.tool(name).plan(input, at.context);

describe("ask_user", () => {
  test("puts a question with or without choices; free text is allowed unless it is said otherwise", async () => {
    expect(await plan("ask_user", { question: " Why? " })).toMatchObject({
      question: { text: "Why?", choices: [], allowsText: true, isMultiple: false },
      workspace: "none",
      changesWorkspace: false,
    });
    expect(await plan("ask_user", { question: "Which?", choices: '["a ", "b"]', multiple: "true", free_text: false })).toMatchObject({
      question: { choices: ["a", "b"], allowsText: false, isMultiple: true },
    });
    // Nothing could be answered else.
    expect(await plan("ask_user", { question: "Why?", free_text: false })).toMatchObject({ question: { allowsText: true } });
  });

  test.each([
    [{ question: "  " }, "question: empty"],
    [{ question: "x".repeat(4001) }, "more than 4000 characters"],
    [{ question: "?", choices: Array.from({ length: 21 }, (_, n) => `c${n}`) }, "more than 20"],
    [{ question: "?", choices: ["a", "x".repeat(401)] }, "1 to 400 characters"],
    [{ question: "?", choices: ["a", ""] }, "1 to 400 characters"],
    [{ question: "?", choices: ["a", "a "] }, "two are the same"],
    [{ question: "?", multiple: true }, "there are no choices"],
    [{}, "question"],
  ])("of %j is refused, and nobody is asked", async (input, why) => {
    expect(await plan("ask_user", input)).toMatchObject({ type: "refused", text: expect.stringContaining(why) });
  });
});

describe("update_plan", () => {
  const step = { step: " look ", status: "completed" };

  test("brings the whole plan back", async () => {
    const outcome = await at.call("update_plan", { plan: [step, { step: "build", status: "pending" }] });
    expect(outcome).toMatchObject({
      status: "completed",
      steps: [
        { text: "look", status: "completed" },
        { text: "build", status: "pending" },
      ],
    });
    expect(await at.call("update_plan", { plan: [] })).toMatchObject({ status: "completed", steps: [] });
  });

  test.each([
    [[{ step: "x", status: "done" }], "status"],
    [[{ step: " ", status: "pending" }], "1 to 500 characters"],
    [[{ step: "x".repeat(501), status: "pending" }], "1 to 500 characters"],
    [Array.from({ length: 51 }, () => step), "more than 50 steps"],
  ])("of %j is refused, and the plan stays", async (steps, why) => {
    expect(await plan("update_plan", { plan: steps })).toMatchObject({ type: "refused", text: expect.stringContaining(why) });
  });
});
