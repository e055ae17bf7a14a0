import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let base = "";
let folder = "";
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "holdfast-program-")));
  folder = join(base, "work");
  await mkdir(folder);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const program = join(import.meta.dirname, "../src/main.ts");

/** The program itself, on this machine's own ports; only the model is scripted, and the sandbox is off. */
function start(...argv: readonly string[]) {
  const child = spawn(process.execPath, [program, ...argv], {
    cwd: folder,
    env: { ...process.env, HOME: base, HOLDFAST_HOME: join(base, "home"), OPENAI_API_KEY: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const ended = once(child, "close").then(([status]) => ({ status: status as number | null, out, err }));
  return { child, ended, shown: () => out };
}

const exec = (script: string, ...argv: readonly string[]) =>
  start("exec", "--sandbox", "off", "--approvals", "allow", "--model", `script:${script}`, ...argv);

async function script(...steps: readonly object[]): Promise<string> {
  const path = join(base, "script.json");
  await writeFile(path, JSON.stringify({ steps }));
  return path;
}
const command = (line: string) => ({ calls: [{ name: "run_command", input: { command: line } }] });

test("a red check turns green, and the outcome is verified", async () => {
  await writeFile(join(folder, "state"), "broken");
  const steps = await script(
    { calls: [{ name: "read_file", input: { path: "state" } }] },
    { calls: [{ name: "edit_file", input: { path: "state", edits: [{ old: "broken", new: "fixed" }] } }] },
    { text: "Fixed." },
  );
  const { status, out, err } = await exec(steps, "--check", "grep -q fixed state", "Fix it").ended;
  expect(err).toContain("verified");
  expect([status, out]).toEqual([0, "Fixed.\n"]);
  expect(await readFile(join(folder, "state"), "utf8")).toBe("fixed");
});

test("a reader that goes away changes neither the work nor the exit status", async () => {
  const run = exec(await script(command("sleep 0.5; echo done > done.txt"), { text: "ok" }), "--json", "go");
  run.child.stdout.once("data", () => run.child.stdout.destroy());
  expect((await run.ended).status).toBe(0);
  expect(await readFile(join(folder, "done.txt"), "utf8")).toBe("done\n");
});

test("a signal interrupts the turn with status 130, and the session goes on afterwards", async () => {
  const steps = await script(command("echo begun; sleep 60"), { text: "gone on" });
  const run = exec(steps, "--json", "go");
  while (!run.shown().includes("item.started")) await new Promise((resolve) => setTimeout(resolve, 20));
  run.child.kill("SIGINT");
  const { status, out } = await run.ended;
  expect(status).toBe(130);
  expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toMatchObject({ type: "turn.failed", error: { code: "interrupted" } });
  expect(await start("exec", "resume", "--last", "go on").ended).toMatchObject({ status: 0, out: "gone on\n" });
});
