import type { Item, Op } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import type { Log, Ports } from "../src/index.ts";
import { drive, eraseItem, post, readSession } from "../src/index.ts";
import type { Name } from "./erasing.ts";
import { allWords, bytes, expectWhole, found, idsOf, makeSession, memoryStore, names, sqliteStore, words } from "./erasing.ts";
import type { Answer, World } from "./kit.ts";
import {
  allow,
  Crash,
  crashAt,
  createTestModel,
  createTestTool,
  createWorld,
  done,
  newSession,
  portsOf,
  runPrompt,
  say,
  testCheck,
} from "./kit.ts";

describe.each([
  ["memory", memoryStore],
  ["SQLite", sqliteStore],
] as const)("erasing an item, in %s", (_, open) => {
  test("the session has every kind of item and copy before", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    expect(found(await store.contents())).toEqual(allWords);
    await expectWhole(ports, session);
  });

  test.each(names)("no word of the %s is left, and the session goes on", async (name) => {
    const store = open();
    const { ports, session, requests } = await makeSession(store);
    const ids = await idsOf(ports, session);
    const before = await readSession(ports, session);
    await eraseItem(ports, session, ids[name]);
    const gone: readonly string[] = words[name];
    // What an edit prepared, and its path, belong to the call and to its result: erased with either.
    expect(found(await store.contents())).toEqual(allWords.filter((word) => !gone.includes(word)));
    await expectWhole(ports, session);

    const after = await readSession(ports, session);
    expect(after.items.map(({ id, kind }) => [id, kind])).toEqual(before.items.map(({ id, kind }) => [id, kind]));
    const isOther = ({ id, ...item }: Item): boolean => id !== ids[name] && !gone.some((word) => JSON.stringify(item).includes(word));
    const others = before.items.filter(isOther);
    expect(after.items.filter(({ id }) => others.some((other) => other.id === id))).toEqual(others);
    expect(others.length).toBeGreaterThanOrEqual(before.items.length - 2);
    expect(JSON.stringify(after.items.find(({ id }) => id === ids[name]))).toContain("[erased]");
    expect(after.turns.map(({ outcome }) => outcome)).toEqual(["verified", "verified"]);

    await post(ports, session, say("go on"));
    const end = await drive(ports, session, { waiting: "return" });
    expect(end.standing).toBe("verified");
    const sent = JSON.stringify(requests.at(-1));
    expect(gone.filter((word) => sent.includes(word))).toEqual([]);
    await expectWhole(ports, session);
  });

  test("items are erased one after another until no word is left, in either order", async () => {
    for (const order of [names, names.toReversed()]) {
      const store = open();
      const { ports, session } = await makeSession(store);
      const ids = await idsOf(ports, session);
      const left = new Set<Name>(names);
      for (const name of order) {
        await eraseItem(ports, session, ids[name]);
        left.delete(name);
        await expectWhole(ports, session);
        const kept = [...left].map((other) => words[other][0]);
        const contents = await store.contents();
        expect(kept.filter((word) => !contents.includes(word))).toEqual([]);
      }
      expect(found(await store.contents())).toEqual([]);
      expect((await readSession(ports, session)).row.title).toBe("[erased]");
      await post(ports, session, say("go on"));
      expect((await drive(ports, session, { waiting: "return" })).standing).toBe("verified");
    }
  });

  test.each(["before", "after", "blobs"] as const)(
    "a crash on the way (%s the payloads are erased) is finished by whoever opens the session next",
    async (step) => {
      const store = open();
      const { ports, session } = await makeSession(store);
      const { prompt } = await idsOf(ports, session);
      const crash = async (): Promise<never> => Promise.reject(new Crash());
      const broken: Partial<Ports> = {
        before: { log: { ...ports.log, erase: crash } },
        after: { log: { ...ports.log, erase: async (...erasure: Parameters<Log["erase"]>) => ports.log.erase(...erasure).then(crash) } },
        blobs: { blobs: { ...ports.blobs, delete: crash } },
      }[step];
      await expect(eraseItem({ ...ports, ...broken }, session, prompt)).rejects.toThrow(Crash);
      expect(found(await store.contents()).includes("prompt-words")).toBe(step === "before");
      expect(await store.contents()).toContain("picture-words");
      const { items, turns, events } = await readSession(ports, session);
      expect(JSON.stringify([items, turns, events])).not.toContain("prompt-words");
      await expectWhole(ports, session);

      await drive(ports, session, { waiting: "return" });
      expect(found(await store.contents())).toEqual(allWords.filter((word) => word !== "prompt-words" && word !== "picture-words"));
      await expectWhole(ports, session);
      const { seq } = (await readSession(ports, session)).row;
      await eraseItem(ports, session, prompt);
      expect((await readSession(ports, session)).row.seq).toBe(seq);
    },
  );

  test("a blob stays that waiting input, another item or another session refers to", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    const { prompt } = await idsOf(ports, session);
    const picture = await store.blobs.put(bytes("picture-words"));
    const input: Op = { type: "input.send", parts: [{ type: "image", blob: picture, mediaType: "image/png" }] };
    await post(ports, session, input);
    await eraseItem(ports, session, prompt);
    expect(await store.blobs.has(picture)).toBe(true);

    await drive(ports, session, { waiting: "return" });
    await post(ports, session, input);
    await drive(ports, session, { waiting: "return" });
    const pictures = (await readSession(ports, session)).items.filter((item) => item.kind === "user_message").map(({ id }) => id);
    await eraseItem(ports, session, pictures.at(-1) ?? "");
    expect(await store.blobs.has(picture)).toBe(true);

    const other = await newSession(ports, { approvals: "allow" });
    await post(ports, other, input);
    await drive(ports, other, { waiting: "return" });
    await eraseItem(ports, session, pictures.at(-2) ?? "");
    expect(await store.blobs.has(picture)).toBe(true);
    await eraseItem(ports, other, (await readSession(ports, other)).items[0]?.id ?? "");
    expect(await store.blobs.has(picture)).toBe(false);
  });
});

describe("copies that only some turns make", () => {
  const quit = createTestTool({
    name: "quit",
    run: async () => done("secret-words", { gaveUp: { reason: "secret-words", blockedBy: null } }),
  });
  const once = (answer: Answer) => createTestModel((index) => (index === 0 ? answer : {}));
  const calls = [{ name: "quit", input: "input" }];
  const run = async (world: World, kinds: readonly Item["kind"][], options: { answer?: string } = {}): Promise<string> => {
    const ports = portsOf(world);
    const { session } = await runPrompt(ports);
    for (const { id } of (await readSession(ports, session)).openApprovals) {
      const answer: Op = { type: "approval.answer", approvalId: id, answer: "deny", by: "me", note: options.answer ?? "" };
      await post(ports, session, answer);
      await drive(ports, session, { waiting: "return" });
    }
    const { items, events } = await readSession(ports, session);
    expect(JSON.stringify(events)).toContain("secret-words");
    for (const { id } of items.filter(({ kind }) => kinds.includes(kind))) await eraseItem(ports, session, id);
    await expectWhole(ports, session);
    return JSON.stringify([await world.log.load(session), await world.log.read(session, 1)]);
  };

  test.each([["tool_call"], ["tool_result"]] as const)("a reason for giving up, when the %s is erased", async (kind) => {
    const world = createWorld({ model: once({ calls }), tools: [quit] });
    const left = await run(world, [kind]);
    expect(left.match(/secret-words/g)?.length ?? 0).toBe(kind === "tool_call" ? 2 : 0);
  });

  test("the words of a refusal, when its result is erased", async () => {
    const policy: World["policy"] = () => ({ ...allow, decision: "deny", forModel: "secret-words", reason: "secret-words" });
    expect(await run(createWorld({ model: once({ calls }), tools: [quit], policy }), ["tool_result"])).not.toContain("secret-words");
  });

  test("the command of a recorded run and the digest of a call in doubt, when the call is erased", async () => {
    const install = createTestTool({ name: "install", exclusive: true, command: "npm ci", run: async () => done("", { exitCode: 0 }) });
    const charge = createTestTool({ name: "charge", replay: "never", run: async () => Promise.reject(new Error("lost")) });
    const both = [
      { name: "install", input: "npm ci" },
      { name: "charge", input: 1 },
    ];
    const ports = portsOf(createWorld({ model: once({ calls: both }), tools: [install, charge] }));
    const { session } = await runPrompt(ports, {}, {}, [testCheck]);
    const { items, inDoubt } = await readSession(ports, session);
    expect(inDoubt).toHaveLength(1);
    const registers = async () =>
      ((await ports.log.load(session))?.registers ?? [])
        .filter(({ kind }) => kind === "runs" || kind === "doubt")
        .map(({ value }) => value);
    expect((await registers()).join()).toMatch(/npm ci.*callId|callId.*npm ci/);
    for (const { id } of items.filter(({ kind }) => kind === "tool_call")) await eraseItem(ports, session, id);
    expect(await registers()).toEqual(['[{"command":"[erased]","folders":[],"locks":[],"subject":null}]']);
    expect(JSON.stringify(await ports.log.read(session, 1))).not.toContain("npm ci");
    await expectWhole(ports, session);
  });

  test.each([["tool_call"], ["tool_result"]] as const)(
    "the whole of a result that was shown in part, when the %s is erased",
    async (kind) => {
      const world = createWorld({
        model: once({ calls: [{ name: "fetch", input: 1 }] }),
        tools: [
          createTestTool({
            name: "fetch",
            run: async ({ callId }) => done("a part", { output: `${callId}.1`, whole: await world.blobs.put(bytes("all of it")) }),
          }),
        ],
      });
      const ports = portsOf(world);
      const { session } = await runPrompt(ports);
      const kept = async () =>
        ((await ports.log.load(session))?.registers ?? []).flatMap(({ kind: each, value }) =>
          each === "output" ? [(JSON.parse(value ?? "") as { blob: string }).blob] : [],
        );
      const [blob = ""] = await kept();
      expect([...(await ports.log.referencedBlobs())]).toContain(blob);
      const { items } = await readSession(ports, session);
      for (const item of items) if (item.kind === kind) await eraseItem(ports, session, item.id);
      expect([await kept(), await world.blobs.has(blob)]).toEqual(kind === "tool_call" ? [[blob], true] : [[], false]);
      await expectWhole(ports, session);
    },
  );

  test("a person's note, when the result that tells it is erased", async () => {
    const policy: World["policy"] = () => ({ ...allow, decision: "review" });
    const world = createWorld({ model: once({ calls }), tools: [quit], policy });
    expect(await run(world, ["tool_result"], { answer: "secret-words" })).not.toContain("secret-words");
  });

  test("what a cut attempt had streamed, when the message is erased", async () => {
    let attempts = 0;
    const error = { class: "network", message: "cut", status: null, code: null, retryAfterMs: null } as const;
    const model = createTestModel(() =>
      (attempts += 1) === 1 ? { fail: { type: "failed", error } } : { text: "half an answer, secret-words" },
    );
    expect(await run(createWorld({ model }), ["assistant_message"])).not.toMatch(/half an ans|secret-words/);
  });
});

describe.each(["tool_call", "tool_result"] as const)("questions and plans, when the %s is erased", (kind) => {
  const ask = createTestTool({
    name: "ask",
    question: { text: "question-words", choices: ["choice-words", "other-words"], allowsText: true, isMultiple: false },
  });
  const plan = createTestTool({ name: "plan", run: async () => done("Shown.", { steps: [{ text: "step-words", status: "pending" }] }) });

  test("nothing of it is left where it has no other item, and the rest stays", async () => {
    const calls = [
      { name: "ask", input: "question-words" },
      { name: "plan", input: "step-words" },
      { name: "quit", input: "" },
    ];
    const quit = createTestTool({ name: "quit", run: async () => done("", { gaveUp: { reason: "no", blockedBy: null } }) });
    const model = createTestModel((index) => (index === 0 ? { calls: calls.slice(0, 2) } : { calls: calls.slice(2) }));
    const world = createWorld({ model, tools: [ask, plan, quit] });
    const ports = portsOf(world);
    const { session, end } = await runPrompt(ports);
    const answer: Op = {
      type: "question.answer",
      questionId: end.questions[0]?.id ?? "",
      answer: { choices: [], text: "answer-words" },
      by: "me",
    };
    await post(ports, session, answer);
    expect((await drive(ports, session, { waiting: "return" })).report?.plan).toEqual([{ text: "step-words", status: "pending" }]);
    const { items } = await readSession(ports, session);
    for (const { id } of items.filter((item) => item.kind === kind)) await eraseItem(ports, session, id);
    await expectWhole(ports, session);
    const view = await readSession(ports, session);
    expect(view.plan).toEqual([]);
    const left = JSON.stringify([await world.log.load(session), await world.log.read(session, 1), view.turns]);
    const gone = { tool_call: ["question-words", "choice-words", "other-words", "step-words"], tool_result: ["answer-words"] }[kind];
    for (const word of gone) expect(left, word).not.toContain(word);
    expect(left).toContain({ tool_call: "answer-words", tool_result: "question-words" }[kind]);
  });
});

test("a command's whole output goes with its result, and with nothing else", async () => {
  const { ports, session } = await makeSession(memoryStore());
  const forgotten: unknown[] = [];
  const processes = { ...ports.processes, forgetOutput: async (...run: [string, string]) => void forgotten.push(run) };
  const { command, ran } = await idsOf(ports, session);
  await eraseItem({ ...ports, processes }, session, command);
  expect(forgotten).toEqual([]);
  await eraseItem({ ...ports, processes }, session, ran);
  const result = (await readSession(ports, session)).items.find(({ id }) => id === ran);
  expect(forgotten).toEqual([[session, result?.kind === "tool_result" ? result.callId : ""]]);
});

test("what can't be erased is refused, with a code, and nothing changes", async () => {
  const { ports, session } = await makeSession(memoryStore());
  const { prompt } = await idsOf(ports, session);
  const before = await ports.log.load(session);
  await expect(eraseItem(ports, session, "itm_unknown")).rejects.toMatchObject({ code: "item_not_found" });
  await expect(eraseItem(ports, "ses_unknown", prompt)).rejects.toMatchObject({ code: "session_not_found" });
  expect(await ports.log.load(session)).toEqual(before);

  await post(ports, session, say("more"));
  await expect(drive(ports, session, { waiting: "return", stops: crashAt(3) })).rejects.toThrow(Crash);
  const refusal = { code: "usage", message: expect.stringContaining("open turn") };
  await expect(eraseItem(ports, session, prompt)).rejects.toMatchObject(refusal);
});
