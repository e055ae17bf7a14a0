import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Log, Ports } from "../src/index.ts";
import { drive, eraseItem, findChainFault, forkSession, post, readSession } from "../src/index.ts";
import { allWords, expectWhole, found, idsOf, makeSession, memoryStore, names, sqliteStore, words } from "./erasing.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, Crash, createTestModel, createTestTool, createWorld, newSession, portsOf, runPrompt, say } from "./kit.ts";

async function goOn(ports: Ports, session: string, text: string): Promise<void> {
  await post(ports, session, say(text));
  expect((await drive(ports, session, { waiting: "return" })).standing).toMatch(/^(un)?verified$/);
}

describe.each([
  ["memory", memoryStore],
  ["SQLite", sqliteStore],
] as const)("a fork, in %s", (_, open) => {
  test("has the history up to its beginning, and each goes its own way from there", async () => {
    const store = open();
    const { ports, session, requests } = await makeSession(store);
    const before = await readSession(ports, session);
    const { session: fork, seq } = await forkSession(ports, session);
    expect(seq).toBe(before.row.seq);
    await expectWhole(ports, fork);
    const begun = await readSession(ports, fork);
    expect(begun.items).toEqual(before.items);
    expect(begun.row).toMatchObject({ parent: session, parentSeq: seq, title: before.row.title, status: "idle" });
    expect(begun.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
    expect(begun.turns).toEqual(before.turns);

    await goOn(ports, fork, "fork-words");
    const sent = requests.at(-1) as { items: readonly unknown[] };
    expect(sent.items.slice(0, before.items.length)).toEqual(before.items);
    await goOn(ports, session, "parent-words");
    expect(JSON.stringify(requests.at(-1))).not.toContain("fork-words");
    expect(JSON.stringify((await readSession(ports, fork)).items)).not.toContain("parent-words");
    for (const one of [session, fork]) await expectWhole(ports, one);
  });

  test("shares the stored events, and a fork of a fork shares them with the first", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    const events = await ports.log.read(session, 1);
    const { session: fork } = await forkSession(ports, session);
    await goOn(ports, fork, "further");
    const { session: second, seq } = await forkSession(ports, fork, { at: Math.floor(events.length / 2), title: "half" });
    expect(await ports.log.read(second, 1, seq)).toEqual(events.slice(0, seq));
    // The session that wrote the event it begins after.
    expect((await readSession(ports, second)).row).toMatchObject({ parent: session, parentSeq: seq, title: "half" });
    const { session: third } = await forkSession(ports, fork);
    expect((await readSession(ports, third)).row).toMatchObject({ parent: fork });
    for (const one of [second, third]) {
      await goOn(ports, one, "on");
      await expectWhole(ports, one);
    }
  });

  test("can begin at every event: after the last step that had ended, and never amid calls", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    const { row, items } = await readSession(ports, session);
    for (let at = 1; at <= row.seq; at += 1) {
      const { session: fork, seq } = await forkSession(ports, session, { at });
      expect(seq).toBeLessThanOrEqual(at);
      await expectWhole(ports, fork);
      const view = await readSession(ports, fork);
      expect(view.items).toEqual(items.slice(0, view.items.length));
      expectPaired(view.items);
      expect(view.openApprovals).toEqual([]);
      if (at % 7 === 0) await goOn(ports, fork, "on");
    }
  });

  test("outlives the session it was made of, which keeps nothing for it but what they share", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    const { session: fork } = await forkSession(ports, session);
    const { session: other } = await forkSession(ports, session, { at: 6 });
    const items = (await readSession(ports, fork)).items;
    await goOn(ports, session, "parent-words");
    expect(await ports.log.delete(session)).toEqual([]);
    await expect(readSession(ports, session)).rejects.toMatchObject({ code: "session_not_found" });
    expect((await ports.log.list({})).map((row) => row.session)).not.toContain(session);
    expect((await readSession(ports, fork)).items).toEqual(items);
    expect(await store.contents()).not.toContain("parent-words");
    await expectWhole(ports, fork);
    await goOn(ports, fork, "on");

    expect(await ports.log.delete(fork)).toEqual([fork]);
    expect(found(await store.contents().then((text) => text.replaceAll("before-words", "").replaceAll("after-words", "")))).not.toContain(
      "last-words",
    );
    await expectWhole(ports, other);
    expect(await ports.log.delete(other)).toEqual([other, session]);
    expect(await ports.log.referencedBlobs()).toEqual(new Set());
  });

  test.each(names)("and its parent share the erasure of the %s, whoever it is erased in", async (name) => {
    for (const inFork of [true, false]) {
      const store = open();
      const { ports, session } = await makeSession(store);
      const ids = await idsOf(ports, session);
      const { session: fork } = await forkSession(ports, session);
      const { session: second } = await forkSession(ports, fork);
      await goOn(ports, fork, "on");
      await eraseItem(ports, inFork ? fork : session, ids[name]);
      const gone: readonly string[] = words[name];
      expect(found(await store.contents())).toEqual(allWords.filter((word) => !gone.includes(word)));
      for (const one of [session, fork, second]) {
        await expectWhole(ports, one);
        expect(JSON.stringify((await readSession(ports, one)).items.find(({ id }) => id === ids[name]))).toContain("[erased]");
        await goOn(ports, one, "on");
      }
      const { seq } = (await readSession(ports, second)).row;
      await eraseItem(ports, second, ids[name]);
      expect((await readSession(ports, second)).row.seq).toBe(seq);
    }
  });

  test("made of a session with erasures begins with them, also before they were recorded", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    const ids = await idsOf(ports, session);
    const { seq: early } = (await readSession(ports, session)).row;
    await eraseItem(ports, session, ids.edit);
    await eraseItem(ports, session, ids.prompt);
    const forks = [
      await forkSession(ports, session, { at: early }),
      await forkSession(ports, session),
      await forkSession(ports, session, { at: 9 }),
    ];
    expect(await ports.log.delete(session)).toEqual([]);
    for (const { session: fork } of forks) {
      await expectWhole(ports, fork);
      const hasThought = (await readSession(ports, fork)).items.some(({ id }) => id === ids.thought);
      if (hasThought) await eraseItem(ports, fork, ids.thought);
      await expectWhole(ports, fork);
    }
    const left = found(await store.contents());
    for (const name of ["edit", "prompt", "thought"] as const) for (const word of words[name]) expect(left).not.toContain(word);
    for (const { session: fork } of forks) await goOn(ports, fork, "on");
  });

  test("keeps an erasure waiting while it is in a turn; until then the content is shown nowhere in the other session", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    const { thought } = await idsOf(ports, session);
    const { session: fork } = await forkSession(ports, session);
    await post(ports, fork, say("on"));
    const crash = async (): Promise<never> => Promise.reject(new Crash());
    const stops = async ({ name, when }: { name: string; when: string }): Promise<void> =>
      name.startsWith("sample:") && when === "before" ? crash() : undefined;
    await expect(drive(ports, fork, { waiting: "return", stops })).rejects.toThrow(Crash);

    await expect(eraseItem(ports, session, thought)).rejects.toMatchObject({
      code: "session_busy",
      message: expect.stringContaining(fork),
    });
    expect(JSON.stringify((await readSession(ports, session)).events)).not.toContain("first-words");
    expect(JSON.stringify((await readSession(ports, fork)).events)).toContain("first-words");
    await goOn(ports, session, "the session itself goes on");
    expect((await drive(ports, fork, { waiting: "return" })).standing).toBe("verified");
    await eraseItem(ports, session, thought);
    expect(found(await store.contents())).not.toContain("first-words");
    for (const one of [session, fork]) await expectWhole(ports, one);
  });

  test("is finished by whoever opens one of them next where the erasing process dies on the way", async () => {
    for (let dieAt = 1; ; dieAt += 1) {
      const store = open();
      const { ports, session } = await makeSession(store);
      const { prompt } = await idsOf(ports, session);
      const { session: fork } = await forkSession(ports, session);
      let calls = 0;
      const dying =
        <A extends unknown[], R>(act: (...given: A) => Promise<R>) =>
        async (...given: A): Promise<R> => {
          calls += 1;
          if (calls === dieAt) throw new Crash();
          return act(...given);
        };
      const log: Log = { ...ports.log, commit: dying(ports.log.commit.bind(ports.log)), erase: dying(ports.log.erase.bind(ports.log)) };
      const isDone = await eraseItem({ ...ports, log }, session, prompt).then(
        () => true,
        () => false,
      );
      for (const one of [fork, session]) {
        await expectWhole(ports, one);
        await drive(ports, one, { waiting: "return" });
      }
      for (const one of [fork, session]) await expectWhole(ports, one);
      if (dieAt > 1) {
        await drive(ports, fork, { waiting: "return" });
        expect(found(await store.contents())).not.toContain("prompt-words");
      }
      if (isDone) {
        expect(dieAt).toBeGreaterThan(4);
        break;
      }
    }
  });
});

test("a session that is being driven can be forked", async () => {
  const tool = createTestTool({ name: "look" });
  let forks: Promise<unknown>[] = [];
  const model = createTestModel((index) => (index < 8 ? { calls: [{ name: "look", input: index }] } : {}));
  const ports = portsOf(createWorld({ model, tools: [tool] }));
  const session = await newSession(ports);
  await post(ports, session, say("do it"));
  await drive(ports, session, {
    waiting: "return",
    onEvent: (event) => {
      if (event.type === "call.settled") forks = [...forks, forkSession(ports, session)];
    },
  });
  expect(forks).toHaveLength(8);
  for (const fork of (await Promise.all(forks)) as { session: string }[]) {
    await expectLaw(ports.log, fork.session);
    expectPaired((await readSession(ports, fork.session)).items);
  }
});

test("an approval, a running command and a call in flight stay with the session that has them", async () => {
  const tool = createTestTool({ name: "send", replay: "never" });
  const model = createTestModel((_, { items }) => (items.length === 1 ? { calls: [{ name: "send", input: "x" }] } : {}));
  const ports = portsOf(createWorld({ model, tools: [tool], policy: () => ({ ...allow, decision: "review" }) }));
  const { session, end } = await runPrompt(ports);
  expect(end.standing).toBe("waiting");
  const { session: fork } = await forkSession(ports, session);
  const view = await readSession(ports, fork);
  expect(view.openApprovals).toEqual([]);
  expect(view.items.map(({ kind }) => kind)).toEqual(["user_message"]);
  await goOn(ports, fork, "something else");
  await post(ports, session, {
    type: "approval.answer",
    approvalId: end.approvals[0]?.id ?? "",
    digest: end.approvals[0]?.digest ?? "",
    answer: "allow",
    by: "me",
    note: "",
  });
  await drive(ports, session, { waiting: "return" });
  expect(tool.runs).toHaveLength(1);
});

test.each(["while it is in flight", "once it is known to be in doubt"])(
  "a call that may have happened is told of and known again in a fork that begins before it, made %s",
  async (when) => {
    const asked: boolean[] = [];
    const tools = (["send", "look"] as const).map((name) => createTestTool({ name, replay: name === "send" ? "never" : "safe" }));
    const calls = ["send", "look"].map((name) => ({ name, input: { to: "shop" } }));
    const model = createTestModel((index) => (index === 0 ? { calls } : {}));
    const world = createWorld({ model, tools });
    const ports = portsOf(world);
    const session = await newSession(ports);
    await post(ports, session, say("pay"));
    const stops = async ({ name, when: at }: { name: string; when: string }): Promise<void> =>
      name.startsWith("call:") && at === "after" ? Promise.reject(new Crash()) : undefined;
    await expect(drive(ports, session, { waiting: "return", stops })).rejects.toThrow(Crash);
    const next = portsOf(world, 1);
    const isSettled = when !== "while it is in flight";
    if (isSettled) await drive(next, session, { waiting: "return" });
    const before = (await readSession(next, session)).events.find(({ type }) => type === "sampling.settled")?.seq ?? 0;

    const made = await forkSession(next, session, { at: before - 1 });
    expect(made.doubts).toEqual(["send"]);
    const second = await forkSession(next, made.session);
    expect(second.doubts).toEqual([]);
    for (const fork of [made.session, second.session]) {
      const policy = {
        ...next.policy,
        decide: (request: Parameters<typeof next.policy.decide>[0]) => (asked.push(request.repeatsDoubt), next.policy.decide(request)),
      };
      expect((await readSession(next, fork)).items.at(-1)).toMatchObject({ kind: "notice", text: expect.stringContaining("(send)") });
      await goOn({ ...next, policy }, fork, "go on");
      await expectLaw(next.log, fork);
    }
    expect(asked).toEqual([true, false, true, false]);
  },
);

test("where nothing has ended yet there is nothing to fork", async () => {
  const ports = portsOf(createWorld({ model: createTestModel(() => ({})) }));
  await expect(forkSession(ports, "ses_none")).rejects.toMatchObject({ code: "session_not_found" });
  const session = await newSession(ports);
  await expect(forkSession(ports, session, { at: 0 })).rejects.toMatchObject({ code: "usage" });
});

test("forks of forks of random sessions keep the law, the chain and the pairing", async () => {
  const tools = ["a", "b"].map((name) => createTestTool({ name }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(60), { minLength: 1, maxLength: 5 }),
      async (steps, points) => {
        const model = createTestModel((index) => ({ calls: (steps[index] ?? []).map((name) => ({ name, input: index })) }));
        const ports = portsOf(createWorld({ model, tools }));
        let { session } = await runPrompt(ports);
        for (const at of points) {
          session = (await forkSession(ports, session, { at: Math.max(1, at) })).session;
          await goOn(ports, session, "on");
          await expectLaw(ports.log, session);
          expect(findChainFault(await ports.log.read(session, 1))).toBeNull();
          expectPaired((await readSession(ports, session)).items);
        }
      },
    ),
    { numRuns: 40 },
  );
});
