import type { Approval, Json, Op } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { answerApproval, drive, eraseItem, grantedSource, post, readSession, type PolicyDecision, type Ports } from "../src/index.ts";
import { expectLaw } from "./invariants.ts";
import { allow, createTestModel, createTestTool, createWorld, newSession, portsOf, runPrompt, say, type World } from "./kit.ts";

const review: PolicyDecision = {
  ...allow,
  decision: "review",
  reason: "it reaches out",
  forModel: "ask first",
  scope: { network: ["example.org"] },
};

/** Sends what each step says; `offers` come with each review, and a granted one allows what has its word. */
function sending(steps: readonly (readonly Json[])[], { command, files }: { command?: string; files?: Map<string, string> } = {}) {
  const tool = createTestTool({ name: "send", replay: "never", ...(command === undefined ? {} : { command }) });
  const model = createTestModel((n) => ({ calls: (steps[n] ?? []).map((input) => ({ name: "send", input })) }));
  const world = createWorld({
    model,
    tools: [tool],
    policy: (_, { plan, granted = [] }) => {
      const word = String((plan.input as { to: string }).to).split("/")[0] ?? "";
      if (granted.includes(word)) return { ...allow, rule: { id: "allowed-1", source: grantedSource }, scope: review.scope };
      return { ...review, offers: [{ rule: word, text: `[[rule]]\nto = "${word}"\n` }] };
    },
  });
  const kept: string[] = [];
  const ports = (pid = 1): Ports => ({
    ...portsOf(world, pid),
    rules: {
      keep: async ({ text }) => {
        if (text.includes("unkept")) throw new Error("the disk is full");
        kept.push(text);
        return "rules.toml";
      },
    },
    files: {
      identify: async (path: string) => ({ kind: files?.has(path) === true ? "file" : "missing", root: "w", real: path }),
      read: async (path: string) => ({ digest: files?.get(path) }),
    } as unknown as Ports["files"],
  });
  return { tool, world, ports, kept };
}

const answering = (approval: Approval | undefined, more: Partial<Extract<Op, { type: "approval.answer" }>> = {}) => ({
  approvalId: approval?.id ?? "",
  answer: "allow" as const,
  by: "me",
  note: "",
  ...more,
});

async function refusals(world: World, session: string): Promise<string[]> {
  const { events } = await readSession(world, session);
  await expectLaw(world.log, session);
  return events.flatMap((event) => (event.type === "approval.refused" ? [event.payload.code] : []));
}

describe("what is asked", () => {
  test("identical reviews of one step are one question, and its answer is for all of them", async () => {
    for (const answer of ["allow", "deny"] as const) {
      const same = { to: "a" };
      const { tool, world, ports } = sending([[same, { to: "b" }, same, same]]);
      const { session, end } = await runPrompt(ports());
      expect(end.approvals.map(({ shown, also }) => [shown, also?.length ?? 0])).toEqual([
        ['send {"to":"a"}', 2],
        ['send {"to":"b"}', 0],
      ]);
      await answerApproval(ports(), session, answering(end.approvals[0], { answer }));
      await answerApproval(ports(), session, answering(end.approvals[1], { answer: "deny" }));
      await drive(ports(), session, { waiting: "return" });
      expect(tool.runs.map(({ plan, scope }) => [plan.input, scope])).toEqual(
        answer === "allow" ? [same, same, same].map((input) => [input, review.scope]) : [],
      );
      expect(await refusals(world, session)).toEqual([]);
    }
  });

  test("identical reviews of which nobody answered in time are refused together", async () => {
    const same = { to: "a" };
    const { tool, world, ports } = sending([[same, same]]);
    const { session } = await runPrompt(ports(), { approvalMs: 60_000 });
    world.clock.advance(60_000);
    expect((await drive(ports(), session, { waiting: "return" })).standing).toBe("unverified");
    expect(tool.runs).toEqual([]);
    await expectLaw(world.log, session);
  });
});

describe("what holds for longer than one call", () => {
  test("approval scope escalation (Y18): an answer for once is for that call, whoever gives it, and the next one is asked again", async () => {
    for (const by of ["a terminal", "an editor", "another process"]) {
      const { tool, world, ports, kept } = sending([[{ to: "a/1" }], [{ to: "a/1" }], [{ to: "a/2" }]]);
      const { session, end } = await runPrompt(ports());
      let waiting = end.approvals;
      for (const wanted of ['send {"to":"a/1"}', 'send {"to":"a/1"}', 'send {"to":"a/2"}']) {
        expect(
          waiting.map(({ shown }) => shown),
          by,
        ).toEqual([wanted]);
        await answerApproval(ports(), session, answering(waiting[0], { by }));
        waiting = (await drive(ports(), session, { waiting: "return" })).approvals;
      }
      expect(tool.runs).toHaveLength(3);
      expect(kept).toEqual([]);
      await expectLaw(world.log, session);
    }
  });

  test("of answers given at once one counts, and the others are told", async () => {
    const { tool, ports } = sending([[{ to: "a/1" }]]);
    const { session, end } = await runPrompt(ports());
    const answers = ["deny", "allow", "deny"] as const;
    const given = await Promise.allSettled(
      answers.map((answer) => answerApproval(ports(), session, answering(end.approvals[0], { answer }))),
    );
    const taken = answers.filter((_, at) => given[at]?.status === "fulfilled");
    expect(taken).toHaveLength(1);
    for (const one of given) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "approval_closed" });
    await drive(ports(), session, { waiting: "return" });
    expect(tool.runs).toHaveLength(taken[0] === "allow" ? 1 : 0);
  });

  test("a rule for the session allows what it covers, in later steps and turns, with the scope shown; nothing else, no other session, no fork", async () => {
    const { tool, world, ports, kept } = sending([[{ to: "a/1" }], [{ to: "a/2" }, { to: "b/1" }], [], [{ to: "a/3" }]]);
    const { session, end } = await runPrompt(ports());
    expect(end.approvals[0]?.offers).toEqual([{ id: "1", rule: "a", text: '[[rule]]\nto = "a"\n' }]);
    await answerApproval(ports(), session, answering(end.approvals[0], { grant: { for: "session", offer: "1" } }));
    const later = await drive(ports(2), session, { waiting: "return" });
    expect(later.approvals.map(({ shown }) => shown)).toEqual(['send {"to":"b/1"}']);
    await answerApproval(ports(), session, answering(later.approvals[0], { answer: "deny" }));
    await drive(ports(), session, { waiting: "return" });
    await post(ports(), session, say("more"));
    await drive(ports(3), session, { waiting: "return" });
    expect(tool.runs.map(({ plan }) => plan.input)).toEqual([{ to: "a/1" }, { to: "a/2" }, { to: "a/3" }]);
    expect(tool.runs.every(({ scope }) => JSON.stringify(scope) === JSON.stringify(review.scope))).toBe(true);
    expect(kept).toEqual([]);
    expect((await runPrompt(ports())).end.standing).toBe("waiting");
    await expectLaw(world.log, session);
  });

  test("what waits beside it and is covered is let go with it", async () => {
    const { tool, world, ports } = sending([[{ to: "a/1" }, { to: "a/2" }, { to: "b/1" }]]);
    const { session, end } = await runPrompt(ports());
    expect(end.approvals).toHaveLength(3);
    await answerApproval(ports(), session, answering(end.approvals[0], { grant: { for: "session", offer: "1" } }));
    const after = await drive(ports(), session, { waiting: "return" });
    expect(after.approvals.map(({ shown }) => shown)).toEqual(['send {"to":"b/1"}']);
    expect(tool.runs).toHaveLength(2);
    await expectLaw(world.log, session);
  });

  test("a stored rule is kept as the text that was shown; where it can't be, the answer doesn't count and says why", async () => {
    const { tool, world, ports, kept } = sending([[{ to: "a" }, { to: "unkept" }]]);
    const { session, end } = await runPrompt(ports());
    for (const approval of end.approvals)
      await answerApproval(ports(), session, answering(approval, { grant: { for: "rule", offer: "1" } }));
    const after = await drive(ports(), session, { waiting: "return" });
    expect(kept).toEqual(['[[rule]]\nto = "a"\n']);
    expect(after.standing).toBe("waiting");
    expect(tool.runs.map(({ plan }) => plan.input)).toEqual([{ to: "a" }]);
    expect(await refusals(world, session)).toEqual(["approval_not_offered"]);
  });

  test("a rule for the session holds while the files that its call executed stay as they were", async () => {
    const files = new Map([["/w/./deploy.sh", "v1"]]);
    const { tool, ports } = sending([[{ to: "a/1" }], [{ to: "a/2" }], [{ to: "a/3" }]], { command: "./deploy.sh", files });
    const { session, end } = await runPrompt(ports());
    await answerApproval(ports(), session, answering(end.approvals[0], { grant: { for: "session", offer: "1" } }));
    let runs = 0;
    const after = await drive(ports(), session, {
      waiting: "return",
      onEvent: (event) => {
        if (event.type === "call.settled" && (runs += 1) === 2) files.set("/w/./deploy.sh", "v2");
      },
    });
    expect(tool.runs.map(({ plan }) => plan.input)).toEqual([{ to: "a/1" }, { to: "a/2" }]);
    expect(after.approvals).toHaveLength(1);
  });
});

test("an erased call takes its approval, the rule that was granted for it, and all of its words along", async () => {
  const same = { to: "plugh/1" };
  const { world, ports } = sending([[same, same], [{ to: "plugh/2" }], []]);
  const { session, end } = await runPrompt(ports());
  await answerApproval(ports(), session, answering(end.approvals[0], { note: "yes, plugh", grant: { for: "session", offer: "1" } }));
  await drive(ports(), session, { waiting: "return" });
  const { items } = await readSession(world, session);
  for (const item of items) if (item.kind === "tool_call" || item.kind === "tool_result") await eraseItem(ports(), session, item.id);
  const { row, ...state } = (await world.log.load(session))!;
  const stored = (await world.log.read(session, 1)).map(({ payload }) => payload);
  expect(row.session).toBe(session);
  expect(JSON.stringify([state, stored])).not.toContain("plugh");
  await expectLaw(world.log, session);
});

describe("deadlines", () => {
  test("the deadline and what comes then are the session's settings; a passed one can let the call go", async () => {
    const { tool, world, ports } = sending([[{ to: "a" }]]);
    const { session, end } = await runPrompt(ports(), { approvalMs: 90_000, approvalAtDeadline: "allow" });
    expect(end.approvals[0]).toMatchObject({ deadline: world.clock.now() + 90_000, atDeadline: "allow" });
    expect((await world.log.list({ status: "waiting" }))[0]?.wakeAt).toBe(end.approvals[0]?.deadline);
    world.clock.advance(90_000);
    expect((await drive(ports(), session, { waiting: "return" })).standing).toBe("unverified");
    expect(tool.runs).toHaveLength(1);
    await expectLaw(world.log, session);
  });

  test("it is let go also where the deadline passes in the very moment that it is looked at", async () => {
    for (let before = 1; before <= 16; before += 1) {
      const { tool, world, ports } = sending([[{ to: "a" }]]);
      const { session } = await runPrompt(ports(), { approvalMs: 90_000, approvalAtDeadline: "allow" });
      world.clock.advance(90_000 - before);
      const ticking = { ...world.clock, now: () => (world.clock.advance(1), world.clock.now()) };
      for (let standing = "waiting"; standing === "waiting";)
        ({ standing } = await drive({ ...ports(), clock: ticking }, session, { waiting: "return" }));
      expect(tool.runs, `${before} ms before`).toHaveLength(1);
    }
  });

  test("it isn't let go where the files that it executes have changed", async () => {
    const files = new Map([["/w/./deploy.sh", "v1"]]);
    const { tool, world, ports } = sending([[{ to: "a" }]], { command: "./deploy.sh", files });
    const { session } = await runPrompt(ports(), { approvalMs: 90_000, approvalAtDeadline: "allow" });
    files.set("/w/./deploy.sh", "v2");
    world.clock.advance(90_000);
    await drive(ports(), session, { waiting: "return" });
    expect(tool.runs).toEqual([]);
    await expectLaw(world.log, session);
  });
});

describe("an answer that doesn't count is refused with its reason", () => {
  const code = (approval: Promise<unknown>) =>
    approval.then(
      () => "taken",
      (error: { code?: string }) => error.code,
    );

  test("before it is posted: of nobody, of another session, answered, late, changed, not offered", async () => {
    const { world, ports } = sending([[{ to: "a" }, { to: "b" }]]);
    const { session, end } = await runPrompt(ports());
    const other = await newSession(ports());
    const [first, second] = end.approvals;
    const of = (approval: Approval | undefined, more: object = {}, at = session) =>
      code(answerApproval(ports(), at, answering(approval, more)));
    expect(await of(undefined)).toBe("approval_not_found");
    expect(await of(first, {}, other)).toBe("approval_elsewhere");
    expect(await of(first, { digest: "another" })).toBe("approval_changed");
    expect(await of(first, { grant: { for: "session", offer: "9" } })).toBe("approval_not_offered");
    expect(await of(first, { answer: "deny", grant: { for: "session", offer: "1" } })).toBe("approval_not_offered");
    expect(await of(first)).toBe("taken");
    expect(await of(first)).toBe("approval_closed");
    await drive(ports(), session, { waiting: "return" });
    expect(await of(first)).toBe("approval_closed");
    world.clock.advance(8 * 24 * 3600 * 1000);
    expect(await of(second)).toBe("approval_expired");
    await drive(ports(), session, { waiting: "return" });
    expect(await of(second)).toBe("approval_expired");
  });

  test("by the driver, where it came in between, and the event says why", async () => {
    const files = new Map([["/w/./deploy.sh", "v1"]]);
    const { tool, world, ports } = sending([[{ to: "a" }]], { command: "./deploy.sh", files });
    const { session, end } = await runPrompt(ports());
    const [approval] = end.approvals;
    const send = (more: object) => post(ports(), session, { type: "approval.answer", ...answering(approval, more) });
    await send({ approvalId: "apr_nobody" });
    await send({ digest: "another" });
    await send({ grant: { for: "session", offer: "2" } });
    expect((await drive(ports(), session, { waiting: "return" })).approvals).toEqual([approval]);
    files.set("/w/./deploy.sh", "v2");
    await send({});
    const again = await drive(ports(), session, { waiting: "return" });
    expect(again.approvals[0]?.reason).toContain("asked again");
    const { events } = await readSession(world, session);
    expect(events.flatMap(({ type, payload }) => (type === "approval.expired" ? [payload.why] : []))).toEqual(["asked_again"]);
    expect(tool.runs).toEqual([]);
    await send({});
    await answerApproval(ports(), session, answering(again.approvals[0]));
    await post(ports(), session, { type: "approval.answer", ...answering(again.approvals[0], { answer: "deny", by: "late" }) });
    await drive(ports(), session, { waiting: "return" });
    expect(tool.runs).toHaveLength(1);
    expect(await refusals(world, session)).toEqual([
      "approval_not_found",
      "approval_changed",
      "approval_not_offered",
      "approval_changed",
      "approval_expired",
      "approval_closed",
    ]);
  });
});
