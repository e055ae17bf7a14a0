import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultConfig, loadConfig } from "../src/config/config.ts";
import { ensureHome, writeAtomically } from "../src/config/home.ts";
import { chooseModel, endpointOf } from "../src/config/model-choice.ts";
import { secretValues } from "../src/config/provider.ts";
import { distrust, isDistrusted, isTrusted, readTrust, trust, trustPath } from "../src/config/trust-store.ts";
import { assertWorkable, findWorkspace, workspaceRoots } from "../src/config/workspace.ts";

let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-config-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The config of a user's file with this text. */
async function configOf(text: string) {
  await writeFile(join(folder, "config.toml"), text);
  return (await loadConfig({ home: folder, project: null, isTrusted: false, env: {} })).config;
}

const whole = `
model = "local/qwen"
[providers.local]
base_url = "http://127.0.0.1:11434/v1/"
api_key_env = "LOCAL_KEY"
wire = "chat"
context_window = 32768
[limits]
preset = "strict"
max_tokens = 1000000
timeout = "30m"
`;

test("a whole config is read", async () => {
  const config = await configOf(whole);
  expect(config).toEqual({
    ...defaultConfig,
    models: { main: "local/qwen" },
    model: "local/qwen",
    providers: { local: { baseUrl: "http://127.0.0.1:11434/v1/", apiKeyEnv: "LOCAL_KEY", wire: "chat", contextWindow: 32768 } },
    limits: { preset: "strict", maxTokens: 1_000_000, timeoutMs: 1_800_000 },
  });
  const env = { LOCAL_KEY: "local-secret", OPENAI_API_KEY: "openai-secret" };
  expect(endpointOf("local/qwen", config, env)).toMatchObject({
    name: "local",
    model: "qwen",
    wire: "chat",
    baseUrl: "http://127.0.0.1:11434/v1",
    apiKey: "local-secret",
    contextWindow: 32768,
  });
  expect(chooseModel(undefined, config, env, "/")).toBe("local/qwen");
  expect(chooseModel("openai/x", config, env, "/")).toBe("openai/x");
  expect(chooseModel("script:demo.yaml", config, env, "/project")).toBe("script:/project/demo.yaml");
  expect(secretValues(config, env).toSorted()).toEqual(["local-secret", "openai-secret"]);
  expect(() => endpointOf("local/qwen", config, {})).toThrow(/no key for local: LOCAL_KEY is not set/);
});

test.each([
  ['modle = "x"', 'c.toml:1: unknown key "modle"', "did you mean model?"],
  ['model = "a/b"\n\n[limits]\nmax_step = 3', 'c.toml:4: unknown key "max_step" in [limits]', "did you mean max_steps?"],
  ['[providers.local]\nbase_url = "http://x"\nurl = "y"', 'c.toml:3: unknown key "url" in [providers.local]', "known keys"],
  ['[providers.local]\nwire = "grpc"', "c.toml:2: wire is not one of responses, chat, messages, gemini", "undefined"],
  ["[limits]\nmax_steps = 0", "c.toml:2: max_steps is not a whole number above 0", "undefined"],
  ['[limits]\ntimeout = "soon"', 'c.toml:2: timeout is not a time such as 90, "30m" or "2h"', "undefined"],
  [
    'providers.local.base_url = "ftp://x"',
    'c.toml:1: base_url is not an http(s) URL without user name and password, such as "http://127.0.0.1:11434/v1"',
    "undefined",
  ],
  ['[providers.a]\napi_key = "k"\napi_key_env = "K"', "c.toml:3: api_key and api_key_env are both set", "keep one"],
  ["providers = 3", "c.toml:1: providers is not a table", "write [providers.NAME]"],
  ['model = "x', "c.toml:1: this is not valid TOML: unfinished string", "toml.io"],
])("the config %j is refused with file, line and what to do", async (text, message, hint) => {
  const error = await configOf(text).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "config_invalid", message: message.replace("c.toml", join(folder, "config.toml")) });
  expect(String((error as { hint?: string }).hint)).toContain(hint);
});

const many = (text: string, count: number, between = "") => Array.from({ length: count }, () => text).join(between);
test.each([
  ["a dotted key", `model = "a/b"\n${many("a", 60_000, ".")} = 1`, 2],
  ["a table", `\n\n[${many("a", 60_000, ".")}]\n${many("b=1\n", 1)}`, 3],
  ["a list of tables", `[[${many("a", 60_000, ".")}]]`, 1],
  ["an inline table", `\na = { ${many("a", 60_000, ".")} = 1 }`, 2],
  ["lists in lists", `a = ${many("[", 900)}${many("]", 900)}`, 1],
  ["a dotted key far down", `[limits]\n${many("# x\n", 1_000)}${many("max", 60_000, ".")} = 1`, 1_002],
  ["a name", `[mcp.${many("a", 100_000)}]\n${Array.from({ length: 15_000 }, (_, at) => `k${at}=1\n`).join("")}`, 1],
])("config: %s that goes too deep or is too long is refused with its line, and nothing goes down with it", async (_, text, line) => {
  expect(await configOf(text).catch((caught: unknown) => caught)).toMatchObject({
    code: "config_invalid",
    message: `${join(folder, "config.toml")}:${line}: this key lies too deep, or its name is too long`,
  });
});

test("a key in a broken config is not repeated in the error", async () => {
  const error = (await configOf('[providers.a]\napi_key = "sk-very-secret').catch((caught: unknown) => caught)) as Error & {
    hint: string;
  };
  expect(error.message + error.hint).not.toContain("sk-very");
});

test("the home is closed to everybody else, also one that was open", async () => {
  const home = join(folder, "home");
  await mkdir(home, { mode: 0o755 });
  await chmod(home, 0o755);
  await ensureHome(home);
  expect((await stat(home)).mode & 0o777).toBe(0o700);
});

test("a file is replaced whole, keeps its mode, and a link to it stays a link", async () => {
  const file = join(folder, "file");
  await writeFile(file, "old", { mode: 0o640 });
  await chmod(file, 0o640);
  await symlink(file, join(folder, "link"));
  await writeAtomically(join(folder, "link"), "new", 0o600);
  expect(await readFile(file, "utf8")).toBe("new");
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  await writeAtomically("/dev/null", "gone", 0o600);
  expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
});

test("trust is kept by real path, for exactly this folder, privately", async () => {
  const home = join(folder, "home");
  const project = join(folder, "project");
  await mkdir(join(project, "vendor"), { recursive: true });
  await symlink(project, join(folder, "alias"));
  expect(await isTrusted(home, project)).toBe(false);
  await trust(home, join(folder, "alias"), new Date(0));
  expect(await readTrust(home)).toEqual({ [project]: "1970-01-01T00:00:00.000Z" });
  expect(await isTrusted(home, project)).toBe(true);
  expect(await isTrusted(home, join(project, "vendor"))).toBe(false);
  expect((await stat(trustPath(home))).mode & 0o777).toBe(0o600);
  expect(await distrust(home, project, new Date())).toBe(true);
  expect(await distrust(home, project, new Date())).toBe(false);
  expect(await isTrusted(home, project)).toBe(false);
  expect(await isDistrusted(home, project)).toBe(true);
  await trust(home, project, new Date(0));
  expect([await isTrusted(home, project), await isDistrusted(home, project)]).toEqual([true, false]);
});

test("trust holds for what was in the folder: another repository in its place has none, nor has one where there was none", async () => {
  const home = join(folder, "home");
  const origin = (name: string) => `[remote "origin"]\n\turl = https://host/${name}\n`;
  const plain = join(folder, "plain");
  await mkdir(plain);
  await trust(home, plain, new Date());
  expect(await isTrusted(home, plain)).toBe(true);
  await mkdir(join(plain, ".git"));
  await writeFile(join(plain, ".git/config"), origin("strangers"));
  expect([await isTrusted(home, plain), await isDistrusted(home, plain)]).toEqual([false, true]);
  // A linked work tree has its settings where the first one has them.
  const [first, linked] = [join(folder, "first"), join(folder, "linked")];
  await mkdir(join(first, ".git/worktrees/linked"), { recursive: true });
  await mkdir(linked);
  await writeFile(join(first, ".git/config"), origin("own"));
  await writeFile(join(first, ".git/worktrees/linked/commondir"), "../..\n");
  await writeFile(join(linked, ".git"), `gitdir: ${join(first, ".git/worktrees/linked")}\n`);
  await trust(home, linked, new Date());
  expect(await isTrusted(home, linked)).toBe(true);
  await writeFile(join(first, ".git/config"), origin("strangers"));
  expect(await isTrusted(home, linked)).toBe(false);
});

test("a damaged trust store grants nothing and is not written over", async () => {
  const home = join(folder, "home");
  await ensureHome(home);
  await writeFile(trustPath(home), "{ broken");
  await expect(isTrusted(home, folder)).rejects.toMatchObject({ code: "config_invalid" });
  await expect(trust(home, folder, new Date())).rejects.toMatchObject({ code: "config_invalid" });
  expect(await readFile(trustPath(home), "utf8")).toBe("{ broken");
});

test("the workspace is the git work tree around the folder, but not a home folder kept in git", async () => {
  await mkdir(join(folder, ".git"));
  await mkdir(join(folder, "a/b"), { recursive: true });
  expect(await findWorkspace("a/b", folder, { HOME: "/nowhere" })).toEqual({ cwd: join(folder, "a/b"), root: folder });
  expect(await findWorkspace("a/b", folder, { HOME: folder })).toEqual({ cwd: join(folder, "a/b"), root: join(folder, "a/b") });
  expect(await findWorkspace(".", folder, { HOME: folder })).toEqual({ cwd: folder, root: folder });
});

test("folders added to the workspace are roots once, beside the project and not around it", async () => {
  await mkdir(join(folder, "project/inner"), { recursive: true });
  await mkdir(join(folder, "other/deep"), { recursive: true });
  await symlink(join(folder, "other"), join(folder, "link"));
  const project = { cwd: join(folder, "project"), root: join(folder, "project") };
  const roots = async (...added: string[]) => (await workspaceRoots(project, added, folder)).map(({ id, path }) => [id, path]);
  const own = ["root", project.root];
  expect(await roots()).toEqual([own]);
  expect(await roots("project", "project/inner")).toEqual([own]);
  expect(await roots("link/deep", "other", "link")).toEqual([own, ["root2", join(folder, "other")]]);
  await expect(roots(".")).rejects.toMatchObject({ code: "workspace_invalid", message: expect.stringContaining("holds the project") });
  await expect(roots("none")).rejects.toMatchObject({ code: "workspace_invalid" });
});

test("the whole machine is no workspace", async () => {
  const workspace = await findWorkspace("/", folder, {});
  expect(workspace).toEqual({ cwd: "/", root: "/" });
  expect(() => assertWorkable(workspace)).toThrow("the whole machine");
});
