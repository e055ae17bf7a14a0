import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const program = join(import.meta.dirname, "../src/main.ts");

test("whoever forgot to clean a value: no control character of it is written", () => {
  const io = join(import.meta.dirname, "../src/cli/process-io.ts");
  const script = `const { processIo } = await import(${JSON.stringify(io)});
    processIo().stdout.write("\\u001b[32mok\\u001b[39m\\t\\u001b]0;x\\u0007\\u001b[2J\\n");`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["\u001b[32mok\u001b[39m\t<U+001B>]0;x<U+0007><U+001B>[2J\n", ""]);
});

test("output that a full disk doesn't take is told once on stderr, and is no success", () => {
  const full = openSync("/dev/full", "w");
  try {
    const { status, stderr } = spawnSync(process.execPath, [program, "--help"], { stdio: ["ignore", full, "pipe"], encoding: "utf8" });
    expect([status, stderr]).toEqual([1, expect.stringContaining("holdfast: output is lost: ENOSPC")]);
  } finally {
    closeSync(full);
  }
});

test("output that a full disk doesn't take is told once on stderr, also of many lines", () => {
  const full = openSync("/dev/full", "w");
  try {
    const { stderr } = spawnSync(
      process.execPath,
      [program, "exec", "--json", "--model", "script:/nowhere/none.yaml", "--ephemeral", "go"],
      { stdio: ["ignore", full, "pipe"], encoding: "utf8" },
    );
    expect(stderr.match(/holdfast: output is lost: ENOSPC/g)).toHaveLength(1);
  } finally {
    closeSync(full);
  }
});

test.each([
  ["exec --ephemeral --model script:/nowhere/none.yaml -", "stdin holds more than 1 MB"],
  ["secrets set A_KEY --file", "stdin holds more than 1 MB"],
  ["mcp import /dev/zero", "/dev/zero has more than 64 MB"],
])("input without an end is refused once it is too much, not kept: holdfast %s", (words, said) => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-endless-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const { status, stderr } = spawnSync("/bin/sh", ["-c", `yes | "$@"`, "sh", process.execPath, program, ...words.split(" ")], {
    encoding: "utf8",
    env: { ...process.env, HOLDFAST_HOME: home },
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
});

test("a folder that was removed under the caller is told in words, and help is there all the same", () => {
  const within = (...words: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-gone-"));
    const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    return spawnSync("/bin/sh", ["-c", script, "sh", folder, process.execPath, program, ...words], { encoding: "utf8" });
  };
  const { status, stderr } = within("exec", "--model", "openai/m", "go");
  expect([status, stderr]).toEqual([
    2,
    "holdfast: the folder you are in is no longer there (workspace_invalid)\nchange to another, with cd\n",
  ]);
  expect(within("--help").status).toBe(0);
});
