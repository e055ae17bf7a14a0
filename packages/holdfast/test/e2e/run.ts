import type { ChildProcess } from "node:child_process";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import type { ModelServer, Script } from "./model-server.ts";
import { startModelServer } from "./model-server.ts";

const bin = join(import.meta.dirname, "../../../../node_modules/.bin/holdfast");
const nodeFolder = dirname(process.execPath);

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves once stderr or stdout holds the text. */
  shows(text: string): Promise<void>;
}

/** The providers that the server can stand for, one for each wire. */
export const providers = ["openai", "openai-compatible", "anthropic", "google"] as const;
type Provider = (typeof providers)[number];

/** A home, a git repository and a scripted model: what the real program needs to run. */
export interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly server: ModelServer;
  readonly marker: string;
  start(
    args: readonly string[],
    options?: {
      readonly wire?: Provider;
      readonly stdin?: string;
      readonly env?: Readonly<Record<string, string>>;
      /** The workspace where nothing is said. */
      readonly cwd?: string;
    },
  ): Started;
  exec(...args: string[]): Promise<Finished>;
  /** The one session there is. */
  session(): Promise<string>;
}

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

export async function createPlace(
  script: Script,
  files: Readonly<Record<string, string>> = { "README.md": "# A project\n" },
  /** Who takes it away: after the test that made it where nothing is said. */
  keep: (cleanUp: () => void) => unknown = (cleanUp) => cleanUps.push(cleanUp),
): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-e2e-"));
  const [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
  mkdirSync(home);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", workspace, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { stdio: "pipe" });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "start");
  const server = await startModelServer(script);
  const marker = `e2e-${folder.split("-").at(-1)}`;
  const env = (baseUrl: string) => ({
    PATH: `${nodeFolder}:${process.env["PATH"]}`,
    HOME: home,
    LANG: "C.UTF-8",
    HOLDFAST_HOME: join(home, ".holdfast"),
    OPENAI_API_KEY: "e2e-key",
    OPENAI_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: "e2e-key",
    ANTHROPIC_BASE_URL: new URL("/", baseUrl).href,
    GEMINI_API_KEY: "e2e-key",
    GEMINI_BASE_URL: new URL("/", baseUrl).href,
  });
  const place: Place = {
    home,
    workspace,
    server,
    marker,
    start(args, { wire = "openai", stdin, env: more = {}, cwd = workspace } = {}) {
      const isModelLess = !["exec"].includes(args[0] ?? "exec");
      const child = spawn(
        bin,
        isModelLess
          ? args
          : [
              args[0] ?? "exec",
              ...args.slice(1, args[1] === "resume" ? 2 : 1),
              "--model",
              `${wire}/test`,
              ...args.slice(args[1] === "resume" ? 2 : 1),
            ],
        {
          cwd,
          env: { ...env(server.baseUrl), ...more },
          stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        },
      );
      if (stdin !== undefined) child.stdin?.end(stdin);
      let [stdout, stderr] = ["", ""];
      child.stdout?.on("data", (data: Buffer) => (stdout += data.toString()));
      child.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
      cleanUps.push(() => child.kill("SIGKILL"));
      return {
        child,
        finished: once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr })),
        shows: (text) =>
          until(() => stdout.includes(text) || stderr.includes(text), `the output shows ${JSON.stringify(text)}; it is: ${stderr}`),
      };
    },
    exec: (...args) => place.start(["exec", ...args]).finished,
    session: async () => {
      const { stdout } = await place.start(["sessions", "list"]).finished;
      const id = /ses_[0-9a-z]+/.exec(stdout)?.[0];
      if (id === undefined) throw new Error(`no session in: ${stdout}`);
      return id;
    },
  };
  keep(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return place;
}

export async function until(holds: () => boolean, what: string, timeoutMs = 15_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Living processes whose command line holds a text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

export function filesBelow(folder: string, name: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.name === name ? [join(entry.parentPath, entry.name)] : [],
  );
}
