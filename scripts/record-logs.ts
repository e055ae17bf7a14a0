/**
 * Records a session over each wire with the program as it is now, for `replay-logs.ts` to play back:
 * `node scripts/record-logs.ts FILE`. A new file for each form of requests; older ones stay, for what was recorded once must
 * be read for ever.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteLog } from "../packages/stores/src/sqlite.ts";
import type { RecordedLog } from "../packages/browser/test/replay-logs.ts";
import { replayLogs } from "../packages/browser/test/replay-logs.ts";
import type { Script } from "../packages/holdfast/test/e2e/model-server.ts";
import { startModelServer } from "../packages/holdfast/test/e2e/model-server.ts";

const root = join(import.meta.dirname, "..");
const file = process.argv[2];
if (file === undefined) throw new Error("which file?");

/** Reads, changes and runs something, in two turns. */
const script: Script = (results) =>
  [
    { calls: [{ name: "read_file", input: { path: "README.md" } }] },
    { calls: [{ name: "edit_file", input: { path: "README.md", edits: [{ old: "A project", new: "The project" }] } }] },
    { calls: [{ name: "run_command", input: { command: "cat README.md" } }] },
  ][results.length] ?? { text: "Done." };

async function record(wire: string): Promise<Omit<RecordedLog, "digest" | "bodies">> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-record-"));
  const [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
  const server = await startModelServer(script);
  try {
    for (const path of [home, workspace]) mkdirSync(path);
    writeFileSync(join(workspace, "README.md"), "# A project\n");
    execFileSync("git", ["init", "-q", "-b", "main", workspace]);
    const base = new URL("/", server.baseUrl).href;
    const env = {
      ...{ PATH: process.env["PATH"], HOME: home, HOLDFAST_HOME: join(home, ".holdfast"), LANG: "C.UTF-8" },
      ...{ OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.baseUrl, ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: base },
      ...{ GEMINI_API_KEY: "k", GEMINI_BASE_URL: base },
    };
    for (const args of [
      ["exec", "--model", `${wire}/test`, "go"],
      ["exec", "resume", "--last", "again"],
    ]) {
      const child = spawn(join(root, "node_modules/.bin/holdfast"), args, { cwd: workspace, env, stdio: ["ignore", "ignore", "inherit"] });
      const [code] = (await once(child, "close")) as [number | null];
      if (code !== 0) throw new Error(`${wire}: exit status ${code}`);
    }
    const store = openSqliteLog(join(home, ".holdfast/sessions.db"));
    try {
      const [one] = await store.list({});
      const state = one === undefined ? null : await store.load(one.session);
      if (state === null) throw new Error(`${wire}: no session`);
      return {
        ...state,
        events: await store.read(state.row.session, 1),
        snapshots: [],
        instructions: instructionsIn(server.requests[0] ?? {}),
      };
    } finally {
      await store.close();
    }
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As each wire has them. */
function instructionsIn(body: object): string {
  type Text = string | readonly { readonly text: string }[];
  const { instructions, messages, system, systemInstruction } = body as {
    readonly instructions?: string;
    readonly messages?: readonly { readonly role: string; readonly content: Text }[];
    readonly system?: Text;
    readonly systemInstruction?: { readonly parts: Text };
  };
  const first = messages?.[0];
  const found = instructions ?? system ?? systemInstruction?.parts ?? (first?.role === "user" ? "" : first?.content) ?? "";
  return typeof found === "string" ? found : found.map(({ text }) => text).join("");
}

const logs: RecordedLog[] = [];
for (const wire of ["openai", "openai-compatible", "anthropic", "google"]) logs.push({ ...(await record(wire)), digest: "", bodies: 0 });
const replayed = await replayLogs(logs);
const lines = replayed.map(({ session, departure, digest, bodies }, index) => {
  if (departure !== null) throw new Error(`${session}: ${departure}`);
  console.log(`${session}: ${bodies} bodies`);
  return JSON.stringify({ ...logs[index], digest, bodies });
});
writeFileSync(file, `[\n${lines.join(",\n")}\n]\n`);
