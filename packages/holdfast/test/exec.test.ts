import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clock } from "@holdfast/node/host/clock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HoldfastError } from "@holdfast/protocol/error";
import { main } from "../src/program.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
let home = "";

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-exec-")));
  home = join(folder, "home");
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const model = ["--model", "openai/test"];
const env = { OPENAI_API_KEY: "sk-test-0123456789" };
const start = (input?: string) => fakeIo({ cwd: folder, home, env, ...(input === undefined ? {} : { input }) });
const jsonLines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const fixLogin = [
  { text: "I will fix it.", calls: [{ name: "write", input: { path: "login.js", content: "fixed\n" } }] },
  { text: "Fixed the login." },
];

test("progress goes to stderr and the final message alone to stdout", async () => {
  const io = start();
  const status = await main(["exec", ...model, "--check", "npm test", "Fix the login bug"], io, fakeHosts({ script: fixLogin }));
  expect(status).toBe(0);
  expect(io.out()).toBe("Fixed the login.\n");
  for (const shown of [
    "proposed",
    "allow",
    "workspace-edits",
    "verified · red before, green now",
    "npm test",
    "+1",
    "holdfast exec resume ses_",
  ]) {
    expect(io.err()).toContain(shown);
  }
  // eslint-disable-next-line no-control-regex -- this is what must not be there
  expect(io.err() + io.out()).not.toMatch(/\u001b/);
});

test("a required check that fails ends with status 3 and says what failed", async () => {
  const io = start();
  const script = [{ text: "All 42 tests pass." }, { text: "Really.", repeat: 9 }];
  const status = await main(["exec", ...model, "--check", "npm test", "Fix it"], io, fakeHosts({ script, checkPasses: () => false }));
  expect(status).toBe(3);
  expect(io.err()).toContain("refuted · a required check fails");
  expect(io.err()).toContain("npm test: 1 failed");
});

test("--json writes one event a line, and turn.completed only for status 0", async () => {
  const io = start();
  expect(await main(["exec", ...model, "--json", "Fix the login bug"], io, fakeHosts({ script: fixLogin }))).toBe(0);
  const lines = jsonLines(io.out());
  expect(lines.map((line) => line["type"])).toEqual([
    "thread.started",
    "turn.started",
    "item.completed",
    "item.completed",
    "item.completed",
    "turn.completed",
  ]);
  expect(lines[3]?.["item"]).toMatchObject({
    type: "file_change",
    status: "completed",
    changes: [{ path: join(folder, "login.js"), kind: "add" }],
  });
  expect(lines[5]?.["usage"]).toEqual({
    input_tokens: expect.any(Number),
    cached_input_tokens: expect.any(Number),
    cache_write_input_tokens: 0,
    output_tokens: expect.any(Number),
    reasoning_output_tokens: expect.any(Number),
  });
  expect(io.err()).toBe("");

  const failing = start();
  const hosts = fakeHosts({ script: [{ text: "done", repeat: 9 }], checkPasses: () => false });
  expect(await main(["exec", ...model, "--json", "--check", "npm test", "Fix it"], failing, hosts)).toBe(3);
  expect(jsonLines(failing.out()).at(-1)).toMatchObject({
    type: "turn.failed",
    error: { code: "refuted" },
    outcome: "refuted",
    exit_status: 3,
  });
});

test("the prompt comes from stdin with - and when stdin is a pipe; an empty one is refused", async () => {
  for (const words of [["-"], []]) {
    const io = start("Fix it\n");
    expect(await main(["exec", ...model, ...words], io, fakeHosts({ script: [{ text: "ok" }] }))).toBe(0);
    expect(io.err()).toContain("Fix it");
  }
  const empty = start("");
  expect(await main(["exec", ...model], empty, fakeHosts({ script: [] }))).toBe(2);
  expect(empty.err()).toContain("stdin was empty");
});

test("a reviewed call is refused without a person, waits with --approvals ask, and goes on after the answer", async () => {
  const script = [{ calls: [{ name: "danger", input: { text: "rm everything" } }] }, { text: "done" }];
  const denied = start();
  expect(await main(["exec", ...model, "go"], denied, fakeHosts({ script }))).toBe(0);
  expect(denied.err()).toContain("refused");

  const hosts = fakeHosts({ script });
  const asked = start();
  expect(await main(["exec", ...model, "--approvals", "ask", "go"], asked, hosts)).toBe(4);
  expect(asked.out()).toBe("");
  const id = /holdfast approvals (\S+) allow/.exec(asked.err())?.[1] ?? "";
  expect(asked.err()).toContain("reach example.org, for this call only");

  const listed = start();
  expect(await main(["approvals", "list"], listed, hosts)).toBe(0);
  expect(listed.out()).toContain(id);
  expect(await main(["approvals", "answer", id, "maybe"], start(), hosts)).toBe(2);
  expect(await main(["approvals", "answer", id, "allow"], start(), hosts)).toBe(0);

  const resumed = start();
  expect(await main(["exec", "resume", "--last"], resumed, hosts)).toBe(0);
  expect(resumed.out()).toBe("done\n");
  expect(await main(["approvals", "answer", id, "allow"], start(), hosts)).toBe(2);
});

test("--approval-deadline and --approval-default, or the config, say how long a call waits and what it becomes then", async () => {
  const script = [{ calls: [{ name: "danger", input: { text: "boom" } }] }, { text: "after" }];
  for (const [argv, config, wanted] of [
    [["--approval-deadline", "1h", "--approval-default", "allow"], "", [3_600_000, "allow"]],
    [[], 'approval_deadline = "2h"\napproval_default = "allow"\n', [7_200_000, "allow"]],
    [["--approval-default", "deny"], 'approval_default = "allow"\n', [7 * 24 * 3_600_000, "deny"]],
  ] as const) {
    const hosts = fakeHosts({ script });
    await mkdir(home, { recursive: true });
    await writeFile(join(home, "config.toml"), config);
    const before = Date.now();
    expect(await main(["exec", "-m", "openai/x", "--approvals", "ask", ...argv, "go"], start(), hosts)).toBe(4);
    const shown = start();
    expect(await main(["approvals", "--json"], shown, hosts)).toBe(0);
    const { deadline, atDeadline = "deny" } = JSON.parse(shown.out()) as { deadline: number; atDeadline?: string };
    expect([Math.round((deadline - before) / 60_000) * 60_000, atDeadline]).toEqual(wanted);
  }
  expect(await main(["exec", "-m", "openai/x", "--approval-deadline", "soon", "go"], start(), fakeHosts({ script }))).toBe(2);
});

test("a session that a living process drives is busy, and the holder is named", async () => {
  const hosts = fakeHosts({ script: [{ text: "ok", repeat: 9 }] });
  const io = start();
  await main(["exec", ...model, "go"], io, hosts);
  const session = /session (ses_\S+)/.exec(io.err())?.[1] ?? "";
  await hosts.log.lock(`session:${session}`, { pid: 7, startTime: "7", bootId: "boot", label: "alive" }, () => true);
  const busy = start();
  expect(await main(["exec", "resume", session, "more"], busy, hosts)).toBe(2);
  expect(busy.err()).toContain("session_busy");
  expect(busy.err()).toContain("alive (process 7)");
  expect(await hosts.log.inbox(session)).toEqual([]);
});

test("the first signal interrupts in good order with status 130, and the session can be gone on with", async () => {
  const io = start();
  const script = [{ calls: [{ name: "wait", input: {} }] }, { text: "after all" }];
  const hosts = fakeHosts({
    script,
    onWait: async (signal) => {
      io.stop("SIGINT");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
  });
  expect(await main(["exec", ...model, "go"], io, hosts)).toBe(130);
  expect(io.err()).toContain("interrupted");
  expect(io.isListening()).toBe(false);
  const resumed = start();
  expect(await main(["exec", "resume", "--last", "go on"], resumed, hosts)).toBe(0);
  expect(resumed.out()).toBe("after all\n");
});

test("a second signal lets go at once and ends the session's commands", async () => {
  const io = start();
  const hosts = fakeHosts({
    script: [{ calls: [{ name: "wait", input: {} }] }],
    onWait: async () => {
      io.stop("SIGTERM");
      io.stop("SIGTERM");
      await new Promise(() => {});
    },
  });
  expect(await main(["exec", ...model, "go"], io, hosts)).toBe(130);
  expect(io.err()).toContain("stopping at once");
  expect(hosts.endedSessions).toHaveLength(2);
});

test("further signals leave what doesn't let go and what doesn't end", async () => {
  const io = start();
  const hosts = fakeHosts({
    script: [{ calls: [{ name: "wait", input: {} }] }],
    onWait: async () => {
      for (let stops = 0; stops < 3; stops += 1) io.stop("SIGINT");
      await new Promise(() => {});
    },
  });
  const openHost: typeof hosts.openHost = async (...asked) => {
    const host = await hosts.openHost(...asked);
    const endSession = () => {
      setTimeout(() => io.stop("SIGINT"), 1);
      return new Promise<void>(() => {});
    };
    // One that hangs where no signal reaches it.
    const hang = () => new Promise<never>(() => {});
    const drive: typeof host.runtime.drive = (...driven) => host.runtime.drive(...driven).then(hang, hang);
    const ports = { ...host.ports, processes: { ...host.ports.processes, endSession } };
    return { ...host, ports, runtime: { ...host.runtime, drive, closeSession: async () => undefined } };
  };
  expect(await main(["exec", ...model, "go"], io, { ...hosts, openHost })).toBe(130);
});

test("of a session that can't be saved a command that doesn't end keeps nobody waiting after a signal", async () => {
  const io = start();
  const hosts = fakeHosts({ script: [] });
  const openHost: typeof hosts.openHost = async (...asked) => {
    const host = await hosts.openHost(...asked);
    const endSession = () => {
      setTimeout(() => io.stop("SIGINT"), 1);
      return new Promise<void>(() => {});
    };
    const drive = () => Promise.reject(new HoldfastError("store_full", "the disk is full"));
    return { ...host, ports: { ...host.ports, processes: { ...host.ports.processes, endSession } }, runtime: { ...host.runtime, drive } };
  };
  expect(await main(["exec", ...model, "go"], io, { ...hosts, openHost })).toBe(1);
  expect(io.err()).toContain("store_full");
});

test("-o that can't be written is told as a failure of its own, behind the ending; one of the turn's stays", async () => {
  const io = start();
  const hosts = fakeHosts({ script: [{ text: "the end" }] });
  expect(await main(["exec", ...model, "-o", "/proc/holdfast-message", "go"], io, hosts)).toBe(1);
  expect(io.out()).toBe("the end\n");
  expect(io.err()).toContain("-o: the final message could not be written to /proc/holdfast-message");
  expect(io.err()).toContain("(file_unwritten)");
  expect(io.err()).toContain("── outcome");
  const json = start();
  expect(await main(["exec", ...model, "--json", "-o", "/proc/holdfast-message", "go"], json, fakeHosts({ script: [{ text: "x" }] }))).toBe(
    1,
  );
  expect(JSON.parse(json.out().trim().split("\n").at(-1) ?? "")).toMatchObject({ type: "error", code: "file_unwritten" });
  const waits = fakeHosts({ script: [{ calls: [{ name: "danger", input: { text: "boom" } }] }] });
  const waiting = start();
  expect(await main(["exec", ...model, "--approvals", "ask", "-o", "/proc/holdfast-message", "go"], waiting, waits)).toBe(4);
  expect(waiting.err()).toContain("(file_unwritten)");
});

test("-o writes the final message whole, and a folder that is missing is told before any work", async () => {
  const path = join(folder, "message.txt");
  await writeFile(path, "old");
  expect(await main(["exec", ...model, "-o", path, "go"], start(), fakeHosts({ script: [{ text: "the end" }] }))).toBe(0);
  expect(await readFile(path, "utf8")).toBe("the end\n");
  const io = start();
  expect(await main(["exec", ...model, "-o", "missing/message.txt", "go"], io, fakeHosts({ script: [] }))).toBe(2);
  expect(io.err()).toContain("-o: there is no folder");
});

test("-o of a turn that waits holds no message of an earlier turn", async () => {
  const path = join(folder, "waiting.txt");
  await writeFile(path, "the end of another turn");
  const hosts = fakeHosts({ script: [{ calls: [{ name: "danger", input: { text: "boom" } }] }] });
  expect(await main(["exec", ...model, "--approvals", "ask", "-o", path, "go"], start(), hosts)).toBe(4);
  expect(await readFile(path, "utf8")).toBe("");
});

test("images are told by their bytes, and others are refused", async () => {
  await writeFile(join(folder, "shot.txt"), Buffer.from("89504e470d0a1a0a0000", "hex"));
  await writeFile(join(folder, "shot.png"), "not a picture");
  let parts: unknown = null;
  const script = ({ request }: { request: { items: readonly unknown[] } }) => {
    parts = (request.items.find((item) => (item as { kind: string }).kind === "user_message") as { parts: unknown }).parts;
    return { text: "seen" };
  };
  expect(await main(["exec", ...model, "-i", "shot.txt", "look"], start(), fakeHosts({ script }))).toBe(0);
  expect(parts).toEqual([
    { type: "image", blob: expect.any(String), mediaType: "image/png", bytes: 10 },
    { type: "text", text: "look" },
  ]);
  const io = start();
  expect(await main(["exec", ...model, "-i", "shot.png", "look"], io, fakeHosts({ script }))).toBe(2);
  expect(io.err()).toContain("no PNG, JPEG, GIF or WebP");
});

test("resume takes new checks and limits, and --last is the newest session of this folder", async () => {
  const hosts = fakeHosts({ script: [{ text: "ok", repeat: 9 }] });
  await main(["exec", ...model, "first"], start(), hosts);
  const io = start();
  expect(await main(["exec", "resume", "--last", "--check", "npm test", "--max-tokens", "7M", "again"], io, hosts)).toBe(0);
  expect(io.err()).toContain("verified");
  const shown = start();
  expect(await main(["sessions", "list", "--json"], shown, hosts)).toBe(0);
  const [row] = jsonLines(shown.out());
  const view = start();
  await main(["sessions", "show", String(row?.["session"]), "--json"], view, hosts);
  expect(jsonLines(view.out())[0]?.["settings"]).toMatchObject({ limits: { tokensPerSession: 7_000_000 } });
  const elsewhere = fakeIo({ cwd: tmpdir(), home, env });
  expect(await main(["exec", "resume", "--last", "again"], elsewhere, hosts)).toBe(2);
  expect(elsewhere.err()).toContain("session_not_found");
});

test("--last is the session that went on last, also after the clock was set back", async () => {
  const hosts = fakeHosts({ script: [{ text: "ok", repeat: 9 }] });
  await main(["exec", ...model, "before"], start(), hosts);
  const now = vi.spyOn(clock, "now").mockImplementation(() => Date.now() - 3_600_000);
  try {
    await main(["exec", ...model, "after"], start(), hosts);
    const io = start();
    expect(await main(["exec", "resume", "--last", "again"], io, hosts)).toBe(0);
    const shown = start();
    await main(["sessions", "list", "--json"], shown, hosts);
    expect(jsonLines(shown.out()).map(({ title }) => title)).toEqual(["after", "before"]);
    expect(io.err()).toContain(String(jsonLines(shown.out())[0]?.["session"]));
  } finally {
    now.mockRestore();
  }
});

test("a key is never shown", async () => {
  const io = start();
  await main(["exec", ...model, "go"], io, fakeHosts({ script: [{ text: `the key is ${env.OPENAI_API_KEY}` }] }));
  expect(io.out()).toBe("the key is [redacted]\n");
  expect(io.err()).not.toContain(env.OPENAI_API_KEY);
});
