import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repository } from "../pages.ts";
import type { Answer, Proposed } from "./model-server.ts";
import { startModelServer } from "./model-server.ts";

const bin = join(repository, "node_modules/.bin");

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** What a reader of the pages has: a home, a repository with a failing test, and a model, here a scripted one. */
export interface DocsPlace {
  /** Runs a line of a page in bash. Variables and the folder carry over to the next one. */
  run(line: string): Promise<Ran>;
  /** A session that has ended; the same one each time, while it is there. */
  session(): Promise<string>;
  openApproval(): Promise<string>;
  openQuestion(): Promise<string>;
  /** The hash of a hook of the project. */
  hookHash(): Promise<string>;
  /** Ends what still runs, and removes everything. */
  close(): void;
}

const broken = "export const login = (users, email) => users.get(email) ?? null;\n";
const fixed = "export const login = (users, email) => users.get(email.toLowerCase()) ?? null;\n";
const files = {
  "package.json": '{ "name": "shop", "private": true, "scripts": { "test": "sh test.sh" } }\n',
  "README.md": "# A shop\n",
  "AGENTS.md": "Tests are run with npm test.\n",
  "test.sh": "grep -q toLowerCase src/login.js\n",
  "src/login.js": "export const login = () => null;\n",
  ".mcp.json": '{ "mcpServers": { "notes": { "command": "node", "args": ["notes.js"] } } }\n',
  "report.json":
    '{ "type": "object", "properties": { "unused": { "type": "array", "items": { "type": "string" } } }, "required": ["unused"], "additionalProperties": false }\n',
};

const call = (name: string, input: object): Proposed => ({ name, input });
const finding = { file: "src/login.js", line: 1, severity: "low", title: "a name", detail: "It could be clearer.", evidence: "line 1" };
const fixes = [
  () => ({ calls: [call("read_file", { path: "src/login.js" })] }),
  () => ({ calls: [call("write_file", { path: "src/login.js", content: fixed })] }),
];
/** What the model does at each step, for a line that asks for it; the first that fits. */
const plays: readonly (readonly [asked: RegExp, steps: readonly ((results: readonly string[]) => Answer)[]])[] = [
  [
    /\breview\b/,
    [
      () => ({ calls: [call("read_change", { paths: ["?"] })] }),
      (results) => ({ calls: [call("read_change", { paths: /They are: (.*)$/m.exec(results.at(-1) ?? "")?.[1]?.split(", ") ?? ["?"] })] }),
      () => ({ text: JSON.stringify({ summary: "Read all of it.", findings: [finding] }) }),
      ...fixes,
    ],
  ],
  [/--output-schema/, [() => ({ text: '{ "unused": [] }' })]],
  [/\bpush\b/, [() => ({ calls: [call("run_command", { command: "git push origin main" })] })]],
  [/\bask me\b/, [() => ({ calls: [call("ask_user", { question: "Which database?", choices: ["the staging database", "mine"] })] })]],
  [/./, fixes],
];

export async function createDocsPlace(): Promise<DocsPlace> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-docs-"));
  const [home, workspace] = [join(folder, "home"), join(folder, "shop")];
  let line = "";
  let began = 0;
  const server = await startModelServer((results, sampling) => {
    const steps = plays.find(([asked]) => asked.test(line))?.[1] ?? [];
    return steps[sampling - began - 1]?.(results) ?? { text: "Done." };
  });
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const local = ["ollama", "lmstudio", "openrouter", "openai-compatible"];
  const known = '[model."openai/test"]\ncontext_window = 200000\nprice_input = 1.0\nprice_output = 2.0\n';
  const providers = local.map((name) => `[providers.${name}]\nbase_url = "${server.baseUrl}"\napi_key = "docs-key"\n`);
  put(join(home, ".holdfast/config.toml"), `[models]\nmain = "openai/test"\n[sessions]\nkeep_days = 90\n${known}${providers.join("")}`);
  put(join(home, ".holdfast/prompts/fix.md"), "Fix the bug in $1.\n");
  put(join(home, ".claude.json"), '{ "mcpServers": { "docs": { "command": "docs-server" } } }\n');
  put(join(home, ".codex/config.toml"), '[mcp_servers.issues]\ncommand = "issues-server"\n');
  for (const [name, text] of Object.entries(files)) put(join(workspace, name), text);
  const git = (...args: string[]): void => void execFileSync("git", args, { cwd: workspace, env: environment, stdio: "pipe" });
  const environment = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env["PATH"]}`,
    HOME: home,
    TMPDIR: join(folder, "tmp"),
    LANG: "C.UTF-8",
    HOLDFAST_HOME: join(home, ".holdfast"),
    OPENAI_API_KEY: "docs-key",
    OPENAI_BASE_URL: server.baseUrl,
    ANTHROPIC_API_KEY: "docs-key",
    ANTHROPIC_BASE_URL: new URL("/", server.baseUrl).href,
    GEMINI_API_KEY: "docs-key",
    GEMINI_BASE_URL: new URL("/", server.baseUrl).href,
    GIT_AUTHOR_NAME: "t",
    GIT_AUTHOR_EMAIL: "t@example.org",
    GIT_COMMITTER_NAME: "t",
    GIT_COMMITTER_EMAIL: "t@example.org",
  };
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "a shop");
  git("checkout", "-q", "-b", "work");
  put(join(workspace, "src/login.js"), `${broken}// asked by many\n`);
  git("commit", "-qam", "login");
  put(join(workspace, "src/login.js"), broken);

  const [variables, where] = [join(folder, "variables"), join(folder, "where")];
  mkdirSync(join(folder, "tmp"));
  put(variables, "");
  put(where, workspace);
  let stop = (): void => {};
  const run = async (text: string): Promise<Ran> => {
    line = text;
    began = server.requests.length;
    const script = `set -o pipefail; . ${variables}; cd "$(cat ${where})" || exit 99\n${text}\nstatus=$?; export -p >${variables}; pwd >${where}; exit $status`;
    const child = spawn("bash", ["--noprofile", "--norc", "-c", script], {
      env: environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    stop = () => void (child.exitCode === null && child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, output };
  };
  const found = async (text: string, id: RegExp): Promise<string | null> => id.exec((await run(text)).output)?.[0] ?? null;
  /** Made by a line where there is none. */
  const one = async (lists: string, id: RegExp, makes: string): Promise<string> => {
    const known = (await found(lists, id)) ?? (await found(makes, id)) ?? (await found(lists, id));
    if (known === null) throw new Error(`${makes} made nothing that ${lists} lists`);
    return known;
  };
  let ended: string | null = null;
  return {
    run,
    session: async () => {
      const there = (await run("holdfast sessions list --all")).output;
      if (ended === null || !there.includes(ended))
        ended = await found('holdfast exec --check "sh test.sh" "Fix the login: connection reset at each retry"', /ses_[0-9a-z]{26}/);
      return ended ?? "";
    },
    openApproval: () => one("holdfast approvals list", /apr_[0-9a-z]+/, 'holdfast exec --approvals ask "push it"'),
    openQuestion: () => one("holdfast answer", /qst_[0-9a-z]+/, 'holdfast exec "ask me which"'),
    hookHash: async () => {
      put(join(workspace, ".holdfast/config.toml"), '[[hooks.stop]]\ncommand = "true"\n');
      return one("holdfast trust", /\b[0-9a-f]{16}\b/, "holdfast trust");
    },
    close: () => {
      stop();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
