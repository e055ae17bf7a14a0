import type { CallOutcome, CallPlan, Judgement } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { adviceOf, climbed, noLadder, type Ladder } from "../src/kernel/ladder.ts";
import { readSession } from "../src/index.ts";
import { expectLaw } from "./invariants.ts";
import { createTestModel, createTestTool, createWorld, portsOf, runPrompt } from "./kit.ts";

const plan = (input: string, replay: CallPlan["replay"] = "probe"): CallPlan => ({
  input,
  summary: input,
  reads: [],
  writes: [],
  workspace: "exclusive",
  replay,
  changesWorkspace: true,
});
const outcome = (status: CallOutcome["status"]): CallOutcome => ({ status, text: status, trust: "tool" });
const judged = (verdict: Judgement["verdict"], cause?: Judgement["cause"]): Judgement => ({
  verdict,
  expected: "",
  observed: "",
  ...(cause === undefined ? {} : { cause }),
});
type Step = readonly [input: string, falls: boolean, more?: { readonly replay?: CallPlan["replay"]; readonly judgement?: Judgement }];
const climb = (steps: readonly Step[]): Ladder =>
  steps.reduce<Ladder>(
    (ladder, [input, falls, { replay, judgement = null } = {}]) =>
      climbed(ladder, "call_1", "run_command", plan(input, replay), outcome(falls ? "failed" : "completed"), judgement),
    noLadder,
  );
const here = { canAsk: true, isEffectful: true };

describe("the recovery ladder", () => {
  test("a first failure is the model's own affair, but for one that may be tried again", () => {
    expect(climb([["make", true]]).rung).toBeNull();
    const environment = judged("unmet", "environment");
    expect(climb([["get", false, { replay: "safe", judgement: environment }]]).rung).toBe("retry");
    expect(climb([["post", false, { replay: "never", judgement: environment }]]).rung).toBeNull();
    expect(climb([["get", false, { replay: "safe", judgement: judged("unmet", "wrong_belief") }]]).rung).toBeNull();
  });

  test("the same failing action is named, and needs another way", () => {
    const ladder = climb([
      ["make all", true],
      ["ls", false, { replay: "safe" }],
      ["make all", true],
    ]);
    expect(adviceOf(ladder, here)).toMatchObject({
      rung: "another_way",
      falls: 2,
      text: expect.stringContaining("The same action fell short 2 times: run_command make all."),
    });
  });

  test("each rung is told once, and comes only after those before it", () => {
    const told: (string | undefined)[] = [];
    let ladder = noLadder;
    for (let n = 1; n <= 8; n += 1) {
      ladder = climbed(ladder, "call_1", "run_command", plan(`try ${n}`), outcome("failed"), null);
      const advice = adviceOf(ladder, here);
      told.push(advice?.rung);
      if (advice !== null) ladder = { ...ladder, told: advice.rung };
    }
    expect(told).toEqual([undefined, undefined, "another_way", "roll_back", undefined, "ask", "stop", undefined]);
  });

  test("what shows that it works ends the climb, and what says nothing does not", () => {
    const falls: Step[] = [
      ["a", true],
      ["b", true],
      ["c", true],
    ];
    expect(climb([...falls, ["d", false, { judgement: judged("met") }]]).rung).toBeNull();
    expect(climb([...falls, ["c", false]]).rung).toBeNull();
    expect(climb([...falls, ["d", false, { judgement: { ...judged("met"), isTrivial: true } }]]).rung).toBe("another_way");
    expect(climb([...falls, ["edit", false]]).rung).toBe("another_way");
  });

  test("nobody to ask: the model isn't told to", () => {
    const ladder = climb(["a", "b", "c", "d", "e", "f"].map((one): Step => [one, true]));
    expect(adviceOf(ladder, { canAsk: false, isEffectful: false })?.text).toContain("Nobody is here to be asked");
    expect(adviceOf(ladder, here)?.text).toContain("ask_user");
  });
});

test("in a session the rungs are told at the next step, recorded, and derived from the log alone", async () => {
  const tool = createTestTool({ name: "commit", replay: "probe", run: async () => outcome("failed") });
  const model = createTestModel((n) => (n < 5 ? { calls: [{ name: "commit", input: { n } }] } : { text: "done" }));
  const world = createWorld({ model, tools: [tool] });
  const { session } = await runPrompt(portsOf(world));
  const { events } = await readSession(world, session);
  await expectLaw(world.log, session);
  expect(events.flatMap((event) => (event.type === "recovery.advised" ? [event.payload.rung] : []))).toEqual(["another_way", "roll_back"]);
  const notices = events.flatMap((event) => (event.type === "notice.added" ? [event.payload.notice.text] : []));
  expect(notices.join("\n")).toContain("another way");
});
