import type { Op } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { drive, post, readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { createTestModel, createTestTool, createWorld, newSession, portsOf, say } from "./kit.ts";

/** A session that waits with an approval and a question. */
async function waiting() {
  const pay = createTestTool({ name: "pay", replay: "never" });
  const ask = createTestTool({ name: "ask", question: { text: "Which?", choices: ["a", "b"], allowsText: true, isMultiple: false } });
  const calls = ["pay", "ask"].map((name) => ({ name, input: {} }));
  const model = createTestModel((index) => (index < 1 ? { calls } : { text: "done" }));
  const world = createWorld({
    model,
    tools: [pay, ask],
    policy: (tool) => ({
      decision: tool === "pay" ? "review" : "allow",
      rule: { id: "test", source: "builtin" },
      reason: "a test",
      forModel: "a test",
      scope: {},
      provenRead: false,
    }),
  });
  const ports = portsOf(world);
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  const end = await drive(ports, session, { waiting: "return" });
  return { ports, session, pay, end };
}

function ordersOf<T>(things: readonly T[]): T[][] {
  return things.length === 0
    ? [[]]
    : things.flatMap((thing, index) => ordersOf([...things.slice(0, index), ...things.slice(index + 1)]).map((rest) => [thing, ...rest]));
}

test("messages that come in any order, twice under one id or again under another, act once: the first answer counts, text is taken once", async () => {
  const orders = ordersOf(["allow", "deny", "choice", "other choice", "text"]);
  for (const order of orders) {
    const { ports, session, pay, end } = await waiting();
    const approvalId = end.approvals[0]?.id ?? "";
    const questionId = end.questions[0]?.id ?? "";
    const ops: Record<string, Op> = {
      allow: { type: "approval.answer", approvalId, answer: "allow", by: "me", note: "" },
      deny: { type: "approval.answer", approvalId, answer: "deny", by: "me", note: "" },
      choice: { type: "question.answer", questionId, answer: { choices: ["a"], text: "" }, by: "me" },
      "other choice": { type: "question.answer", questionId, answer: { choices: ["b"], text: "" }, by: "me" },
      text: say("and mind this"),
    };
    for (const name of order) {
      const op = ops[name];
      if (op === undefined) continue;
      await post(ports, session, op, `msg_${name}`);
      await post(ports, session, op, `msg_${name}`);
    }
    const rest = await drive(ports, session, { waiting: "return" });
    // Late: what they speak of is settled.
    for (const name of ["deny", "other choice"]) {
      await post(ports, session, ops[name] as Op, `msg_late_${name}`);
      await post(ports, session, ops[name] as Op, `msg_${name}`);
    }
    await drive(ports, session, { waiting: "return" });
    const view = await readSession(ports, session);
    const where = order.join(", ");
    expect(rest.standing, where).toBe("unverified");
    expect(pay.runs, where).toHaveLength(order.indexOf("allow") < order.indexOf("deny") ? 1 : 0);
    const results = view.items.flatMap((item) => (item.kind === "tool_result" ? [item.text] : []));
    expect(results[1], where).toBe(order.indexOf("choice") < order.indexOf("other choice") ? "a" : "b");
    const said = view.items.flatMap((item) => (item.kind === "user_message" ? [JSON.stringify(item.parts)] : []));
    expect(
      said.filter((text) => text.includes("and mind this")),
      where,
    ).toHaveLength(1);
    expect(view.turns, where).toHaveLength(1);
    expect(await ports.log.inbox(session), where).toEqual([]);
    expectPaired(view.items);
    await expectLaw(ports.log, session);
  }
  expect(orders).toHaveLength(120);
});
