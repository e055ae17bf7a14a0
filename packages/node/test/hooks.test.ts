import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HookEvent } from "@holdfast/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ids } from "../src/host/ids.ts";
import type { HookDefinition } from "../src/hooks/create.ts";
import { createHooks } from "../src/hooks/create.ts";
import type { HookEnd } from "../src/hooks/answer.ts";
import { readAnswer } from "../src/hooks/answer.ts";
import type { Place } from "./processes-fixture.ts";
import { makePlace, processesAt } from "./processes-fixture.ts";

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => rmSync(place.base, { recursive: true, force: true }));

function hooksOf(...definitions: (Partial<HookDefinition> & { readonly command: string })[]) {
  return createHooks({
    hooks: definitions.map((one) => ({ event: "before_tool", matcher: null, timeoutMs: 10_000, from: "user", ...one })),
    environment: { PATH: process.env["PATH"] ?? "", HOME: place.userHome },
    processes: processesAt(place),
    ids,
    confinement: { mode: "workspace-write", network: "none", scope: {}, roots: [place.workspace], purpose: "session" },
  });
}

const never = new AbortController().signal;
const ask = (hooks: ReturnType<typeof hooksOf>, data: object = {}, tool = "run_command", event: HookEvent = "before_tool") =>
  hooks.run({ event, session: "ses_1", cwd: place.workspace, tool, data: { tool_name: tool, ...data } as never }, never);

function living(marker: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(marker);
    } catch {
      return false;
    }
  });
}

describe("a hook of the user's", () => {
  test("runs where its matcher takes too long on a name: it may be there to refuse", async () => {
    const answers = await ask(hooksOf({ command: "exit 0", matcher: "(a+)+" }), {}, `${"a".repeat(60)}!`);
    expect(answers).toHaveLength(1);
    expect(await ask(hooksOf({ command: "exit 0", matcher: "(a+)+" }), {}, "b")).toHaveLength(0);
  });

  test("reads the moment as JSON, in the folder of the session, with the usual variables alone", async () => {
    process.env["HOLDFAST_TEST_SECRET"] = "s3cret";
    const command = 'cat > seen.json; env > env.txt; pwd > pwd.txt; printf \'{"context": "words"}\'';
    const [answer] = await ask(hooksOf({ command }), { tool_input: { command: "ls" } });
    delete process.env["HOLDFAST_TEST_SECRET"];
    expect(answer).toMatchObject({ result: "passed", context: "words", trust: "user" });
    const read = (name: string) => readFileSync(join(place.workspace, name), "utf8");
    expect(JSON.parse(read("seen.json"))).toEqual({
      hook_event_name: "before_tool",
      session_id: "ses_1",
      cwd: place.workspace,
      tool_name: "run_command",
      tool_input: { command: "ls" },
    });
    expect(read("pwd.txt").trim()).toBe(place.workspace);
    expect(read("env.txt")).toContain("HOLDFAST_SESSION=ses_1");
    expect(read("env.txt")).not.toContain("s3cret");
  });

  test("is for the tools that its pattern names, whole", async () => {
    const hooks = hooksOf({ command: "exit 2", matcher: "run_command|edit_.*" });
    expect(["run_command", "edit_file", "my_run_command", "read_file"].map((tool) => hooks.has("before_tool", "s", tool))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(hooks.has("after_tool", "s", "run_command")).toBe(false);
    expect(() => hooksOf({ command: "true", matcher: "(" })).toThrow(expect.objectContaining({ code: "config_invalid" }) as Error);
  });

  test("is ended at its time with all it started, and one that is let go of at once", async () => {
    const [late] = await ask(hooksOf({ command: "sleep 311.7 & sleep 311.7", timeoutMs: 300 }));
    expect(late).toMatchObject({ result: "failed", reason: expect.stringContaining("300 ms") });
    expect(living("311.7")).toEqual([]);
    const stop = new AbortController();
    const asked = hooksOf({ command: "sleep 312.7" }).run({ event: "stop", session: "s", cwd: "/", data: {} }, stop.signal);
    stop.abort();
    await asked;
    expect(living("312.7")).toEqual([]);
  });

  test("that floods, reads nothing, or leaves something behind does no harm", async () => {
    const big = { tool_input: { text: "x".repeat(3_000_000) } };
    const [flood] = await ask(hooksOf({ command: "head -c 20000000 /dev/zero; exit 0" }), big);
    expect(flood?.result).toBe("passed");
    const [left] = await ask(hooksOf({ command: 'sleep 313.7 & echo \'{"context":"said"}\'' }));
    expect(left?.context).toBe("said");
    expect(living("313.7")).toEqual([]);
    const [missing] = await ask(hooksOf({ command: "no-such-program-here" }));
    expect(missing).toMatchObject({ result: "failed", reason: expect.stringContaining("127") });
  });

  test("sees what the one before it made of the input; after a refusal nobody is asked", async () => {
    const change = 'printf \'{"input": {"command": "two"}}\'';
    const answers = await ask(hooksOf({ command: change }, { command: "grep -q two && exit 2; exit 0" }, { command: "touch asked" }), {
      tool_input: { command: "one" },
    });
    expect(answers.map(({ result }) => result)).toEqual(["changed", "denied"]);
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  test("is told of a session's start once", async () => {
    const hooks = hooksOf({ command: "echo hello", event: "session_start" });
    expect(hooks.has("session_start", "ses_1")).toBe(true);
    expect(await ask(hooks, {}, "x", "session_start")).toMatchObject([{ context: "hello" }]);
    expect([hooks.has("session_start", "ses_1"), hooks.has("session_start", "ses_2")]).toEqual([false, true]);
  });
});

describe("a hook of a project", () => {
  test("runs in the sandbox: it reads the same, writes in the workspace alone, and has no network", async () => {
    mkdirSync(join(place.userHome, "private"));
    const command = [
      "cat > seen.json",
      `echo out > ${place.userHome}/private/out.txt 2>/dev/null`,
      "(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && touch network",
      'printf \'{"context": "words"}\'',
    ].join("; ");
    const [answer] = await ask(hooksOf({ command, from: "project" }), { tool_input: { command: "ls 'a b' \"$HOME\"" } });
    expect(answer).toMatchObject({ result: "passed", context: "words", trust: "project" });
    expect(JSON.parse(readFileSync(join(place.workspace, "seen.json"), "utf8"))).toMatchObject({
      hook_event_name: "before_tool",
      tool_input: { command: "ls 'a b' \"$HOME\"" },
    });
    expect(readdirSync(join(place.userHome, "private"))).toEqual([]);
    expect(readdirSync(place.workspace)).toEqual(["seen.json"]);
  });

  test("refuses by its exit status, and sees the whole of an input, however long, as it comes to read it", async () => {
    const [refused] = await ask(hooksOf({ command: "echo not here >&2; exit 2", from: "project" }));
    expect(refused).toMatchObject({ result: "denied", reason: "not here" });
    writeFileSync(join(place.workspace, "change.sh"), 'printf \'{"input": {"content": "short"}}\'');
    const change = { command: "sh change.sh", from: "project" } as const;
    expect((await ask(hooksOf(change), { tool_input: { content: "short" } }))[0]?.result).toBe("changed");
    const long = { tool_input: { content: `${"x".repeat(300_000)} rm -rf /` } };
    expect((await ask(hooksOf(change), long))[0]?.result).toBe("changed");
    const look = { command: "sleep 2.5; grep -q 'rm -rf' && { echo not that >&2; exit 2; }", from: "project" } as const;
    expect((await ask(hooksOf(look), long))[0]).toMatchObject({ result: "denied", reason: "not that" });
  });
});

test.each<[string, Partial<HookEnd> & { readonly event?: HookEvent }, object]>([
  ["nothing", { stdout: "" }, { result: "passed", context: "" }],
  ["plain text at a prompt", { stdout: "today is Sunday\n" }, { result: "passed", context: "today is Sunday" }],
  ["a refusal", { stdout: '{"decision":"deny","reason":"no"}' }, { result: "denied", reason: "no" }],
  ["Claude Code's refusal", { stdout: '{"decision":"block","reason":"no"}' }, { result: "denied", reason: "no" }],
  [
    "Claude Code's refusal of a call",
    { stdout: '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}' },
    { result: "denied", reason: "no" },
  ],
  ["Claude Code's approval, which grants nothing", { stdout: '{"decision":"approve"}' }, { result: "passed" }],
  ["Claude Code's end", { stdout: '{"continue":false,"stopReason":"enough"}' }, { result: "denied", reason: "enough" }],
  [
    "Claude Code's other input",
    { event: "before_tool", stdout: '{"hookSpecificOutput":{"updatedInput":{"a":1},"additionalContext":"c"}}' },
    { result: "changed", input: { a: 1 }, context: "c" },
  ],
  ["exit status 2", { exitCode: 2, stderr: "why\n" }, { result: "denied", reason: "why" }],
  ["exit status 2 without a word", { exitCode: 2 }, { result: "denied", reason: "no reason was given" }],
  ["exit status 1", { exitCode: 1, stderr: "broken" }, { result: "failed", reason: "exit status 1: broken" }],
  ["a signal", { exitCode: null }, { result: "failed" }],
  ["half a JSON object", { stdout: '{"decision":' }, { result: "failed" }],
  ["another input where there is no call", { stdout: '{"input":{"a":1}}' }, { result: "passed" }],
  [
    "an input of a hundred thousand levels",
    { event: "before_tool", stdout: `{"input":${"[".repeat(1e5)}${"]".repeat(1e5)}}` },
    { result: "failed", reason: "what it wrote is nested deeper than 64 levels" },
  ],
  ["a reason without end", { exitCode: 2, stderr: "a".repeat(200_000) }, { reason: `${"a".repeat(4_000)}… (196000 characters more)` }],
  ["context without end", { stdout: "b".repeat(200_000) }, { context: `${"b".repeat(32_000)}… (168000 characters more)` }],
])("a hook that says %s", (_, { event = "prompt_submitted", ...end }, expected) => {
  expect(readAnswer(event, { exitCode: 0, timedOut: false, stdout: "", stderr: "", ...end }, 1000)).toMatchObject(expected);
});
