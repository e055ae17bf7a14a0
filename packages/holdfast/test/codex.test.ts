import { expect, test } from "vitest";
import { fromCodex } from "../src/codex/translate.ts";
import { command } from "../src/commands/exec.ts";

/** Flags and words that `exec` gets for what the SDK gives Codex. */
async function translated(given: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { argv, notes } = await fromCodex(command, ["--experimental-json", ...given], env);
  expect(argv[0]).toBe("--experimental-json");
  return { argv: argv.slice(1), notes };
}
const ofConfig = async (...given: string[]) => translated(given.flatMap((one) => ["--config", one]));

test("the flags that the SDK sends become those of exec, and the prompt is read from standard input", async () => {
  const given = [
    ...["--config", 'openai_base_url="http://127.0.0.1:1/v1"', "--model", "gpt-5.1-codex", "--thread-source", "app"],
    ...["--sandbox", "workspace-write", "--cd", "/w", "--add-dir", "/a", "--add-dir", "/b", "--skip-git-repo-check"],
    ...["--output-schema", "/tmp/s.json", "--cyber-access-program", "standard"],
    ...["--config", 'model_reasoning_effort="high"', "--config", "sandbox_workspace_write.network_access=true"],
    ...["--config", 'web_search="disabled"', "--config", 'approval_policy="never"', "--image", "/i.png"],
  ];
  const { argv, notes } = await translated(given, { CODEX_API_KEY: "k" });
  expect(argv).toEqual([
    ...["--cd=/w", "--add-dir=/a", "--add-dir=/b", "--output-schema=/tmp/s.json", "--image=/i.png"],
    ...["--model=openai/gpt-5.1-codex", "--effort=high", "--sandbox=workspace-write", "--approvals=deny"],
    '--config=providers.openai.base_url="http://127.0.0.1:1/v1"',
    "--config=web.search.enabled=false",
    "--allow-net=all",
    '--config=providers.openai.api_key_env="CODEX_API_KEY"',
    "-",
  ]);
  expect(notes).toEqual(["--thread-source means nothing here and is ignored", "--cyber-access-program means nothing here and is ignored"]);
});

test("a thread that goes on is named before the prompt; a wrapper's own flags and prompt pass", async () => {
  expect((await translated(["--cd", "/w", "resume", "ses_1", "--image", "i.png"])).argv).toEqual([
    "--cd=/w",
    "--image=i.png",
    "resume",
    "ses_1",
    "-",
  ]);
  expect((await translated(["resume", "--last"])).argv).toEqual(["--last", "resume", "-"]);
  const wrapped = await translated(["--check", "npm test", "--approvals", "deny", "--config", 'approval_policy="on-request"', "go on"]);
  expect(wrapped.argv).toEqual(["--check=npm test", "--approvals=deny", "go on"]);
});

test.each([
  ["gpt-5", undefined, "openai/gpt-5"],
  ["ollama/qwen3", undefined, "ollama/qwen3"],
  ["script:x.yaml", undefined, "script:x.yaml"],
  ["meta/llama", "openrouter", "openrouter/meta/llama"],
])("the model %s of provider %s is %s", async (model, provider, full) => {
  const { argv } = await translated(["--model", model, ...(provider === undefined ? [] : ["--config", `model_provider="${provider}"`])]);
  expect(argv[0]).toBe(`--model=${full}`);
});

test("a flag counts for more than the config, and of two values of a key the later", async () => {
  const { argv } = await translated([
    "--model",
    "b",
    "--sandbox",
    "read-only",
    "--config",
    'model="a"',
    "--config",
    "sandbox_mode=danger-full-access",
  ]);
  expect(argv).toEqual(["--model=openai/b", "--sandbox=read-only", "-"]);
  expect((await ofConfig('model="a"', 'model="b"')).argv[0]).toBe("--model=openai/b");
});

test.each([
  ["danger-full-access", "--sandbox=off", 0],
  ["read-only", "--sandbox=read-only", 1],
  [undefined, undefined, 1],
] as const)("the network is never opened beside the sandbox %s", async (mode, flag, told) => {
  const { argv, notes } = await translated([
    ...(mode === undefined ? [] : ["--sandbox", mode]),
    ...["--config", "sandbox_workspace_write.network_access=true"],
  ]);
  expect(argv).toEqual([...(flag === undefined ? [] : [flag]), "-"]);
  expect(notes).toHaveLength(told);
});

test("network access that is taken away takes away what the user's config gives", async () => {
  expect((await ofConfig("sandbox_workspace_write.network_access=false")).argv).toEqual(["--config=sandbox.allow_net=[]", "-"]);
});

test.each([
  ["never", "deny"],
  ["on-request", "ask"],
  ["on-failure", "ask"],
  ["untrusted", "ask"],
  ["whatever", "deny"],
])("no approval policy lets anything through: %s is %s", async (policy, approvals) => {
  expect((await ofConfig(`approval_policy="${policy}"`)).argv[0]).toBe(`--approvals=${approvals}`);
});

test("MCP servers and providers, given whole or key by key, become Holdfast's", async () => {
  const { argv, notes } = await ofConfig(
    'mcp_servers.a={command = "a b", args = ["-x"], env = {K = "v"}, env_vars = ["HOME"], startup_timeout_sec = 2.5, oauth = {x = 1}}',
    'mcp_servers."b.c".url="https://example.org"',
    'mcp_servers."b.c".bearer_token_env_var="TOKEN"',
    'mcp_servers."b.c".enabled_tools=["t"]',
    'model_providers.mine={name = "Mine", base_url = "http://127.0.0.1:2/v1", env_key = "MINE", wire_api = "chat", query_params = {v = "1"}}',
  );
  expect(argv.slice(0, -1).map((one) => one.replace("--config=", ""))).toEqual([
    'mcp.a.command="a b"',
    'mcp.a.args=["-x"]',
    'mcp.a.env.K="v"',
    'mcp.a.env.HOME="${HOME}"',
    "mcp.a.startup_timeout_ms=2500",
    'mcp."b.c".url="https://example.org"',
    'mcp."b.c".headers.Authorization="Bearer ${TOKEN}"',
    'mcp."b.c".tools=["t"]',
    'providers.mine.base_url="http://127.0.0.1:2/v1"',
    'providers.mine.api_key_env="MINE"',
    'providers.mine.wire="chat"',
  ]);
  expect(notes).toEqual([
    "mcp_servers.a.oauth.x means nothing here and is ignored",
    "model_providers.mine.query_params.v means nothing here and is ignored",
  ]);
});

test("only tools that the program approves itself are called without asking", async () => {
  const allowed = async (...given: string[]) => (await ofConfig(...given)).argv.filter((one) => one.includes(".allow="));
  expect(await allowed('mcp_servers.a.command="x"', 'mcp_servers.a.tools.t.approval_mode="prompt"')).toEqual([]);
  expect(await allowed('mcp_servers.a.tools.t.approval_mode="approve"')).toEqual(['--config=mcp.a.allow=["t"]']);
  expect(await allowed('mcp_servers.a.default_tools_approval_mode="approve"')).toEqual(['--config=mcp.a.allow=["*"]']);
  const excepted = ['mcp_servers.a.default_tools_approval_mode="approve"', 'mcp_servers.a.tools.t.approval_mode="prompt"'];
  expect(await allowed(...excepted)).toEqual([]);
});

test("facts of the model go with it, Holdfast's own keys pass, and what means nothing is named without its value", async () => {
  const { argv, notes } = await ofConfig(
    'model="gpt-5"',
    "model_context_window=1000",
    "model_auto_compact_token_limit=900",
    'checks.commands=["npm test", "say \\"é\\""]',
    'developer_instructions="secret-text"',
  );
  expect(argv.slice(1, -1)).toEqual([
    '--config=model."openai/gpt-5".context_window=1000',
    "--config=compaction.trigger_tokens=900",
    '--config=checks.commands=["npm test", "say \\"é\\""]',
  ]);
  expect(notes).toEqual(["developer_instructions means nothing here and is ignored"]);
});

test.each(['default_permissions=":read-only"', 'permissions.p.filesystem={"/x" = "none"}'])(
  "%s only takes away: leaving it out is refused",
  async (given) => {
    await expect(ofConfig(given)).rejects.toMatchObject({ code: "usage" });
  },
);
