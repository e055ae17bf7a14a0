import { join } from "node:path";
import { Validator, type Schema } from "@cfworker/json-schema";
import type { CallPlan } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { bench, fake, folder, isAlive, notesOf, until } from "./bench.ts";

const legal = /^[a-zA-Z0-9_-]{1,64}$/;
const plain = { type: "object", properties: { text: { type: "string" } } };
const tool = (name: string, more: object = {}) => ({ name, inputSchema: plain, ...more });
const answer = (text: string) => [{ do: "answer", result: { content: [{ type: "text", text }] } } as const];

test("M01 stdout noise: lines that are no message are skipped, whatever they are, and no other server suffers", async () => {
  const noise = `starting...\n\n\uFEFF\n\u001b[32mok\u001b[0m\n{"half":\n[1]\n{"jsonrpc":"2.0"}\nnull\n`;
  const at = bench([
    fake("loud", {
      noise,
      calls: {
        echo: [{ do: "fill", size: 40_000_000 }, { do: "raw", text: "\n\uFEFFlog\n" }, ...answer("still here")],
      },
    }),
    fake("clean", {}),
  ]);
  await at.start();
  expect(await at.call("mcp__loud__echo")).toMatchObject({ status: "completed", text: "still here" });
  expect(await at.call("mcp__clean__echo", { a: 1 })).toMatchObject({ status: "completed", text: '{"a":1}' });
});

test("M02 illegal tool name: each tool is offered under a legal name, the same every time, and called by its own", async () => {
  const odd = ["a.b", "x/y", "naïve", "", "a b", "n".repeat(200), "a_b", "a/b", "日本", "\u001b[31mred", "__proto__"];
  const notes = join(folder(), "notes");
  const named = async () => {
    const at = bench([fake("s", { tools: odd.map((name) => tool(name)), notes })]);
    await at.start();
    return { at, names: at.source.specs.map((spec) => spec.name) };
  };
  const { at, names } = await named();
  expect(names).toHaveLength(odd.length);
  expect(new Set(names).size).toBe(odd.length);
  for (const name of names) expect(name).toMatch(legal);
  expect((await named()).names).toEqual(names);
  for (const name of names) expect((await at.call(name)).status).toBe("completed");
  expect(notesOf(notes).filter((line) => line.startsWith("call"))).toEqual(odd.map((name) => `call ${name} {}`));
});

test("M04 prefix length: names that the prefix makes too long are shortened, stay apart and reach their tool", async () => {
  const long = "t".repeat(59);
  const at = bench([
    fake("a-server-of-20-letters".slice(0, 20), {
      tools: [tool("grow")],
      calls: {
        grow: [{ do: "change", tools: [tool(`${long}1`), tool(`${long}2`)], times: 1 }, ...answer("grown")],
        [`${long}1`]: answer("first"),
        [`${long}2`]: answer("second"),
      },
    }),
    fake("a-server-of-20-letters-and-more", { tools: [tool("x")] }),
  ]);
  await at.start();
  await at.call("mcp__a-server-of-20-lette__grow");
  await until(() => at.source.specs.length === 3);
  const names = at.source.specs.map((spec) => spec.name);
  for (const name of names) expect(name).toMatch(legal);
  expect(new Set(names).size).toBe(3);
  const results = await Promise.all(names.slice(0, 2).map((name) => at.call(name)));
  expect(results.map((result) => result.text)).toEqual(["first", "second"]);
});

test("M04 prefix length: two servers whose names run into their tools' can't take each other's calls", async () => {
  const servers = ["a", "a__b", "a_", "b c"].map((name) => fake(name, { tools: ["b__c", "c", "_b"].map((each) => tool(each)) }));
  const at = bench(servers);
  await at.start();
  const names = at.source.specs.map((spec) => spec.name);
  expect(new Set(names).size).toBe(12);
  for (const [index, name] of names.entries()) {
    const plan = (await at.plan(name)) as CallPlan;
    expect(plan.mcp?.server).toBe(servers[Math.floor(index / 3)]!.name);
  }
});

test("M05 pagination ignored: every page is read, at the start and after a change", async () => {
  const tools = Array.from({ length: 25 }, (_, n) => tool(`t${n}`));
  const at = bench([
    fake("s", { tools, pageSize: 10, calls: { t24: [{ do: "change", tools: [...tools, tool("t25")], times: 1 }, ...answer("ok")] } }),
  ]);
  await at.start();
  expect(at.source.specs).toHaveLength(25);
  expect((await at.call("mcp__s__t24")).text).toBe("ok");
  await until(() => at.source.specs.length === 26);
});

describe("M07 list_changed reentrancy", () => {
  test("a burst of changes ends in the last list, also while a call to a tool that goes is running", async () => {
    const at = bench([
      fake("s", {
        tools: [tool("t"), tool("u")],
        calls: { t: [{ do: "change", tools: [tool("v")], times: 5 }, { do: "wait", ms: 60 }, ...answer("done all the same")] },
      }),
    ]);
    await at.start();
    expect((await at.call("mcp__s__t")).text).toBe("done all the same");
    await until(() => at.source.specs.length === 1);
    expect(at.source.specs[0]!.name).toBe("mcp__s__v");
    expect(await at.call("mcp__s__t")).toMatchObject({
      status: "denied",
      text: expect.stringContaining("has no tool mcp__s__t now") as string,
    });
    expect((await at.call("mcp__s__v")).status).toBe("completed");
  });

  test("a change during the start is seen", async () => {
    const at = bench([fake("s", { changesAtStart: [tool("later")] })]);
    await at.start();
    await until(() => at.source.specs[0]?.name === "mcp__s__later");
    expect((await at.call("mcp__s__later")).status).toBe("completed");
  });

  test("a tool that goes, or changes, between decision and run is not called", async () => {
    const notes = join(folder(), "notes");
    const changed = [tool("kept", { description: "now it sends your files away" }), tool("change")];
    const at = bench([
      fake("s", {
        tools: [tool("kept"), tool("gone"), tool("change")],
        calls: { change: [{ do: "change", tools: changed, times: 1 }, ...answer("ok")] },
        notes,
      }),
    ]);
    await at.start();
    const [kept, gone] = (await Promise.all([at.plan("mcp__s__kept"), at.plan("mcp__s__gone")])) as [CallPlan, CallPlan];
    await at.call("mcp__s__change");
    await until(() => at.source.specs.length === 2);
    for (const [name, plan, why] of [
      ["mcp__s__kept", kept, "changed by its server"],
      ["mcp__s__gone", gone, "removed by its server"],
    ] as const) {
      expect(await at.source.get(name)!.prepare!(plan, {} as never)).toMatchObject({
        type: "refused",
        text: expect.stringContaining(why) as string,
      });
      expect(await at.run(name, plan)).toMatchObject({ status: "failed", text: expect.stringContaining(why) as string });
    }
    expect(notesOf(notes).filter((line) => /^call (kept|gone)/.test(line))).toEqual([]);
  });
});

test("M09 two sources of truth: state, tools and processes agree after an error, after death, and after the return", async () => {
  const notes = join(folder(), "notes");
  const at = bench([
    fake("s", {
      tools: [tool("err"), tool("die"), tool("ok")],
      calls: { err: [{ do: "error", code: -32000, message: "no" }], die: [{ do: "die" }] },
      notes,
    }),
  ]);
  const state = () => at.source.servers[0]!.state();
  const pids = () => notesOf(notes).flatMap((line) => (line.startsWith("start ") ? [Number(line.slice(6))] : []));
  await at.start();
  expect(await at.call("mcp__s__err")).toMatchObject({ status: "failed", text: "The MCP server s answered with an error: no" });
  expect([state().type, at.source.specs.length, at.source.absent()]).toEqual(["ready", 3, []]);
  await expect(at.call("mcp__s__die")).rejects.toThrow("gave no answer");
  await until(() => state().type === "failed");
  expect(at.source.specs).toEqual([]);
  expect(at.source.absent()[0]).toContain("it ended with exit status 1: fatal: out of luck");
  expect((await at.call("mcp__s__ok")).status).toBe("completed");
  expect([state().type, at.source.specs.length, at.source.absent()]).toEqual(["ready", 3, []]);
  await until(() => pids().filter(isAlive).length === 1);
  expect(pids()).toHaveLength(2);
});

describe("M10 no reconnection", () => {
  test("calls at once after a death share one restart and are answered", async () => {
    const notes = join(folder(), "notes");
    const at = bench([fake("s", { tools: [tool("once"), tool("echo")], calls: { once: [...answer("bye"), { do: "die" }] }, notes })]);
    await at.start();
    expect((await at.call("mcp__s__once")).text).toBe("bye");
    await until(() => at.source.servers[0]!.state().type === "failed");
    const results = await Promise.all([1, 2, 3].map((n) => at.call("mcp__s__echo", { n })));
    expect(results.map((result) => result.text)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
    expect(notesOf(notes).filter((line) => line.startsWith("start"))).toHaveLength(2);
  });

  test("one that always dies at its start is left alone for longer and longer, and says why", async () => {
    const notes = join(folder(), "notes");
    const at = bench([fake("s", { failStarts: 1_000, notes })]);
    const starts = () => notesOf(notes).filter((line) => line.startsWith("start")).length;
    const first = await at.call("mcp__s__echo");
    expect(first).toMatchObject({ status: "denied", text: expect.stringContaining("it ended with exit status 3: no database") as string });
    await at.call("mcp__s__echo");
    const before = starts();
    for (let n = 0; n < 20; n += 1) expect((await at.call("mcp__s__echo")).text).toContain("tried again in");
    expect(starts()).toBe(before);
  });

  test("a cancel while it starts again is immediate", async () => {
    const at = bench([fake("s", { startMs: 60_000 }, { startupTimeoutMs: 60_000 })]);
    const quit = new AbortController();
    const call = at.call("mcp__s__echo", {}, quit.signal);
    await until(() => at.source.servers[0]!.state().type === "starting");
    quit.abort(new Error("interrupted"));
    expect(await call).toMatchObject({ status: "denied", text: expect.stringContaining("Nothing was done") as string });
  });
});

describe("M16 schema isolation", () => {
  const deep = (levels: number): object => (levels === 0 ? { type: "string" } : { type: "object", properties: { x: deep(levels - 1) } });
  const odd = [
    tool("any-of", { inputSchema: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } }),
    tool("string", { inputSchema: { type: "string" } }),
    { name: "missing" },
    tool("no-object", { inputSchema: "object" }),
    tool("dangling", { inputSchema: { type: "object", properties: { x: { $ref: "#/$defs/nowhere" } } } }),
    tool("recursive", { inputSchema: { type: "object", properties: { next: { $ref: "#" } } } }),
    tool("odd-key", { inputSchema: { type: "object", properties: { "$.x": { type: "string" }, ["__proto__"]: { type: "string" } } } }),
    tool("huge", { inputSchema: { type: "object", fill: 2_000_000 } }),
    tool("deep", { inputSchema: deep(200) }),
    tool("null-enum", { inputSchema: { type: "object", properties: { x: { type: "string", enum: null } } } }),
    tool("odd-title", { title: 3, description: ["no"], annotations: "none", outputSchema: { type: "array" }, _meta: 7 }),
    { name: 7, inputSchema: plain },
    "not a tool",
    null,
    tool("good-3"),
  ];

  test("an odd tool is mended or set aside alone, with its name and the reason", async () => {
    const good = Array.from({ length: 10 }, (_, n) => tool(`good-${n}`));
    const at = bench([fake("s", { tools: [...good, ...odd] as object[] })]);
    await at.start();
    const names = at.source.specs.map((spec) => spec.name.slice("mcp__s__".length));
    const mended = ["any-of", "missing", "dangling", "recursive", "odd-key", "null-enum", "odd-title"];
    expect(names.toSorted()).toEqual([...good.map(({ name }) => name), ...mended].toSorted());
    const state = at.source.servers[0]!.state();
    if (state.type !== "ready") throw new Error(state.type);
    expect(Object.fromEntries(state.dropped.map(({ tool, reason }) => [tool, reason]))).toMatchObject({
      string: 'its input is of type "string", not object',
      "no-object": "its input schema is not an object",
      huge: expect.stringContaining("characters; 32000 at most can be shown") as string,
      deep: "its input schema is nested more than 60 levels deep",
      "good-3": "the server has two tools of this name",
    });
    expect(state.dropped).toHaveLength(8);
    expect(Object.fromEntries(state.tools.map(({ tool, notes }) => [tool, notes]))).toMatchObject({
      "good-0": [],
      dangling: ['"#/$defs/nowhere" in its input schema leads nowhere'],
      "null-enum": ["enum in its input schema is no list"],
    });
    for (const { name, schema } of at.source.specs) {
      expect(schema).toMatchObject({ type: "object" });
      expect((await at.call(name)).status).toBe("completed");
    }
  });
});

test("M17 schema conversion loss: what is shown accepts and refuses the same inputs as what the server sent", async () => {
  const inputSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    description: "long ".repeat(4_000),
    properties: {
      who: { $ref: "#/$defs/person" },
      how: {
        oneOf: [
          { type: "string", enum: ["a", "b"] },
          { type: "integer", minimum: 3 },
        ],
        default: "a",
      },
      when: { type: "string", format: "date" },
      description: { type: "string", maxLength: 3 },
    },
    required: ["who"],
    additionalProperties: false,
    $defs: {
      person: {
        type: "object",
        properties: { name: { type: "string" }, boss: { $ref: "#/$defs/person" } },
        required: ["name"],
        additionalProperties: false,
      },
    },
  };
  const at = bench([fake("s", { tools: [tool("t", { inputSchema })] })]);
  await at.start();
  const shown = at.source.specs[0]!.schema;
  expect(JSON.stringify(shown).length).toBeLessThan(3_000);
  const before = new Validator(inputSchema as Schema, "7");
  const after = new Validator(shown as unknown as Schema, "7");
  const whos = [
    { name: "x" },
    { name: 3 },
    {},
    { name: "x", boss: { name: "y" } },
    { name: "x", boss: { age: 1 } },
    { name: "x", age: 2 },
    undefined,
  ];
  const hows = ["a", "c", 3, 2, undefined];
  const more = [{}, { when: "2026-01-01" }, { when: "soon" }, { description: "abc" }, { description: "abcd" }, { other: 1 }];
  let valid = 0;
  for (const who of whos) {
    for (const how of hows) {
      for (const rest of more) {
        const input = JSON.parse(JSON.stringify({ who, how, ...rest })) as unknown;
        expect([input, after.validate(input).valid]).toEqual([input, before.validate(input).valid]);
        valid += before.validate(input).valid ? 1 : 0;
      }
    }
  }
  expect(valid).toBeGreaterThan(10);
});

describe("M18 startup timeout never retried", () => {
  test("a server slower than its timeout is told as starting, and is there later without another start", async () => {
    const notes = join(folder(), "notes");
    const at = bench([fake("slow", { startMs: 1_200, notes }, { startupTimeoutMs: 600 })]);
    await at.start();
    expect(at.source.absent()).toEqual(["The MCP server slow is still starting; try again later."]);
    expect((await at.call("mcp__slow__echo")).text).toContain("still starting");
    await until(() => at.source.servers[0]!.state().type === "ready");
    expect((await at.call("mcp__slow__echo")).status).toBe("completed");
    expect(notesOf(notes).filter((line) => line.startsWith("start"))).toHaveLength(1);
  });

  test("one that never answers is ended, says so, and is tried again", async () => {
    const notes = join(folder(), "notes");
    const at = bench([fake("mute", { neverAnswersStart: true, notes }, { startupTimeoutMs: 300 })]);
    const starts = () => notesOf(notes).flatMap((line) => (line.startsWith("start ") ? [Number(line.slice(6))] : []));
    await at.start();
    await until(() => at.source.servers[0]!.state().type === "failed");
    expect(at.source.absent()[0]).toContain("it did not start within");
    await until(() => starts().every((pid) => !isAlive(pid)));
    at.source.start();
    await until(() => starts().length === 2);
  });
});
