import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nearest } from "../src/cli/nearest.ts";
import { parseCount, parseDollars, parseDuration } from "../src/config/limits.ts";
import { main } from "../src/program.ts";
import { version } from "../src/version.ts";
import manifest from "../package.json" with { type: "json" };
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-usage-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = async (argv: readonly string[], options: { env?: Record<string, string>; stdinIsTTY?: boolean } = {}) => {
  const io = fakeIo({ cwd: folder, home: join(folder, "home"), stdinIsTTY: true, ...options });
  const status = await main(argv, io, fakeHosts({ script: [] }));
  return { status, out: io.out(), err: io.err() };
};

test("an error of line mode names the program once", async () => {
  const { status, err } = await run(["--nonsense"]);
  expect(status).toBe(2);
  expect(err).toMatch(/^holdfast: unknown flag --nonsense/);
});

describe("wrong usage exits 2 and says what, where and what to do", () => {
  test.each<[string[], string[]]>([
    [
      ["exec", "--modle", "x", "go"],
      ["unknown flag --modle", "did you mean --model?", "holdfast exec --help"],
    ],
    [["exec", "--model"], ["--model needs a value"]],
    [
      ["exec", "--model", "--check", "x"],
      ["--model needs a value, but --check follows", "--model=--check"],
    ],
    [["exec", "--json=yes", "go"], ["--json takes no value"]],
    [["exec", "--model", "a/b", "--model", "c/d", "go"], ["--model is given twice"]],
    [
      ["exec", "--sandbox", "readonly", "go"],
      ["not one of read-only", "did you mean read-only?"],
    ],
    [
      ["exec", "--max-steps", "many", "go"],
      ["--max-steps", "whole number"],
    ],
    [
      ["exec", "--timeout", "0", "go"],
      ["--timeout", "90s, 30m or 2h"],
    ],
    [
      ["exec", "--allow-net", "https://example.org", "go"],
      ["is not a host", "without https://"],
    ],
    [
      ["exec", "Fix", "the", "bug"],
      ["unexpected word", "quotes"],
    ],
    [
      ["exec", "Fix", "the", "login", "bug"],
      ["unexpected word", "quotes"],
    ],
    [["exec"], ["there is no prompt"]],
    [["exec", "--last", "go"], ["--last belongs to resume"]],
    [
      ["exec", "resume"],
      ["which session?", "--last"],
    ],
    [["exec", "resume", "--ephemeral", "--last"], ["--ephemeral"]],
    [["exec", "resume", "--last", "a", "b"], ["unexpected word"]],
    [
      ["exec", "--model", "gpt", "go"],
      ["is not a model", "PROVIDER/NAME"],
    ],
    [
      ["exec", "--model", "opnai/x", "go"],
      ["unknown provider", "did you mean openai/x?"],
    ],
    [
      ["exec", "--model", "openai-compatible/x", "go"],
      ["no base URL", "OPENAI_BASE_URL"],
    ],
    [["exec", "--model", "script:", "go"], ["names no file"]],
    [["exec", "--model", "script:a", "-C", "missing", "go"], ["there is no folder"]],
    [["exec", "--model", "script:a", "-i", "missing.png", "go"], ["there is no file"]],
    [["sesions"], ["unknown command", "(usage)", "did you mean holdfast sessions?"]],
    [["Fix the login bug"], ["holdfast exec"]],
    [["sessions", "show"], ["takes one session ID"]],
    [["sessions", "show", "ses_none"], ["session_not_found"]],
    [["approvals", "answer", "x"], ["allow or deny"]],
    [["approvals", "show", "apr_none"], ["approval_not_found"]],
    [["trust", "missing"], ["there is no folder"]],
    [["undo"], ["no session was started"]],
    [["--resume", "a", "--last"], ["both given"]],
  ])("holdfast %s", async (argv, wanted) => {
    const { status, out, err } = await run(argv, { env: { OPENAI_API_KEY: "k" } });
    expect(status).toBe(2);
    expect(out).toBe("");
    for (const text of wanted) expect(err).toContain(text);
  });
});

describe("--help is there for everything, fits 80 columns and has examples", () => {
  test.each([
    ["--help"],
    ["exec", "--help"],
    ["exec", "resume", "-h"],
    ["sessions", "-h"],
    ["approvals", "--help"],
    ["trust", "--help"],
    ["undo", "--help"],
    ["doctor", "--help"],
    ["help", "exec"],
    ["help"],
    ["--model", "x", "--help"],
    ["exec", "--nonsense", "--help"],
  ])("holdfast %s %s %s", async (...argv) => {
    const { status, out, err } = await run(argv);
    expect([status, err]).toEqual([0, ""]);
    expect(out).toContain("Examples:");
    for (const line of out.split("\n").filter((text) => !text.includes("holdfast "))) expect(line.length).toBeLessThanOrEqual(80);
  });
});

test("--version is the package's", async () => {
  expect(version).toBe(manifest.version);
  expect(await run(["--version"])).toEqual({ status: 0, out: `holdfast ${version}\n`, err: "" });
});

test("without a model and a key the ways to go on are listed; with a key alone no model is chosen silently", async () => {
  const bare = await run(["exec", "go"]);
  expect(bare.status).toBe(2);
  for (const way of ["no_model", "OPENAI_API_KEY", "OPENAI_BASE_URL", "local server", "holdfast demo"]) expect(bare.err).toContain(way);
  const keyed = await run(["exec", "go"], { env: { OPENAI_API_KEY: "k" } });
  expect(keyed.status).toBe(2);
  expect(keyed.err).toContain("name one: --model openai/NAME");
  const missing = await run(["exec", "--model", "openai/x", "go"]);
  expect(missing.status).toBe(2);
  expect(missing.err).toContain("no key for openai: OPENAI_API_KEY is not set");
});

test("with --json an error is told on stdout as well", async () => {
  const { status, out } = await run(["exec", "--json", "go"]);
  expect(status).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ type: "error", code: "no_model" });
});

test("numbers, amounts and times are read as people write them", () => {
  expect(["250", "200k", "5M", "1.5k", "0", "-1", "1e3", "9999999999M"].map(parseCount)).toEqual([
    250,
    200_000,
    5_000_000,
    1500,
    null,
    null,
    null,
    null,
  ]);
  expect(["1.50", "$2", "0", "x"].map(parseDollars)).toEqual([1.5, 2, null, null]);
  const huge = "9".repeat(400);
  expect([parseDollars(huge), parseCount(huge), parseDuration(huge), parseDuration(`${huge}h`)]).toEqual([null, null, null, null]);
  expect(["90", "90s", "30m", "2h", "1h30m", "0", "", "m"].map(parseDuration)).toEqual([
    90_000,
    90_000,
    1_800_000,
    7_200_000,
    5_400_000,
    null,
    null,
    null,
  ]);
});

test("the nearest word is found where there is one, and none is made up", () => {
  const words = ["model", "max-steps", "max-tokens", "check"];
  expect(["modle", "chekc", "max-step", "max", "zzz"].map((word) => nearest(word, words))).toEqual([
    "model",
    "check",
    "max-steps",
    "max-steps",
    null,
  ]);
});
