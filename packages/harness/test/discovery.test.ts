import type { Json } from "@holdfast/protocol";
import type { CallContext, CallIntent, Tool, ToolSource, ToolSpec } from "@holdfast/runtime";
import { describe, expect, test } from "vitest";
import { createToolHost } from "../src/index.ts";

const spec = (name: string, description: string, properties: { [key: string]: Json } = {}): ToolSpec => ({
  name,
  description,
  schema: { type: "object", properties },
});

function tool(about: ToolSpec, isDeferred = false): Tool {
  return { spec: about, isDeferred, plan: async () => ({ type: "refused", text: "" }), run: async () => Promise.reject(new Error("no")) };
}

const issues = [
  spec("mcp__tracker__create_issue", "Opens an issue.", { title: { type: "string" } }),
  spec("mcp__tracker__list_issues", "Issues by state.", { state: { type: "string" } }),
  spec("mcp__files__read", "Reads a file from disk.", { path: { type: "string" } }),
];

function source(specs: readonly ToolSpec[], more: Partial<ToolSource> = {}): ToolSource & { readonly started: number } {
  const counted = {
    trust: "untrusted" as const,
    started: 0,
    start: () => void (counted.started += 1),
    settled: async () => undefined,
    specs,
    get: (name: string) => (name.startsWith("mcp__") ? tool(specs.find((one) => one.name === name) ?? spec(name, "")) : null),
    absent: () => [],
    ...more,
  };
  return counted;
}

async function search(tools: readonly Tool[], sources: readonly ToolSource[], query: string) {
  const found = createToolHost(tools, sources).get("search_tools")!;
  const plan = await found.plan({ query }, {} as CallContext);
  if ("type" in plan) throw new Error(plan.text);
  return found.run({ plan } as CallIntent, {} as CallContext, new AbortController().signal);
}

describe("the tools of a request", () => {
  test("are the host's own where nothing is deferred", () => {
    expect(createToolHost([tool(spec("a", ""))]).specs.map(({ name }) => name)).toEqual(["a"]);
  });

  test("leave deferred ones out and offer two that find and call them, whatever the sources have by then", () => {
    const tools = [tool(spec("a", "")), tool(spec("rare", ""), true)];
    const before = JSON.stringify(createToolHost(tools, [source([])]).specs);
    expect(JSON.stringify(createToolHost(tools, [source(issues)]).specs)).toBe(before);
    const host = createToolHost(tools, [source(issues)]);
    expect(host.specs.map(({ name }) => name)).toEqual(["a", "search_tools", "use_tool"]);
    expect(host.get("rare")?.spec.name).toBe("rare");
    expect(host.get("mcp__files__read")?.spec.description).toBe("Reads a file from disk.");
    expect(host.get("nothing")).toBeNull();
  });

  test("can't be two of one name", () => {
    expect(() => createToolHost([tool(spec("a", "")), tool(spec("a", ""))])).toThrow("same name");
    expect(() => createToolHost([tool(spec("use_tool", "")), tool(spec("a", ""), true)])).toThrow("same name");
  });
});

describe("search_tools", () => {
  test("shows the best matches with their schemas, and starts what offers them", async () => {
    const servers = source(issues);
    const outcome = await search([], [servers], "open a new issue");
    expect(servers.started).toBe(1);
    expect(outcome.text.indexOf("create_issue")).toBeLessThan(outcome.text.indexOf("list_issues"));
    expect(outcome.text).toContain(JSON.stringify(issues[0]!.schema));
    expect(outcome.trust).toBe("untrusted");
  });

  test("puts a tool first whose name is asked for", async () => {
    const outcome = await search([], [source(issues)], "mcp__files__read");
    expect(outcome.text.startsWith("mcp__files__read: ")).toBe(true);
  });

  test("lists everything for an empty query and says what is absent", async () => {
    const outcome = await search([tool(spec("rare", "A built-in."), true)], [source(issues, { absent: () => ["down: it ended"] })], "");
    expect(outcome.text.split("\n")).toEqual([
      "rare: A built-in.",
      "mcp__tracker__create_issue: Opens an issue.",
      "mcp__tracker__list_issues: Issues by state.",
      "mcp__files__read: Reads a file from disk.",
      "down: it ended",
    ]);
  });

  test("of built-ins alone is trusted, and one that finds nothing says how to see all", async () => {
    const rare = [tool(spec("rare", "Plays chess."), true)];
    expect((await search(rare, [], "chess")).trust).toBe("system");
    expect((await search(rare, [], "weather")).text).toContain("an empty query lists all 1");
  });

  test("stays small however many tools there are and however large", async () => {
    const many = Array.from({ length: 500 }, (_, n) =>
      spec(`mcp__big__tool_${n}`, "word ".repeat(2_000), { [`p${n}`]: { enum: ["x".repeat(9_000)] } }),
    );
    for (const query of ["word", ""]) expect((await search([], [source(many)], query)).text.length).toBeLessThan(45_000);
  });
});

describe("use_tool", () => {
  const unwrap = (input: Json) => createToolHost([], [source(issues)]).get("use_tool")!.unwrap!(input);

  test("means the call that it names", () => {
    expect(unwrap({ name: "mcp__files__read", input: { path: "a" } })).toEqual({ name: "mcp__files__read", input: { path: "a" } });
    expect(unwrap({ name: "x", input: '{"path":"a"}' })).toEqual({ name: "x", input: { path: "a" } });
    expect(unwrap({ name: "x" })).toEqual({ name: "x", input: {} });
  });

  test("says what it takes where it names none", () => {
    for (const input of [null, [], "x", {}, { name: 3 }]) expect(unwrap(input)).toMatchObject({ type: "refused" });
  });
});
