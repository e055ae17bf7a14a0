import { createServer, type Server } from "node:http";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { main } from "../src/program.ts";
import type { ModelSurvey } from "../src/session/models.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
let server: Server;
let port = 0;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-models-")));
  await mkdir(join(folder, "home"));
  const answers: Readonly<Record<string, unknown>> = {
    "/v1/models": { data: [{ id: "qwen3:8b" }] },
    "/api/ps": { models: [{ name: "qwen3:8b", context_length: 40_960 }] },
  };
  server = createServer((request, response) => {
    const answer = answers[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** Nothing that may run on the machine of who runs the test is asked: all local presets are elsewhere. */
const config = () => `
[models]
main = "anthropic/claude-opus-5-5"
review = "work/checker"
[model."work/checker"]
context_window = 64000
price_input = 0.5
price_output = 2
[providers.work]
base_url = "https://models.example/v1"
api_key_env = "WORK_KEY"
[providers.ollama]
base_url = "http://127.0.0.1:${port}/v1"
[providers.lmstudio]
base_url = "http://127.0.0.1:9/v1"
[providers.vllm]
base_url = "http://127.0.0.1:9/v1"
[providers.llama-server]
base_url = "http://127.0.0.1:9/v1"
`;

async function run(argv: readonly string[], env: Record<string, string>) {
  await writeFile(join(folder, "home", "config.toml"), config(), { mode: 0o600 });
  const io = fakeIo({ cwd: folder, home: join(folder, "home"), env });
  const status = await main(["models", ...argv], io, fakeHosts({ script: [] }));
  return { status, out: io.out(), err: io.err() };
}

test("a provider's base URL shows no value of its query", async () => {
  for (const args of [["--json"], ["--all"]]) {
    const address = 'providers.far.base_url="https://models.example/v1?key=abcdefgh12345678"';
    const { out, err } = await run([...args, "--config", address], {});
    expect(out + err).not.toContain("abcdefgh");
    expect(out + err).toContain("https://models.example/v1?key=…");
  }
});

test("a base URL of the environment that holds a password is told as a problem, without it", async () => {
  const { out } = await run(["--json"], { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://me:passw0rd@models.example/v1?key=abcdefgh" });
  const { providers } = JSON.parse(out) as ModelSurvey;
  expect(providers.find(({ provider }) => provider === "openai")).toMatchObject({
    isUsable: false,
    problem: "the base URL of openai holds a user name or password",
    baseUrl: "https://…@models.example/v1?key=…",
  });
  expect(out).not.toMatch(/passw0rd|abcdefgh/);
});

test("models --json says of each provider whether it can be used, why not, and what its models are and cost", async () => {
  const { status, out } = await run(["--json"], { ANTHROPIC_API_KEY: "sk-ant-secret-value" });
  expect(status).toBe(0);
  expect(out).not.toContain("sk-ant-secret-value");
  const survey = JSON.parse(out) as ModelSurvey;
  const of = (name: string) => survey.providers.find(({ provider }) => provider === name);
  expect(of("anthropic")).toMatchObject({
    isUsable: true,
    problem: null,
    wire: "messages",
    baseUrl: "https://api.anthropic.com/v1",
    key: "present",
    keyFrom: ["ANTHROPIC_API_KEY"],
    isReachable: null,
  });
  expect(of("anthropic")?.models).toContainEqual({
    model: "anthropic/claude-opus-5-5",
    contextWindow: 1_000_000,
    windowFrom: "table",
    maxOutput: 128_000,
    prices: { input: 4, cachedInput: 0.2, cacheWrite: 5, output: 20 },
    longPrompt: null,
  });
  expect(of("google")).toMatchObject({
    isUsable: false,
    key: "missing",
    problem: "no key for google: GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY is not set",
    hint: "export GEMINI_API_KEY=…, or keep it: holdfast secrets set GEMINI_API_KEY",
  });
  expect(of("openai-compatible")).toMatchObject({ isUsable: false, baseUrl: null, models: [] });
  expect(of("ollama")).toMatchObject({ isUsable: true, key: "not needed", isReachable: true });
  expect(of("ollama")?.models).toMatchObject([
    { model: "ollama/qwen3:8b", contextWindow: 40_960, windowFrom: "server", prices: { input: 0, output: 0 } },
  ]);
  expect(of("vllm")).toMatchObject({ isUsable: false, problem: "its server does not run", isReachable: false, models: [] });
  expect(of("work")).toMatchObject({ isUsable: false, key: "missing", keyFrom: ["WORK_KEY"] });
  expect(of("work")?.models).toMatchObject([
    { model: "work/checker", contextWindow: 64_000, prices: { input: 0.5, cachedInput: 0.5, output: 2 } },
  ]);
  expect(survey.main).toBe("anthropic/claude-opus-5-5");
  expect(survey.roles).toEqual({
    main: "anthropic/claude-opus-5-5",
    compact: "anthropic/claude-opus-5-5",
    review: "work/checker",
    judge: "anthropic/claude-opus-5-5",
    child: "anthropic/claude-opus-5-5",
  });
});

test("models shows a person the same, and the models of what can be used alone; --all those of the others too", async () => {
  const env = { ANTHROPIC_API_KEY: "sk-ant-secret-value" };
  const { out } = await run([], env);
  for (const text of ["OPENAI_API_KEY is not set", "its server does not run", "$4 / $0.2 / $20", "41.0k   free"])
    expect(out).toContain(text);
  expect(out).toMatch(/ok {2}anthropic .*key from\s+ANTHROPIC_API_KEY/);
  expect(out).toMatch(/^main {5}anthropic\/claude-opus-5-5\nreview {3}work\/checker$/m);
  expect(out).not.toContain("openai/gpt-5");
  expect((await run(["--all"], env)).out).toContain("openai/gpt-5 ");
});
