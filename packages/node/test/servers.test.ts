import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ServerProcess, ServerSpec } from "@holdfast/runtime/ports/server-processes";
import { describe, expect, onTestFinished, test } from "vitest";
import { createServers } from "../src/servers/index.ts";
import type { ServerPlace } from "../src/servers/launch.ts";
import { createServerLaunch } from "../src/servers/launch.ts";
import { splitLines } from "../src/servers/lines.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "holdfast-servers-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function start(
  spec: Partial<ServerSpec>,
  place: { root?: string; env?: Record<string, string>; more?: Partial<ServerPlace> } = {},
): ServerProcess & { lines: string[] } {
  const root = place.root ?? folder();
  mkdirSync(join(root, "work"), { recursive: true });
  const launch = createServerLaunch({
    home: join(root, "home"),
    userHome: root,
    workspaceRoots: [join(root, "work")],
    environment: { PATH: process.env["PATH"], ...place.env },
    network: "none",
    ...place.more,
  });
  const server = createServers({ launch }).start({
    command: "/bin/cat",
    args: [],
    cwd: join(root, "work"),
    env: {},
    isConfined: false,
    ...spec,
  });
  const lines: string[] = [];
  server.onLine = (line) => void lines.push(line);
  onTestFinished(() => server.stop());
  return Object.assign(server, { lines });
}

const shell = (script: string, more: Partial<ServerSpec> = {}): Partial<ServerSpec> => ({
  command: "/bin/sh",
  args: ["-c", script],
  ...more,
});

/** A zombie counts as gone: nobody is left to collect it in some containers. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 15));
}

test("a server gets lines and gives lines, and its end tells how it ended", async () => {
  const echo = start({});
  await echo.send('{"a":1}');
  await echo.send("second");
  await until(() => echo.lines.length === 2);
  expect(echo.lines).toEqual(['{"a":1}', "second"]);
  await echo.stop();
  expect(await echo.ended).toEqual({ exitCode: 0, signal: null, error: null });
  await expect(echo.send("late")).rejects.toThrow();
  const failing = start(shell("echo whole; printf half; echo why >&2; exit 7"));
  expect(await failing.ended).toEqual({ exitCode: 7, signal: null, error: null });
  expect([failing.lines, failing.lastWords()]).toEqual([["whole"], "why\n"]);
});

test("what it writes to its standard error is kept in part: the end", async () => {
  const server = start(shell("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done"));
  await server.ended;
  expect(server.lastWords().length).toBeLessThanOrEqual(8 * 1024);
  expect(server.lastWords().endsWith("line 2999\n")).toBe(true);
});

test("what can't be started has ended with the reason", async () => {
  expect(await start({ cwd: "/no/such/folder" }).ended).toMatchObject({ error: "its folder /no/such/folder is not there" });
  const missing = start({ command: "/no/such/program" });
  expect(await missing.ended).toMatchObject({ exitCode: 127 });
  expect(missing.lastWords()).toBe("there is no program /no/such/program, or it may not be run\n");
});

test("of our environment a server gets a few variables, and what its spec adds", async () => {
  const server = start(shell("env", { env: { TOKEN: "t", TERM: "mine" } }), { env: { API_KEY: "secret", LANG: "C", SSH_AUTH_SOCK: "/s" } });
  await server.ended;
  const names = server.lines.map((line) => line.split("=")[0]);
  expect(server.lines).toContain("TOKEN=t");
  expect(server.lines).toContain("TERM=mine");
  expect(names).toContain("LANG");
  for (const secret of ["API_KEY", "SSH_AUTH_SOCK"]) expect(names).not.toContain(secret);
});

test("lines are cut at their ends, also within a letter; one that is too long is lost alone", () => {
  const lines = splitLines(10);
  const bytes = new TextEncoder().encode("ä\r\n\nthis is too long\nöü");
  expect([...bytes].flatMap((byte) => lines.push(Uint8Array.of(byte)))).toEqual(["ä", ""]);
  expect(lines.push(new TextEncoder().encode("\nend\n"))).toEqual(["öü", "end"]);
  expect(lines.dropped()).toBe(1);
});

test("a line that comes byte by byte takes no more memory than it has bytes, and is ours from then on", () => {
  const lines = splitLines(32 * 1024 * 1024);
  const chunk = Buffer.from("a");
  const used = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const before = used();
  for (let count = 0; count < 300_000; count += 1) lines.push(chunk);
  expect(used() - before).toBeLessThan(50_000_000);
  chunk.fill("b");
  expect(lines.push(Buffer.from("\n"))).toEqual(["a".repeat(300_000)]);
});

describe("M19 orphaned MCP servers", () => {
  const stubborn = `trap '' TERM HUP INT; sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 0.2; done' & echo $$; wait; while :; do sleep 0.2; done`;

  test("an end leaves nothing, even of a wrapper and a child that ignore it", async () => {
    const server = start(shell(stubborn));
    await until(() => server.lines.length === 2);
    const pids = server.lines.map(Number);
    expect(pids.every(isAlive)).toBe(true);
    await server.stop();
    await until(() => !pids.some(isAlive));
  });

  test("what a server leaves behind when it ends by itself is ended, too", async () => {
    const server = start(shell("sleep 1000 & echo $!; exit 0"));
    await server.ended;
    await until(() => !isAlive(Number(server.lines[0])));
  });

  test("nothing is left however we end: orderly, by a fault, by a signal, killed", async () => {
    const endings = ["exit", "throw", "SIGINT", "SIGHUP", "SIGTERM", "SIGKILL"] as const;
    const started = endings.map((how) => {
      const ours = spawn(process.execPath, [join(import.meta.dirname, "servers-starter.ts"), how], { stdio: ["ignore", "pipe", "ignore"] });
      onTestFinished(() => void ours.kill("SIGKILL"));
      const ended = new Promise((resolve) => ours.once("exit", resolve));
      const pids: number[] = [];
      createInterface({ input: ours.stdout }).on("line", (line) => pids.push(Number(line)));
      return { how, ours, ended, pids };
    });
    await Promise.all(
      started.map(async ({ how, ours, ended, pids }) => {
        await until(() => pids.length === 2);
        if (how.startsWith("SIG")) ours.kill(how as NodeJS.Signals);
        await ended;
        await until(() => !pids.some(isAlive));
      }),
    );
  });
});

describe("a project's server, confined", () => {
  test("says on its standard error why it ended, as one outside the sandbox", async () => {
    const failing = start(shell("echo why >&2; exit 3", { isConfined: true }));
    expect(await failing.ended).toMatchObject({ exitCode: 3 });
    expect(failing.lastWords()).toBe("why\n");
  });

  test("sees the workspace but can't write there, sees no secrets and no network, and leaves nothing", async () => {
    const root = folder();
    mkdirSync(join(root, "work"));
    mkdirSync(join(root, ".ssh"));
    writeFileSync(join(root, ".ssh/id"), "private");
    writeFileSync(join(root, "work/a.txt"), "in sight");
    const server = start(
      shell(
        `cat a.txt; echo; (echo x > b.txt) 2>&1; cat ${join(root, ".ssh/id")} 2>/dev/null || echo hidden; echo kept > /tmp/own && cat /tmp/own; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "; grep ^Seccomp: /proc/self/status | cut -f2; ls /proc/self/fd | wc -l; sleep 1000 & echo done; cat`,
        {
          isConfined: true,
        },
      ),
      { root },
    );
    await until(() => server.lines.includes("done"));
    expect(server.lines).toEqual(["in sight", expect.stringContaining("Read-only file system"), "hidden", "kept", "lo", "2", "4", "done"]);
    expect(existsSync(join(root, "work/b.txt"))).toBe(false);
    await server.send("still talking");
    await until(() => server.lines.includes("still talking"));
    await server.stop();
    expect(readdirSync(join(root, "home/servers"))).toEqual([]);
  });

  test("is confined as commands are: what they don't see, open or fill, it doesn't either", async () => {
    const root = folder();
    mkdirSync(join(root, "work"));
    writeFileSync(join(root, "work/.env"), "hidden\n");
    const node = `require("node:net").connect("/x.sock").on("error", (error) => console.log(error.code))`;
    const script = `cat .env; '${process.execPath}' -e '${node}'; head -c 9000000 /dev/zero >/tmp/big 2>/dev/null; stat -c %s /tmp/big`;
    const groups = join(root, "groups");
    const sandbox = { hide: [".env"], unixSockets: false, tmpBytes: 4_194_304 };
    const more = { sandbox, limits: { processes: 7 }, groups };
    const server = start(shell(`${script}; echo done; cat`, { isConfined: true }), { root, more });
    await until(() => server.lines.includes("done"));
    expect(server.lines).toEqual(["EAFNOSUPPORT", "4194304", "done"]);
    const group = join(groups, readdirSync(groups)[0] ?? "");
    expect(readFileSync(join(group, "pids.max"), "utf8")).toBe(String(7 * 16));
    expect(Number(readFileSync(join(group, "cgroup.procs"), "utf8"))).toBeGreaterThan(1);
  });

  test("has the variables of the project, which nobody reads off a command line", async () => {
    const server = start(shell('echo "$OF_THE_PROJECT"; cat', { isConfined: true, env: { OF_THE_PROJECT: "so many words, as one" } }));
    await until(() => server.lines.length > 0);
    expect(server.lines).toEqual(["so many words, as one"]);
    const told = readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("so many words, as one");
      } catch {
        return false;
      }
    });
    expect(told).toEqual([]);
  });
});
