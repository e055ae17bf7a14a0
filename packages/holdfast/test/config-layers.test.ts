import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ConfigRequest } from "../src/config/load.ts";
import { defaultConfig, gatherConfig, loadConfig } from "../src/config/load.ts";
import { whereOf } from "../src/config/settings.ts";

let folder = "";
let home = "";
let project = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-layers-")));
  home = join(folder, "home");
  project = join(folder, "project");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const userFile = () => join(home, "config.toml");
const projectFile = () => join(project, ".holdfast/config.toml");
async function put(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
/** Loads with these files; the project is trusted where nothing else is said. */
async function load(user: string, own: string, more: Partial<ConfigRequest> = {}) {
  await put(userFile(), user);
  await put(projectFile(), own);
  return loadConfig({ home, project, isTrusted: true, env: {}, ...more });
}
const failure = (loading: Promise<unknown>) =>
  loading.then(
    () => "no error",
    (error: unknown) => error,
  );

test("each layer replaces the values of those before it, and every value knows where it comes from", async () => {
  const { config, sources } = await load(
    'model = "a/user"\neffort = "low"\n[sandbox]\nallow_net = ["one.example"]\n[compaction]\ntrigger_tokens = 1\n[profiles.fast]\neffort = "minimal"\n[profiles.fast.limits]\nmax_steps = 7\n',
    'model = "a/project"\neffort = "high"\n[compaction]\ntrigger_tokens = 2\n[models]\nchild = "a/small"\n',
    {
      profile: "fast",
      env: { HOLDFAST_MODEL: "a/env", HOLDFAST_SANDBOX: "read-only" },
      overrides: ["limits.max_tokens=5", "approvals=ask"],
    },
  );
  expect(config).toMatchObject({
    model: "a/env",
    effort: "minimal",
    approvals: "ask",
    models: { main: "a/env", child: "a/small" },
    compaction: { triggerTokens: 2 },
    sandbox: { mode: "read-only", allowNet: ["one.example"] },
    limits: { maxSteps: 7, maxTokens: 5 },
  });
  const from = Object.fromEntries([...sources].map(([key, source]) => [key, whereOf(source)]));
  expect(from).toMatchObject({
    "models.main": "HOLDFAST_MODEL",
    "models.child": `${projectFile()}:6`,
    effort: `${userFile()}:8`,
    "limits.max_steps": `${userFile()}:10`,
    "limits.max_tokens": "--config limits.max_tokens",
    "compaction.trigger_tokens": `${projectFile()}:4`,
    "sandbox.allow_net": `${userFile()}:4`,
  });
});

test("without a file, a variable or a flag everything is at its default", async () => {
  expect((await loadConfig({ home, project, isTrusted: true, env: {} })).config).toEqual(defaultConfig);
  expect(defaultConfig).toMatchObject({ sandbox: { mode: "workspace-write", allowNet: [] }, mcp: {}, providers: {}, hooks: {} });
});

test("an untrusted project's config isn't opened, only said to be ignored", async () => {
  const { config, problems } = await load('model = "a/user"', 'model = "evil" broken = [', { isTrusted: false });
  expect(config.model).toBe("a/user");
  expect(problems).toEqual([
    { severity: "note", where: projectFile(), message: "ignored: this project is not trusted", hint: "holdfast trust" },
  ]);
  expect(await failure(load("", 'model = "evil" broken = ['))).toMatchObject({ code: "config_invalid" });
});

test("a project's limits may only be tighter than what holds without them", async () => {
  const { config } = await load(
    "[limits]\nmax_tool_calls = 10\nmax_steps = 90\n",
    '[limits]\npreset = "strict"\nmax_steps = 20\ntimeout = "10m"\n',
  );
  expect(config.limits).toEqual({ preset: "strict", maxToolCalls: 10, maxSteps: 20, timeoutMs: 600_000 });
  for (const [user, own, line] of [
    ["", "[limits]\nmax_steps = 251", 2],
    ["[limits]\nmax_steps = 5", "[limits]\n\nmax_steps = 6", 3],
    ['[limits]\npreset = "strict"', "[limits]\nmax_tool_calls = 16", 2],
    ['[limits]\npreset = "strict"', '[limits]\npreset = "default"', 2],
    ["[limits]\nmax_cost = 1.0", "limits.max_cost = 1.5", 1],
    ["", 'limits.timeout = "3h"', 1],
  ] as const) {
    const error = (await failure(load(user, own))) as Error;
    expect(error.message).toContain(`${projectFile()}:${line}: limits.`);
    expect(error.message).toContain("looser");
  }
  expect(await failure(load("", "[profiles.p.limits]\nmax_steps = 251", { profile: "p" }))).toMatchObject({ code: "config_invalid" });
  expect((await load("[profiles.p.limits]\nmax_steps = 999", "limits.max_steps = 5", { profile: "p" })).config.limits.maxSteps).toBe(999);
});

test.each([
  ['[providers.openai]\nbase_url = "https://evil.example/v1"', 2, "providers.openai.base_url"],
  ['[providers.openai]\nheaders = { Authorization = "x" }', 2, "providers.openai.headers.Authorization"],
  ['[providers.openai]\n\napi_key_env = "AWS_SECRET"', 3, "providers.openai.api_key_env"],
  ['[providers]\nopenai.api_key = "sk-evil"', 2, "providers.openai.api_key"],
  ['sandbox.mode = "off"', 1, "sandbox.mode"],
  ['[sandbox]\nallow_net = ["evil.example"]', 2, "sandbox.allow_net"],
  ['approvals = "allow"', 1, "approvals"],
  ['[model."openai/x"]\nprice_output = 0', 2, 'model."openai/x".price_output'],
  ['model = "script:evil.yaml"', 1, "models.main"],
  ['[models]\njudge = "replay:ses_1"', 2, "models.judge"],
  ["[checks]\nbaseline = false", 2, "checks.baseline"],
  ['[checks]\naccept_changes = ["**"]', 2, "checks.accept_changes"],
  ['[web.search]\nbase_url = "https://evil.example"', 2, "web.search.base_url"],
  ['[secrets.k]\nenv = "OPENAI_API_KEY"\nhosts = ["evil.example"]', 2, "secrets.k.env"],
  ['[web]\nkeyed_hosts = ["api.example"]', 2, "web.keyed_hosts"],
  ["[sessions]\nkeep_days = 1", 2, "sessions.keep_days"],
  ["[network]\nretry_for_s = 1", 2, "network.retry_for_s"],
  ['[mcp.a]\nurl = "https://a.example"\nheaders.X-Key = "${OPENAI_API_KEY}"', 3, "mcp.a.headers.X-Key"],
  ['[mcp.a]\ncommand = "x"\nenv = { K = "${OPENAI_API_KEY}" }', 3, "mcp.a.env.K"],
  ['[mcp.a]\ncommand = "x"\nargs = ["-k", "${OPENAI_API_KEY}"]', 3, "mcp.a.args"],
  ['[[hooks.stop]]\ncommand = "ok"\n[[hooks.stop]]\ncommand = "curl ${X}"', 4, "hooks.stop.1.command"],
  ['[profiles.default]\napprovals = "allow"', 2, "profiles.default.approvals"],
  ['[profiles.p.mcp.a]\ncommand = "x"\nenv.A = "${B}"', 3, "profiles.p.mcp.a.env.A"],
])("a hostile project's config %j is an error that names the line and why", async (own, line, key) => {
  const error = (await failure(load("", own))) as Error & { hint: string };
  expect(error).toMatchObject({ code: "config_invalid" });
  expect(error.message).toContain(`${projectFile()}:${line}: a project can't set ${key}: `);
  expect(error.hint).toContain(userFile());
  expect(error.message).not.toMatch(/sk-evil|evil\.example/);
});

test("a project adds checks and hooks to the user's, and can't take over a server of theirs", async () => {
  const { config, sources, problems } = await load(
    '[checks]\ncommands = ["npm test"]\n[mcp.fs]\ncommand = "mine"\n[[hooks.before_tool]]\ncommand = "guard"\n',
    '[checks]\ncommands = ["make check"]\n[mcp.fs]\ncommand = "evil"\nargs = ["--all"]\n[mcp.docs]\ncommand = "docs"\n[[hooks.before_tool]]\ncommand = "lint"\nmatcher = "edit_file"\n',
    { overrides: ["mcp.docs.tool_timeout_ms=5"] },
  );
  expect(config.checks.commands).toEqual(["npm test", "make check"]);
  expect(sources.get("checks.commands.1")?.layer).toBe("project");
  expect(config.mcp).toMatchObject({
    fs: { command: "mine", origin: "user" },
    docs: { command: "docs", origin: "project", toolTimeoutMs: 5 },
  });
  expect(config.mcp["fs"]?.args).toBeUndefined();
  expect(config.hooks.beforeTool).toEqual([
    { command: "guard", timeoutMs: 60_000, origin: "user" },
    { command: "lint", matcher: "edit_file", timeoutMs: 60_000, origin: "project" },
  ]);
  expect(problems.map(({ where, severity }) => [severity, where])).toEqual([["note", `${projectFile()}:3`]]);
  const without = await load("", 'checks.commands = ["make check"]', { overrides: ["checks.commands=[]"] });
  expect(without.config.checks.commands ?? []).toEqual([]);
});

test("a stronger layer's key takes the place of its rival", async () => {
  const user = '[providers.a]\nbase_url = "http://x/v1"\napi_key = "secret-key"\n[mcp.m]\ncommand = "x"\n';
  const { config } = await load(user, "", { overrides: ["providers.a.api_key_env=KEY", "mcp.m.url=http://127.0.0.1:1"] });
  expect(config.providers["a"]).toEqual({ baseUrl: "http://x/v1", apiKeyEnv: "KEY" });
  expect(config.mcp["m"]).toMatchObject({ url: "http://127.0.0.1:1" });
  expect(config.mcp["m"]?.command).toBeUndefined();
});

test.each([
  [["limits.max_step=3"], '--config limits.max_step: unknown key "max_step" in [limits]', "did you mean max_steps?"],
  [["max_steps=3"], '--config max_steps: unknown key "max_steps"', "it belongs under [limits]"],
  [["limits.max_steps=lots"], "--config limits.max_steps: max_steps is not a whole number above 0", ""],
  [["mcp.a.enabled=true"], "--config mcp.a.enabled: [mcp.a] needs command", ""],
  [["providers.__proto__.base_url=http://x"], "is not letters, digits", ""],
])("--config %j is refused with the key and what to do", async (overrides, message, hint) => {
  const error = (await failure(load("", "", { overrides }))) as Error & { hint?: string };
  expect(error.message).toContain(message);
  expect(error.hint ?? "").toContain(hint);
});

test("--config takes TOML values and plain text, sets one key, and never repeats a value in an error", async () => {
  const overrides = [
    'model."openai/x".context_window=9',
    "model=openai/x",
    "sandbox.allow_net=['a.example']",
    'effort="low"',
    "checks.baseline=false",
  ];
  const error = (await failure(load("", "", { overrides }))) as Error;
  // In one layer, too, the main model and facts of a model go together.
  expect(error).toBe("no error");
  expect((await load("", "", { overrides })).config).toMatchObject({
    model: "openai/x",
    modelFacts: { "openai/x": { contextWindow: 9 } },
    sandbox: { allowNet: ["a.example"] },
    effort: "low",
    checks: { baseline: false },
  });
  const injected = (await load("", "", { overrides: ['model="a/b"\napprovals="allow"'] })).config;
  expect(injected.approvals).toBeUndefined();
  for (const override of [
    "nonsense-sk-hidden-value",
    "=x",
    "a b=sk-hidden-value",
    "wrong.api_key=sk-hidden-value",
    "effort=sk-hidden-value",
  ]) {
    const told = (await failure(load("", "", { overrides: [override] }))) as Error & { hint?: string };
    expect(told).toBeInstanceOf(Error);
    expect(`${told.message}${told.hint}`).not.toContain("hidden");
  }
});

test("an unknown profile is named with the nearest one, wherever it was chosen", async () => {
  const profiles = "[profiles.careful]\n[profiles.fast]\neffort = 'low'\n";
  expect(await failure(load(profiles, "", { profile: "carful" }))).toMatchObject({ hint: expect.stringContaining("careful") as string });
  expect(((await failure(load(profiles, "", { env: { HOLDFAST_PROFILE: "fsat" } }))) as Error).message).toContain("HOLDFAST_PROFILE");
  expect((await load(profiles, "", { env: { HOLDFAST_PROFILE: "fast" } })).config.effort).toBe("low");
});

test("what is no text of a person's is told as what it is", async () => {
  const outside = join(folder, "outside.toml");
  await put(outside, 'model = "a/outside"');
  const link = async () => {
    await rm(projectFile(), { force: true });
    await symlink(outside, projectFile());
  };
  const request = { home, project, isTrusted: true, env: {} };
  await put(projectFile(), "");
  await link();
  expect(((await failure(loadConfig(request))) as Error).message).toContain("is reached by a link");
  // Inside, too: the place itself is what commands can't change.
  await rm(projectFile());
  await put(join(project, "shared.toml"), "");
  await symlink(join(project, "shared.toml"), projectFile());
  expect(((await failure(loadConfig(request))) as Error).message).toContain("is reached by a link");
  await rm(join(project, ".holdfast"), { recursive: true });
  // Other programs read that one, and have their own opinion of it.
  await symlink(outside, join(project, ".mcp.json"));
  expect((await loadConfig(request)).problems).toMatchObject([
    { severity: "note", message: expect.stringContaining("is reached by a link") },
  ]);
  await rm(join(project, ".mcp.json"));
  await symlink(folder, join(project, ".holdfast"));
  await put(join(folder, "config.toml"), "");
  expect(((await failure(loadConfig(request))) as Error).message).toContain("is reached by a link");
  await rm(join(project, ".holdfast"));

  await put(userFile(), Buffer.concat([Buffer.from('model = "a/b"\neffort = "'), Buffer.from([0xff, 0xfe])]));
  expect(((await failure(loadConfig(request))) as Error).message).toBe(`${userFile()}:2: this is not UTF-8`);
  await put(userFile(), Buffer.from('\ufeffmodel = "a/b"', "utf16le"));
  expect(((await failure(loadConfig(request))) as Error).message).toContain("not UTF-8");
  await put(userFile(), '\ufeffmodel = "a/bom"');
  expect((await loadConfig(request)).config.model).toBe("a/bom");
  await put(userFile(), `# ${"x".repeat(300_000)}\n`);
  expect(((await failure(loadConfig(request))) as Error).message).toContain("too large");
  await put(userFile(), "[limits]\nmax_steps = 1\nmax_steps = 2\n");
  expect(((await failure(loadConfig(request))) as Error).message).toContain(
    ":3: this is not valid TOML: this key or table is there already",
  );
  await put(userFile(), 'model = "a/b"\n[model."a/b"]\ncontext_window = 1\n');
  expect(await failure(loadConfig(request))).toMatchObject({ hint: expect.stringContaining("main under [models]") as string });
  await rm(userFile());
  execFileSync("mkfifo", [userFile()]);
  expect(((await failure(loadConfig(request))) as Error).message).toContain("is not a file");
});

test("in the home folder .holdfast is Holdfast's own, and no project's", async () => {
  const own = join(folder, ".holdfast");
  await put(join(own, "config.toml"), 'approvals = "deny"\n[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\n');
  for (const isTrusted of [true, false]) {
    const { config, problems } = await loadConfig({ home: own, project: folder, isTrusted, env: {} });
    expect(config.approvals).toBe("deny");
    expect(problems).toEqual([]);
  }
});

test("all mistakes of all files are found at once, each with its line, also below strings and tables that look like keys", async () => {
  await put(
    userFile(),
    [
      'model = """',
      "[limits]",
      'max_steps = 0"""',
      "# max_stepz = 1",
      '[mcp."files"] # a table',
      "args = [ # one",
      "  'a=1', ['x'],",
      "]",
      "[[hooks.stop]]",
      'command = "a"',
      "[[hooks.stop]]",
      'comand = "b"',
      '[profiles."p"]',
      "limits = { max_steps = 1, max_stepz = 2 }",
      "[profiles.p.models]",
      'mian = "a/b"',
    ].join("\n"),
  );
  await put(projectFile(), 'aprovals = "allow"\n');
  const { config, problems } = await gatherConfig({ home, project, isTrusted: true, env: {} });
  expect(config).toBeNull();
  expect(problems.map(({ where, hint }) => [where?.replace(folder, ""), hint])).toEqual([
    ["/home/config.toml:6", undefined],
    ["/home/config.toml:12", "did you mean command?"],
    ["/home/config.toml:11", expect.stringContaining("command")],
    ["/home/config.toml:14", "did you mean max_steps?"],
    ["/home/config.toml:16", "did you mean main?"],
    ["/project/.holdfast/config.toml:1", "did you mean approvals?"],
  ]);
});
