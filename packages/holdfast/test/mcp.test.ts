import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../src/program.ts";
import { readForeign } from "../src/mcp/formats.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-mcp-")));
  mkdirSync(join(folder, "project/.git"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const home = () => join(folder, ".holdfast");
const config = () => readFileSync(join(home(), "config.toml"), "utf8");

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const io = fakeIo({
    cwd: join(folder, "project"),
    home: home(),
    env: { HOME: folder, HOLDFAST_HOME: home(), PATH: process.env["PATH"] ?? "", ...env },
  });
  const status = await main(["mcp", ...args], io);
  return { status, out: io.out(), err: io.err() };
}

describe("holdfast mcp", () => {
  test("adds servers behind what the config holds, and takes them out again, comments and all else left alone", async () => {
    mkdirSync(home());
    const before = '# mine\nmodel = "openai/x"\n\n[mcp.first] # keep\ncommand = "one"\n';
    writeFileSync(join(home(), "config.toml"), before);
    expect(
      (await run(["add", "tracker", "--url", "https://example.com/mcp", "--header", "Authorization=Bearer ${T}", "--allow", "read_*"]))
        .status,
    ).toBe(0);
    expect((await run(["add", "local", "--env", "A=b=c", "--", "npx", "-y", "server", "--port", "1"])).status).toBe(0);
    expect(config().startsWith(before)).toBe(true);
    expect(parse(config())["mcp"]).toEqual({
      first: { command: "one" },
      tracker: { url: "https://example.com/mcp", allow: ["read_*"], headers: { Authorization: "Bearer ${T}" } },
      local: { command: "npx", args: ["-y", "server", "--port", "1"], env: { A: "b=c" } },
    });
    expect((await run(["list"])).out.split("\n")).toEqual([
      "first    yours  one",
      "tracker  yours  https://example.com/mcp",
      "local    yours  npx -y server --port 1",
      "",
    ]);
    expect((await run(["remove", "tracker", "local"])).status).toBe(0);
    expect(config()).toBe(before);
  });

  test("shows no value of a variable or header, to a person or a program", async () => {
    await run(["add", "a", "--env", "KEY=the-secret-1", "--", "x"]);
    await run(["add", "b", "--url", "http://127.0.0.1:9/mcp", "--header", "X=the-secret-2"]);
    await run(["add", "c", "--url", "http://127.0.0.1:9/mcp?key=the-secret-3"]);
    await run(["add", "d", "--", "x", "--to=http://u:the-secret-4@h/?key=the-secret-5", `--token=npm_${"the1".repeat(9)}`]);
    for (const args of [["list"], ["list", "--json"]]) {
      const { out, err } = await run(args);
      expect(out + err).not.toMatch(/the-secret|the1/);
    }
    expect((await run(["list", "--json"])).out).toContain('"env":["KEY"]');
  });

  test("refuses what can't be, and changes nothing then", async () => {
    await run(["add", "a", "--", "x"]);
    const before = config();
    for (const args of [
      ["add", "a", "--", "y"],
      ["add", "b"],
      ["add", "b", "--url", "http://x", "--", "y"],
      ["add", "b", "--url", "nonsense"],
      ["add", "b", "--url", "http://u:p@127.0.0.1/mcp"],
      ["add", "not a name", "--", "y"],
      ["add", "b", "--header", "A=b", "--", "y"],
      ["add", "b", "--env", "no", "--", "y"],
      ["remove", "zzz"],
      ["remove"],
      ["list", "--env", "A=b"],
      ["import"],
      ["import", "missing.json"],
      ["turn"],
    ]) {
      const { status, err } = await run(args);
      expect([args, status]).toEqual([args, 2]);
      expect(err).toMatch(/^holdfast: /);
    }
    expect(config()).toBe(before);
  });

  test("leaves a config alone that is written so that only a person should change it", async () => {
    mkdirSync(home());
    const before = 'mcp.a.command = "x"\n';
    writeFileSync(join(home(), "config.toml"), before);
    expect(await run(["remove", "a"])).toMatchObject({ status: 2, err: expect.stringContaining("edit it by hand") as string });
    expect(config()).toBe(before);
  });

  test("test shows no secret in why a server doesn't run: neither in its last words nor in its address", async () => {
    const words = `http://u:pw1@h/?k=v2 secret=sk-${"abcdef3".repeat(4)} npm_${"a4b5".repeat(9)} hf_${"c6d".repeat(12)} $KEY`;
    await run(["add", "dies", "--env", "KEY=${KEY_OF_IT}", "--", "/bin/sh", "-c", `echo "${words}" >&2; exit 4`]);
    await run(["add", "away", "--url", "http://127.0.0.1:9/mcp?key=abc7"]);
    const env = { KEY_OF_IT: "held-value-8" };
    for (const args of [["test"], ["test", "--json"]]) {
      const { out, err } = await run(args, env);
      expect(out + err).toContain("secret=[redacted secret]");
      expect(out + err).not.toMatch(/pw1|v2|abcdef3|a4b5|c6d|abc7|held-value/);
    }
  });

  test("test shows tools, what is wrong with one, and why a server doesn't run, without control codes", async () => {
    const tools = [
      { name: "good", description: "Does\u001b[2J good.", inputSchema: { type: "object" } },
      { name: "\u001b[31mbad", inputSchema: { type: "string" } },
    ];
    const fake = join(import.meta.dirname, "../../mcp/test/servers/fake.ts");
    await run(["add", "s", "--", process.execPath, fake, JSON.stringify({ tools })]);
    await run(["add", "broken", "--", "/bin/sh", "-c", "echo '\u001b[31mno config' >&2; exit 4"]);
    const { status, out } = await run(["test"]);
    expect(status).toBe(1);
    expect(out.split("\n")).toEqual([
      "s  1 tool, MCP 2025-11-25",
      "  mcp__s__good  Does good.",
      '  "\\u001b[31mbad" is not used: its input is of type "string", not object',
      "broken  it ended with exit status 4: no config",
      "",
    ]);
    const json = (await run(["test", "s", "--json"])).out;
    expect(JSON.parse(json)).toMatchObject({
      name: "s",
      state: "ready",
      tools: [{ name: "mcp__s__good", tool: "good" }],
      dropped: [{ tool: "\u001b[31mbad" }],
    });
  });
});

describe("import", () => {
  test("takes over Claude's and Codex's own files, and leaves what is there", async () => {
    const claude = {
      mcpServers: { shared: { type: "stdio", command: "npx", args: ["a"], env: { K: "${K}" } }, old: { type: "sse", url: "http://x" } },
      projects: {
        [join(folder, "project")]: { mcpServers: { here: { type: "http", url: "https://h/mcp", headers: { A: "b" } } } },
        "/other": { mcpServers: { not: { command: "x" } } },
      },
    };
    writeFileSync(join(folder, ".claude.json"), JSON.stringify(claude));
    mkdirSync(join(folder, ".codex"));
    writeFileSync(
      join(folder, ".codex/config.toml"),
      'model = "x"\n[mcp_servers.shared]\ncommand = "other"\n[mcp_servers.remote]\nurl = "https://r/mcp"\nbearer_token_env_var = "R_TOKEN"\nstartup_timeout_sec = 20\n[mcp_servers.envs]\ncommand = "e"\nenv_vars = ["GH"]\nenabled = false\nenabled_tools = ["t"]\n',
    );
    const first = await run(["import", "--from", "claude"]);
    expect(first.err).toContain("imported: shared\nimported: here\n");
    expect(first.err).toContain("not imported: old: it speaks the older transport over SSE alone");
    expect((await run(["import", "--from", "codex"])).err).toContain("not imported: shared: you have a server of this name");
    expect(parse(config())["mcp"]).toEqual({
      shared: { command: "npx", args: ["a"], env: { K: "${K}" } },
      here: { url: "https://h/mcp", headers: { A: "b" } },
      remote: { url: "https://r/mcp", headers: { Authorization: "Bearer ${R_TOKEN}" }, startup_timeout_ms: 20_000 },
      envs: { command: "e", env: { GH: "${GH}" }, enabled: false, tools: ["t"] },
    });
  });

  test("leaves out what lies so deep that reading it would end the program", () => {
    const args: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    const { servers, skipped } = readForeign({ mcpServers: { deep: { command: "x", args }, good: { command: "y", args: ["z"] } } }, null);
    expect(servers).toEqual([{ name: "good", entry: { command: "y", args: ["z"] } }]);
    expect(skipped).toEqual([{ name: "deep", why: "its values lie too deep" }]);
  });

  test("makes legal names and keeps two apart, and takes nonsense for none", () => {
    const { servers, skipped } = readForeign(
      { mcpServers: { "my server!": { command: "a" }, "my/server/": { command: "b" }, empty: {} }, servers: { code: { command: "c" } } },
      null,
    );
    expect(servers.map(({ name }) => name)).toEqual(["my-server-", "code"]);
    expect(skipped.map(({ name }) => name)).toEqual(["my/server/", "empty"]);
    for (const nonsense of [null, 3, [], { mcpServers: [1] }, { mcpServers: { a: 3 } }])
      expect(readForeign(nonsense, "/x").servers).toEqual([]);
  });
});

describe("a project's .mcp.json", () => {
  const write = (servers: object) => writeFileSync(join(folder, "project/.mcp.json"), JSON.stringify({ mcpServers: servers }));
  const trust = (...args: string[]) => {
    const io = fakeIo({ cwd: join(folder, "project"), home: home(), env: { HOME: folder, HOLDFAST_HOME: home() } });
    return main(["trust", ...args], io).then(() => io.err());
  };

  test("is nothing before trust; then each server counts once it was accepted as it is", async () => {
    write({
      docs: { command: "one" },
      secret: { command: "x", env: { K: "${OPENAI_API_KEY}" } },
      http: { type: "http", url: "http://x/mcp", headers: { A: "b" } },
    });
    expect((await run(["list"])).out).toBe("");
    expect(await trust()).toContain("mcp.docs  not accepted");
    expect((await run(["list"])).out).toBe("docs  the project's, not accepted: holdfast trust shows it\n");
    await trust("--all");
    expect((await run(["list"])).out).toBe("docs  the project's  one\n");
    write({ docs: { command: "two" } });
    expect((await run(["list"])).out).toContain("not accepted");
  });

  test("says of each server that is left out why, wherever servers are shown", async () => {
    const path = join(folder, "project/.mcp.json");
    const shown = async (): Promise<string[]> => [await trust(), (await run(["list"])).err, (await run(["test"])).err];
    write({
      docs: { command: "one" },
      secret: { command: "x", env: { K: "${OPENAI_API_KEY}" } },
      old: { type: "sse", url: "http://x" },
      "\u001b[2Jred": {},
    });
    for (const text of await shown()) {
      expect(text).toContain("secret is left out: it wants values from your environment");
      expect(text).toContain("old is left out: it speaks the older transport over SSE alone");
      expect(text).toContain("red is left out: ");
      expect(text).not.toContain("\u001b");
      expect(text).not.toContain("docs is left out");
    }
    writeFileSync(path, "{");
    for (const text of await shown()) expect(text).toContain(".mcp.json: ignored: it is not valid JSON");
    writeFileSync(path, `[${" ".repeat(300_000)}]`);
    for (const text of await shown()) expect(text).toContain(".mcp.json: ignored: ");
  });

  test("can't replace a server of the user's, and a broken one stops nothing", async () => {
    await run(["add", "docs", "--", "mine"]);
    write({ docs: { command: "theirs" } });
    await trust();
    await trust("--all");
    expect((await run(["list"])).out).toBe("docs  yours  mine\n");
    writeFileSync(join(folder, "project/.mcp.json"), "{");
    expect((await run(["list"])).out).toBe("docs  yours  mine\n");
  });
});
