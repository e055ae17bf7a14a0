import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

let base = "";
/** The recorded run, and its session. */
let first: Ran;
let session = "";
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "holdfast-replay-")));
  const script = join(base, "script.json");
  await writeFile(script, JSON.stringify({ steps }));
  first = await exec(await repository("recorded"), `script:${script}`);
  session = /ses_[0-9a-z]{26}/.exec(first.err)?.[0] ?? "";
  await rm(script);
});
afterAll(() => rm(base, { recursive: true, force: true }));

const program = join(import.meta.dirname, "../../src/main.ts");
const files = {
  "package.json": '{ "type": "module" }\n',
  "sum.js": "export const sum = (a, b) => a - b;\n",
  "sum.test.js":
    'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "./sum.js";\ntest("sums", () => assert.equal(sum(1, 2), 3));\n',
};
/** Reads, runs the tests and shows where it is, repairs, says so. */
const steps = [
  { text: "I look.", calls: [{ name: "read_file", input: { path: "sum.js" } }] },
  { calls: [{ name: "run_command", input: { command: "node --test; pwd" } }] },
  { calls: [{ name: "edit_file", input: { path: "sum.js", edits: [{ old: "a - b", new: "a + b" }] } }] },
  { text: "Fixed the sign." },
];

async function repository(name: string, changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = join(base, name);
  for (const [path, text] of Object.entries({ ...files, ...changes })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** The program itself, without any key. */
function run(cwd: string, ...argv: readonly string[]): Promise<Ran> {
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    HOME: base,
    HOLDFAST_HOME: join(base, "home"),
    LANG: "C.UTF-8",
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...argv], { cwd, env }, (_, out, err) =>
      resolve({ status: child.exitCode ?? -1, out, err }),
    );
    child.stdin?.end();
  });
}
const exec = (cwd: string, model: string, ...more: readonly string[]) =>
  run(cwd, "exec", "--model", model, "--sandbox", "off", "--approvals", "allow", "--check", "node --test", ...more, "Fix sum");

test("a recorded run replays in a fresh copy of the repository to the same outcome, without key or script", async () => {
  expect([first.status, first.out]).toEqual([0, "Fixed the sign.\n"]);
  const copy = await repository("copy");
  const again = await exec(copy, `replay:${session}`);
  expect([again.status, again.out]).toEqual([0, "Fixed the sign.\n"]);
  expect(again.err).toContain("verified · demonstrated");
  expect(again.err).toContain("replayed 4 of 4 recorded steps");
  expect(again.err).toContain("no departure");
  expect(await readFile(join(copy, "sum.js"), "utf8")).toContain("a + b");
  // The recording is over: another prompt finds nothing to play.
  const over = await run(copy, "exec", "resume", "--last", "and now?");
  expect(over.status).toBe(1);
  expect(over.err).toContain("failed (model_script)");
  expect(over.err).toContain("past the last of them");
});

test("a replay in a changed repository tells where it departs, while it runs and at the end, and plays on", async () => {
  const changed = await repository("changed", { "sum.js": "export const sum = (a, b) => a - b;\nexport const zero = 0;\n" });
  const { status, err, out } = await exec(changed, `replay:${session.slice(0, 20)}`, "--json");
  expect(status).toBe(0);
  expect(out).toContain('"turn.completed"');
  const [during = "", atEnd = ""] = err.split("replayed 4 of 4 recorded steps");
  expect(during).toContain(
    'replay departs at step 2: a tool result differs: line 2 was nothing more, now it is "2\\texport const zero = 0;"',
  );
  expect(atEnd).toMatch(/departed from it at 2 places:\n- at step 2: a tool result differs.*\n- at step 4: /);
});

test("answers that no longer fit are recorded as what they lead to: an edit that finds nothing fails, the check refutes", async () => {
  const fixed = await repository("other", { "sum.js": "export const sum = (a, b) => b - a;\n" });
  const { status, err } = await exec(fixed, `replay:${session}`);
  expect(err).toContain("a tool result was completed, now it is failed");
  // The check fails now, and the recorded session said nothing more.
  expect(err).toContain("past the last of them");
  expect(status).toBe(1);
});

test("a session that isn't there, or a replay of nothing, is refused before there is a session", async () => {
  const folder = await repository("empty");
  const before = (await run(folder, "sessions", "list", "--all")).out;
  const missing = await exec(folder, "replay:ses_none");
  expect(missing.status).toBe(2);
  expect(missing.err).toContain("there is no session ses_none");
  expect((await exec(folder, "replay:")).err).toContain("replay: names no session");
  expect((await run(folder, "sessions", "list", "--all")).out).toBe(before);
});
