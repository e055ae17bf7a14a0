import { spawn } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { bench, folder, published, server, until } from "./bench.ts";

describe("server-everything", () => {
  const calls = async (at: ReturnType<typeof bench>, name = "every") => {
    const call = (tool: string, input = {}) => at.call(`mcp__${name}__${tool}`, input);
    expect((await call("echo", { message: "hi" })).text).toBe("Echo: hi");
    expect((await call("get-sum", { a: 19, b: 23 })).text).toContain("42");
    expect((await call("get-tiny-image")).images).toHaveLength(1);
    const structured = await call("get-structured-content", { location: "New York" });
    expect(structured.text.match(/temperature/g)).toHaveLength(1);
    expect(await call("get-sum", { a: "no number" })).toMatchObject({ status: "failed" });
    await call("trigger-long-running-operation", { duration: 0.3, steps: 3 });
    expect(at.emitted[0]).toBe("1/3\n");
  };

  test("over pipes", async () => {
    await calls(bench([published("every", "mcp-server-everything", ["stdio"])]));
  });

  test("over streamable HTTP", async () => {
    const port = await freePort();
    const args = [join(import.meta.dirname, "../../../node_modules/.bin/mcp-server-everything"), "streamableHttp"];
    const child = spawn(process.execPath, args, { env: { ...process.env, PORT: String(port) }, stdio: ["ignore", "ignore", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes("listening"));
    await calls(bench([server("every", { type: "http", url: `http://127.0.0.1:${port}/mcp`, headers: {} })]));
  });
});

test("server-filesystem reads and writes where it may, and says where it may not", async () => {
  const root = folder();
  writeFileSync(join(root, "a.txt"), "content of a");
  const at = bench([published("files", "mcp-server-filesystem", [root])]);
  expect((await at.call("mcp__files__read_text_file", { path: join(root, "a.txt") })).text).toBe("content of a");
  expect((await at.call("mcp__files__write_file", { path: join(root, "b.txt"), content: "b" })).status).toBe("completed");
  expect(readFileSync(join(root, "b.txt"), "utf8")).toBe("b");
  expect(await at.call("mcp__files__read_text_file", { path: "/etc/hostname" })).toMatchObject({
    status: "failed",
    text: expect.stringContaining("outside allowed") as string,
  });
});

test("server-memory keeps what it is told where its variable says", async () => {
  const path = join(folder(), "memory.json");
  const at = bench([published("memory", "mcp-server-memory", [], { MEMORY_FILE_PATH: path })]);
  const entity = { name: "holdfast", entityType: "program", observations: ["holds"] };
  expect((await at.call("mcp__memory__create_entities", { entities: [entity] })).status).toBe("completed");
  expect(existsSync(path)).toBe(true);
  expect((await at.call("mcp__memory__search_nodes", { query: "holds" })).text).toContain('"holdfast"');
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

describe("a server of revision 2026-07-28", () => {
  const serve = () => {
    const built = new McpServer({ name: "new", version: "1" });
    built.registerTool(
      "double",
      { description: "Doubles.", inputSchema: z.object({ n: z.number() }), outputSchema: z.object({ n: z.number() }) },
      ({ n }) => ({
        content: [{ type: "text", text: JSON.stringify({ n: n * 2 }) }],
        structuredContent: { n: n * 2 },
      }),
    );
    built.registerTool("lies", { inputSchema: z.object({}), outputSchema: z.object({ n: z.number() }) }, () => ({
      content: [{ type: "text", text: "not what was promised" }],
      structuredContent: { n: 1 },
    }));
    return built;
  };

  test("is spoken to in its own revision, and carries the headers of the config", async () => {
    const handler = createMcpHandler(serve);
    const seen: (string | null)[] = [];
    const at = bench([server("new", { type: "http", url: "http://new.test/mcp", headers: { Authorization: "Bearer ${KEY}" } })], {
      environment: { KEY: "the-key-of-new" },
      fetch: async (url, init) => {
        const request = new Request(url, init);
        seen.push(request.headers.get("authorization"));
        return handler.fetch(request);
      },
    });
    expect(await at.call("mcp__new__double", { n: 21 })).toMatchObject({ status: "completed", text: '{"n":42}' });
    expect(at.source.servers[0]!.state()).toMatchObject({ type: "ready", revision: "2026-07-28" });
    expect(at.source.specs.map((spec) => spec.name)).toEqual(["mcp__new__double", "mcp__new__lies"]);
    expect(new Set(seen)).toEqual(new Set(["Bearer the-key-of-new"]));
  });

  test("tells of new tools as long as its stream is open, and is asked for them after that", async () => {
    const tools = new Set(["double"]);
    const handler = createMcpHandler(() => {
      const built = new McpServer({ name: "new", version: "1" });
      for (const name of tools)
        built.registerTool(name, { inputSchema: z.object({}) }, () => ({ content: [{ type: "text", text: name }] }));
      return built;
    });
    let endStream = (): void => undefined;
    const at = bench([server("new", { type: "http", url: "http://new.test/mcp", headers: {} })], {
      fetch: async (url, init) => {
        const response = await handler.fetch(new Request(url, init));
        if (typeof init?.body !== "string" || !init.body.includes("subscriptions/listen")) return response;
        const cut = new TransformStream<Uint8Array, Uint8Array>({ start: (controller) => void (endStream = () => controller.terminate()) });
        return new Response(response.body!.pipeThrough(cut), response);
      },
    });
    await at.start();
    const names = () => at.source.specs.map((spec) => spec.name.slice("mcp__new__".length));
    tools.add("told");
    handler.notify.toolsChanged();
    await until(() => names().includes("told"));
    endStream();
    tools.add("asked");
    await until(() => {
      at.source.start();
      return names().includes("asked");
    });
  });

  test("that can't be reached, or answers with an error, says so, and nothing counts as sent", async () => {
    const at = bench(
      [
        server("gone", { type: "http", url: `http://127.0.0.1:${await freePort()}/mcp`, headers: {} }),
        server("locked", { type: "http", url: "http://locked.test/mcp", headers: {} }),
      ],
      { fetch: async (url, init) => (String(url).includes("locked") ? new Response("no", { status: 401 }) : fetch(url, init)) },
    );
    expect((await at.call("mcp__gone__x")).text).toContain("ECONNREFUSED");
    expect((await at.call("mcp__locked__x")).text).toContain("isn't running");
  });

  test("that forgets a session gets the call once more in a new one", async () => {
    const handler = createMcpHandler(serve);
    let refused = 0;
    const at = bench([server("new", { type: "http", url: "http://new.test/mcp", headers: {} })], {
      fetch: async (url, init) => {
        const isCall = typeof init?.body === "string" && init.body.includes("tools/call");
        if (isCall && refused === 0) {
          refused += 1;
          return new Response("unknown session", { status: 404 });
        }
        return handler.fetch(new Request(url, init));
      },
    });
    expect((await at.call("mcp__new__double", { n: 1 })).text).toBe('{"n":2}');
    expect(refused).toBe(1);
  });

  test("whose answer never ends is cut off at the bound", async () => {
    const at = bench([server("endless", { type: "http", url: "http://endless.test/mcp", headers: {} })], {
      fetch: async () => {
        const chunk = new Uint8Array(4_000_000).fill(0x20);
        const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(chunk) });
        return new Response(body, { headers: { "content-type": "application/json" } });
      },
    });
    expect((await at.call("mcp__endless__x")).text).toContain("a message of more than");
  });
});
