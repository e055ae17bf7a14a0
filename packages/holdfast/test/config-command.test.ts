import { lstat, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acceptPath, isAccepted } from "../src/config/accept-store.ts";
import { projectDefinitions } from "../src/config/definitions.ts";
import { loadConfig } from "../src/config/load.ts";
import { main } from "../src/program.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";

let home = "";
let project = "";
beforeEach(async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-config-command-")));
  home = join(folder, "home");
  project = join(folder, "project");
  await mkdir(home);
  await mkdir(join(project, ".holdfast"), { recursive: true });
});
afterEach(() => rm(join(home, ".."), { recursive: true, force: true }));

const own = (text: string) => writeFile(join(project, ".holdfast/config.toml"), text);
const mine = (text: string) => writeFile(join(home, "config.toml"), text);
async function run(...argv: string[]) {
  const io = fakeIo({ cwd: project, home, env: { OPENAI_API_KEY: "k" } });
  const status = await main(argv, io, fakeHosts({ script: [{ text: "ok", repeat: 9 }] }));
  return { status, out: io.out(), err: io.err() };
}

test("config show names each value with its place, and hides what is secret", async () => {
  await mine(
    '[providers.a]\nbase_url = "https://a.example/v1?key=query-secret"\napi_key = "very-secret-key"\nheaders.X-Team = "team-secret"\n[mcp.m]\ncommand = "m"\nargs = ["postgres://me:pass-word@db/x", "--token=ghp_0123456789012345678901234567890123456789"]\nenv.TOKEN = "env-secret"\n',
  );
  await own("[limits]\nmax_steps = 20\n");
  await run("trust");
  const { status, out } = await run("config", "show", "--config", "effort=low");
  expect(status).toBe(0);
  expect(out).toContain(`limits.max_steps = 20  # ${join(project, ".holdfast/config.toml")}:2\n`);
  expect(out).toContain('effort = "low"  # --config effort\n');
  expect(out).toContain('sandbox.mode = "workspace-write"  # built-in\n');
  expect(out).toContain("limits.max_tool_calls = 500  # built-in\n");
  expect(out).toContain(`providers.a.api_key = …  # ${join(home, "config.toml")}:3\n`);
  const json = await run("config", "show", "--json");
  expect(out + json.out).not.toMatch(/very-secret|query-secret|pass-word|team-secret|env-secret|ghp_/);
  expect(JSON.parse((await run("config", "show", "limits.max_steps", "--json")).out)).toEqual({
    type: "setting",
    key: "limits.max_steps",
    value: 20,
    layer: "project",
    from: join(project, ".holdfast/config.toml"),
    line: 2,
    profile: null,
  });
});

test.each([
  ['[providers.work]\nbase_url = "http://user:passw0rdxyz@127.0.0.1:9/v1"', ":2: base_url"],
  ['[mcp.b]\nurl = "https://passw0rdxyz@127.0.0.1:9/mcp"', ":2: url"],
  ['[web.search]\nprovider = "searxng"\nbase_url = "http://u:passw0rdxyz@127.0.0.1:9"', ":3: base_url"],
])("config check refuses a URL with a user part, and doesn't repeat it: %s", async (text, key) => {
  await mine(text);
  const { status, out, err } = await run("config", "check");
  expect([status, err]).toEqual([2, expect.stringContaining(key)]);
  expect(err).toContain("without user name and password");
  expect(out + err).not.toContain("passw0rd");
});

test.each([
  ['[[hooks.before_tool]]\ncommand = "x"\nmatcher = "("\n', 3, "matcher is not a regular expression"],
  ['[profiles.b]\nmodel = "x"\n', 2, '"x" is not a model'],
  ['[models]\nreview = "nowhere/x"\n', 2, 'unknown provider "nowhere"'],
  ['[providers.w]\nwire = "chat"\n', 1, "no base URL for the provider w"],
])("config check tells what exec would refuse: %j", async (text, line, what) => {
  await mine(text);
  const { status, err } = await run("config", "check");
  expect(status).toBe(2);
  expect(err).toContain(`error: ${join(home, "config.toml")}:${line}: `);
  expect(err).toContain(what);
  expect(err.match(/error: /g)).toHaveLength(1);
});

test("a config that is a link to nothing is a mistake, and is not replaced", async () => {
  await symlink(join(home, "gone.toml"), join(home, "config.toml"));
  for (const argv of [
    ["config", "check"],
    ["mcp", "add", "a", "--", "x"],
    ["exec", "hi"],
  ]) {
    const { status, err } = await run(...argv);
    expect([argv, status]).toEqual([argv, 2]);
    expect(err).toContain("config.toml is a link to nothing");
  }
  expect((await lstat(join(home, "config.toml"))).isSymbolicLink()).toBe(true);
});

test("trust says of instructions what a session would obey", async () => {
  await writeFile(join(home, "elsewhere.md"), "Obey me.");
  await symlink(join(home, "elsewhere.md"), join(project, "AGENTS.md"));
  await writeFile(join(project, "CLAUDE.md"), "Or me.");
  const linked = (await run("trust")).err;
  expect(linked).toContain("not obeyed: AGENTS.md (");
  expect(linked).toContain("not obeyed: CLAUDE.md (AGENTS.md is there)");
  expect(linked).not.toContain("obeyed from now on");
  await rm(join(project, "AGENTS.md"));
  expect((await run("trust")).err).toContain("obeyed from now on: CLAUDE.md\n");
  await writeFile(join(project, "AGENTS.md"), "Obey me.");
  expect((await run("trust")).err).toContain("obeyed from now on: AGENTS.md\n");
});

test("config check tells every mistake and fails; path names the files", async () => {
  await mine('modle = "a/b"\n[limits]\nmax_steps = 0\n');
  await own('approvals = "allow"\n');
  const untrusted = await run("config", "check");
  expect(untrusted.status).toBe(2);
  for (const text of [":1: unknown key", ":3: max_steps is not", "note: ", "not trusted"]) expect(untrusted.err).toContain(text);
  await mine("");
  expect((await run("config", "check")).status).toBe(0);
  expect((await run("config", "path")).out).toContain("not trusted: ignored");
  await run("trust");
  expect((await run("config", "check")).err).toContain("a project can't set approvals");
});

test("a run takes its settings from the config, a project's where it is trusted, and flags stay the strongest", async () => {
  await mine(
    'model = "openai/x"\napprovals = "ask"\n[sandbox]\nmode = "read-only"\n[checks]\ncommands = ["npm test"]\n[profiles.open]\neffort = "high"\n',
  );
  await own('effort = "low"\n[checks]\ncommands = ["make check"]\n[limits]\nmax_steps = 9\n');
  const hosts = fakeHosts({ script: [{ text: "ok", repeat: 99 }] });
  const settingsAfter = async (...argv: string[]) => {
    const io = fakeIo({ cwd: project, home, env: { OPENAI_API_KEY: "k" } });
    await main(["exec", ...argv, "go"], io, hosts);
    const [row] = await hosts.log.list({});
    const shown = fakeIo({ cwd: project, home, env: { OPENAI_API_KEY: "k" } });
    await main(["sessions", "show", row?.session ?? "", "--json"], shown, hosts);
    const { settings, checks } = JSON.parse(shown.out()) as { settings: object; checks: { command: string; authority: string }[] };
    return { settings, checks: checks.map(({ command, authority }) => [command, authority]), err: io.err() };
  };
  const untrusted = await settingsAfter();
  expect(untrusted.settings).toMatchObject({
    model: "openai/x",
    effort: null,
    sandbox: "read-only",
    approvals: "ask",
    limits: { stepsPerTurn: 250 },
  });
  expect(untrusted.checks).toEqual([["npm test", "user"]]);
  expect(untrusted.err.replaceAll("\n", " ")).toContain("ignored: this project is not trusted");
  const trusted = await settingsAfter("--trust-project");
  expect(trusted.settings).toMatchObject({ effort: "low", sandbox: "read-only", limits: { stepsPerTurn: 9 } });
  expect(trusted.checks).toEqual([
    ["npm test", "user"],
    ["make check", "project"],
  ]);
  const flags = await settingsAfter(
    "--trust-project",
    "-p",
    "open",
    "--config",
    "sandbox.allow_net=['a.example']",
    "--max-steps",
    "99",
    "--check",
    "make check",
  );
  expect(flags.settings).toMatchObject({ effort: "high", network: ["a.example"], limits: { stepsPerTurn: 99 } });
  expect(flags.checks).toContainEqual(["make check", "user"]);
  await own('sandbox.mode = "off"\n');
  const hostile = await settingsAfter("--trust-project");
  expect(hostile.err).toContain("config.toml:1: a project can't set sandbox.mode");
});

test("a resumed session keeps its settings, but for what --config, a named profile and other flags ask now", async () => {
  await mine('model = "openai/x"\n[limits]\nmax_steps = 30\n[profiles.p]\neffort = "low"\nlimits.max_tokens = 900000\n');
  const hosts = fakeHosts({ script: [{ text: "ok", repeat: 99 }] });
  const settingsAfter = async (...argv: string[]) => {
    const io = fakeIo({ cwd: project, home, env: { OPENAI_API_KEY: "k" } });
    expect(await main(["exec", ...argv, "go"], io, hosts), io.err()).toBe(0);
    const [row] = await hosts.log.list({});
    const shown = fakeIo({ cwd: project, home, env: { OPENAI_API_KEY: "k" } });
    await main(["sessions", "show", row?.session ?? "", "--json"], shown, hosts);
    const { settings, checks } = JSON.parse(shown.out()) as { settings: unknown; checks: { command: string }[] };
    return { settings, checks: checks.map(({ command }) => command) };
  };
  await settingsAfter();
  await mine('model = "openai/x"\neffort = "high"\n[limits]\nmax_steps = 90\n[profiles.p]\neffort = "low"\nlimits.max_tokens = 900000\n');
  expect((await settingsAfter("resume", "--last")).settings).toMatchObject({ effort: null, limits: { stepsPerTurn: 30 } });
  expect((await settingsAfter("resume", "--last", "-p", "p", "--config", "limits.max_tool_calls=7")).settings).toMatchObject({
    effort: "low",
    limits: { stepsPerTurn: 30, tokensPerSession: 900_000, callsPerTurn: 7 },
  });
  const flagged = [
    "--config",
    "effort=medium",
    "--effort",
    "minimal",
    "--config",
    "sandbox.mode=read-only",
    "--config",
    "checks.commands=['npm test']",
  ];
  const last = await settingsAfter("resume", "--last", ...flagged);
  expect(last).toMatchObject({ settings: { effort: "minimal", sandbox: "read-only" }, checks: ["npm test"] });
});

test("what a project would run is shown whole, and accepted by the hash of exactly that", async () => {
  const text = '[mcp.docs]\ncommand = "docs"\nargs = ["\\u009b2K--all"]\n[[hooks.stop]]\ncommand = "make lint"\n';
  await own(text);
  const early = await run("trust", "--accept", "0123456789");
  expect(early).toMatchObject({ status: 2 });
  expect(early.err).toContain("not trusted yet");
  const shown = await run("trust");
  expect(shown.err).toContain('{"name":"docs","command":"docs","args":["\\u009b2K--all"]}');
  const definitions = async () => projectDefinitions((await loadConfig({ home, project, isTrusted: true, env: {} })).config, project);
  const accepted = async () =>
    Promise.all((await definitions()).map(({ kind, definition }) => isAccepted(home, kind, project, definition)));
  expect(await accepted()).toEqual([false, false]);
  const [mcp] = await definitions();
  expect(shown.err).toContain(mcp?.hash.slice(0, 16));

  expect((await run("doctor")).out.replaceAll(/\s+/g, " ")).toContain("as nobody accepted them: 2");
  expect((await run("trust", "--accept", "12345678")).status).toBe(2);
  expect((await run("trust", "--accept", mcp?.hash.slice(0, 16) ?? "")).status).toBe(0);
  expect(await accepted()).toEqual([true, false]);
  expect((await stat(acceptPath(home))).mode & 0o777).toBe(0o600);
  await run("trust", "--all");
  expect(await accepted()).toEqual([true, true]);

  await own(text.replace("make lint", "make lint; curl evil"));
  expect(await accepted()).toEqual([true, false]);
  await own(text.replace('docs"\nargs', 'docs"\ntool_timeout_ms = 9\nargs'));
  expect(await accepted()).toEqual([true, true]);
  await own(text);
  await run("trust", "--remove");
  await run("trust");
  expect(await accepted()).toEqual([false, false]);

  await writeFile(acceptPath(home), "{}");
  await expect(accepted()).rejects.toMatchObject({ code: "config_invalid" });
  expect(await readFile(acceptPath(home), "utf8")).toBe("{}");
});

test("config show finds what a short name stands for", async () => {
  await mine('model = "openai/m"\n');
  expect((await run("config", "show", "model")).out).toMatch(/^models\.main = "openai\/m"/);
  expect((await run("config", "check")).err).toContain("1 value is set");
});

test("trust --list says that there is nothing to list", async () => {
  expect(await run("trust", "--list")).toEqual({ status: 0, out: "", err: "no project is trusted\n" });
});

test("a local server that doesn't run is told at once, and no session is made", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  await mine(`[providers.ollama]\nbase_url = "http://127.0.0.1:${port}/v1"\n`);
  const { status, out, err } = await run("exec", "--model", "ollama/m", "go");
  expect([status, out]).toEqual([2, ""]);
  expect(err).toContain(`the server of ollama does not run: nothing listens at http://127.0.0.1:${port}/v1 (no_model)`);
  expect((await run("sessions", "list")).out).toBe("");
});

test.each([
  ["/etc/passwd", "it is no folder"],
  ["/etc/passwd/home", "a part of the path is no folder"],
  ["/proc/holdfast/home", "no folder can be made there"],
])("a home that can't be one is told, and why: %s", async (where, why) => {
  const io = fakeIo({ cwd: project, home: where, env: {} });
  expect(await main(["exec", "--model", "openai/m", "go"], io, fakeHosts({ script: [] }))).toBe(1);
  expect(io.err()).toBe(
    `holdfast: ${where} can't be the home of Holdfast: ${why} (store_failed)\nset HOLDFAST_HOME to a folder that you can write\n`,
  );
});
