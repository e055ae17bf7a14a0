import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { currentOwner } from "@holdfast/node/processes/identity";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { expect, test } from "vitest";
import { mountable, mountSmallDisk } from "../../../stores/test/disk.ts";
import type { Script } from "./model-server.ts";
import { createPlace, processesWith, until } from "./run.ts";

/** Fault areas 6 and 14, the real program: each by its kind and id. */

const command = (text: string) => ({ name: "run_command", input: { command: text } });
const oneCommand =
  (text: string): Script =>
  (results) =>
    results.length === 0 ? { calls: [command(text)] } : { text: "Done." };

test("R07 truncated JSONL: a store cut short says so, the sessions before the cut come back, the rest is named, and the old file is kept", async () => {
  const place = await createPlace(oneCommand("echo words"));
  for (const prompt of ["first", "second", "third"]) await place.exec(prompt);
  const path = join(place.home, ".holdfast", "sessions.db");
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, whole.length - 3 * 4096));
  const found = await place.start(["doctor"]).finished;
  expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining("damaged") });
  expect((await place.start(["doctor", "--repair"]).finished).stdout.replaceAll(/\s+/g, " ")).toContain("saved what could be read");
  expect((await place.start(["sessions", "list"]).finished).stdout.match(/ses_/g)?.length).toBeGreaterThan(0);
  const aside = readdirSync(dirname(path)).find((name) => name.startsWith("sessions.db.damaged-")) ?? "";
  expect(readFileSync(join(dirname(path), aside)).equals(whole.subarray(0, whole.length - 3 * 4096))).toBe(true);
});

test("R10 no session lock: a second process is refused while the first lives or is stopped; a lock whose number another process has by now is void", async () => {
  const place = await createPlace(oneCommand("touch running; sleep 2"));
  const first = place.start(["exec", "go"]);
  await until(() => existsSync(join(place.workspace, "running")), "the command runs");
  const session = await place.session();
  expect((await place.exec("resume", session, "me too")).stderr).toContain("session_busy");
  first.child.kill("SIGSTOP");
  expect((await place.exec("resume", session, "me too")).stderr).toContain("session_busy");
  first.child.kill("SIGCONT");
  expect((await first.finished).code).toBe(0);
  // Ours, alive, but begun at another time: that process is dead, and its number was given again.
  const log = openSqliteLog(join(place.home, ".holdfast", "sessions.db"));
  await log.lock(`session:${session}`, { ...currentOwner("long dead"), startTime: "1" }, () => true);
  await log.close();
  expect((await place.exec("resume", session, "and on")).code).toBe(0);
});

const apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const canBeApart = spawnSync(apart[0]!, [...apart.slice(1), "true"]).status === 0;

test.each(canBeApart ? [apart] : [])(
  "R10 across containers: a session that a process with numbers of its own (%s) drives is busy until that has ended",
  async (program, ...args) => {
    const place = await createPlace(oneCommand("touch running; sleep 60"));
    const env = { ...process.env, HOME: place.home, HOLDFAST_HOME: join(place.home, ".holdfast"), OPENAI_API_KEY: "e2e-key" };
    const bin = join(import.meta.dirname, "../../../../node_modules/.bin/holdfast");
    const first = spawn(program!, [...args, bin, "exec", "--model", "openai/test", "go"], {
      cwd: place.workspace,
      env: { ...env, OPENAI_BASE_URL: place.server.baseUrl },
      stdio: "ignore",
    });
    try {
      await until(() => existsSync(join(place.workspace, "running")), "the command runs");
      expect((await place.exec("resume", await place.session(), "me too")).stderr).toContain("session_busy");
    } finally {
      const exit = once(first, "exit");
      first.kill("SIGKILL");
      await exit;
    }
    expect((await place.exec("resume", "--last", "and on")).code).toBe(0);
  },
);

test.each(mountable(16))(
  "R16 ENOSPC: a full disk ends the turn as one that can't be saved, asks the model nothing again, shortens no file, and it goes on with space (%s MB)",
  async (size) => {
    const disk = mountSmallDisk(size);
    try {
      let asked = 0;
      const place = await createPlace((results) => {
        asked += 1;
        if (asked === 2) disk.fill(0);
        return results.length < 6
          ? { calls: [command(`echo ${results.length} >> ran; head -c 30000 /dev/zero | tr '\\0' x`)] }
          : { text: "Done." };
      });
      const env = { HOLDFAST_HOME: join(disk.folder, "home") };
      mkdirSync(env.HOLDFAST_HOME, { mode: 0o700 });
      const config = join(env.HOLDFAST_HOME, "config.toml");
      writeFileSync(config, `# kept\n${"# a comment\n".repeat(50)}`);
      const { code, stderr } = await place.start(["exec", "go"], { env }).finished;
      expect(code).not.toBe(0);
      expect(stderr).toContain("store_full");
      // What holds the session's network ends with it.
      await until(() => processesWith(join(env.HOLDFAST_HOME, "commands")).length === 0, "nothing of the session runs");
      // The disk may take one more step before it is full; the failure to save is no failure of the model's.
      expect(asked).toBeLessThanOrEqual(4);
      const done = readFileSync(join(place.workspace, "ran"), "utf8");
      const trust = await place.start(["trust"], { env }).finished;
      if (trust.code !== 0) expect(trust.stderr).toMatch(/full|ENOSPC|space/);
      expect(readFileSync(config, "utf8")).toHaveLength(607);
      disk.empty();
      const listed = await place.start(["sessions", "list"], { env }).finished;
      const session = /ses_[0-9a-z]+/.exec(listed.stdout)?.[0] ?? "";
      expect((await place.start(["exec", "resume", session, "go on"], { env }).finished).code).toBe(0);
      // Nothing that had run ran again unsaid.
      expect(readFileSync(join(place.workspace, "ran"), "utf8").startsWith(done)).toBe(true);
    } finally {
      disk.unmount();
    }
  },
);

test("F04 startup scan: ignored folders, a deep tree, a loop of links and a pipe are not walked before the first request", async () => {
  const place = await createPlace(() => ({ text: "Hello." }), { "README.md": "# A project\n", ".gitignore": "node_modules\n" });
  const old = new Date("2020-01-01");
  const modules = Array.from({ length: 2_000 }, (_, n) => join(place.workspace, "node_modules", `package-${n % 200}`, `file-${n}.js`));
  const made = Array.from({ length: 1_000 }, (_, n) => join(place.workspace, "made", `part-${n % 10}`, `file-${n}.o`));
  for (const path of [...modules, ...made]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "x");
  }
  mkdirSync(join(place.workspace, ...Array<string>(100).fill("deep")), { recursive: true });
  symlinkSync("..", join(place.workspace, "deep", "loop"));
  execFileSync("mkfifo", [join(place.workspace, "pipe")]);
  // Older than the last change: reading would make it younger, where the file system notes it at all.
  for (const path of [...modules, ...made]) utimesSync(path, old, new Date());
  const control = join(place.workspace, "control");
  writeFileSync(control, "x");
  utimesSync(control, old, new Date());
  readFileSync(control);
  const isNoted = statSync(control).atimeMs !== old.getTime();
  const { code, stdout } = await place.exec("hi");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello.\n" });
  const read = [...modules, ...made].filter((path) => statSync(path).atimeMs !== old.getTime());
  expect(isNoted ? read : []).toEqual([]);
});

test("F09 memory with long output: five commands with 30 MB each side by side take no more memory than the words that are shown of them", async () => {
  const peakOf = async (bytes: number): Promise<number> => {
    const many = Array.from({ length: 5 }, (_, n) => command(`head -c ${bytes + n} /dev/zero | tr '\\0' x`));
    let peak = 0;
    const place = await createPlace((results) => {
      if (results.length === 0) return { calls: many };
      peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${started.child.pid}/status`, "utf8"))?.[1]) * 1024;
      return { text: "Done." };
    });
    const started = place.start(["exec", "go"]);
    expect((await started.finished).code).toBe(0);
    return peak;
  };
  const idle = await peakOf(1);
  expect(idle).toBeGreaterThan(0);
  expect((await peakOf(30_000_000)) - idle).toBeLessThan(100_000_000);
});

test("growth: an image that two sessions look at is stored once, and no row holds it as base64", async () => {
  const place = await createPlace(
    (results) =>
      results.length < 2
        ? {
            calls: [
              { name: "read_file", input: { path: "dot.png" } },
              { name: "view_image", input: { path: "dot.png" } },
            ],
          }
        : { text: "Done." },
    {
      "README.md": "# A project\n",
    },
  );
  // A real image: 64 by 64 pixels of noise don't compress.
  const { deflateSync, crc32 } = await import("node:zlib");
  const { randomBytes } = await import("node:crypto");
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const sizes = Buffer.alloc(8);
    sizes.writeUInt32BE(data.length, 0);
    sizes.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([sizes.subarray(0, 4), body, sizes.subarray(4)]);
  };
  const header = Buffer.from([0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0]);
  const pixels = Buffer.concat(Array.from({ length: 64 }, () => Buffer.concat([Buffer.from([0]), randomBytes(64 * 3)])));
  const png = Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(pixels)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  writeFileSync(join(place.workspace, "dot.png"), png);
  for (const prompt of ["look", "look again"]) expect((await place.exec(prompt)).code).toBe(0);
  expect(JSON.stringify(place.server.requests.at(-1))).toContain(png.toString("base64").slice(0, 200));

  const blobs = join(place.home, ".holdfast", "blobs");
  const contents = readdirSync(blobs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  expect(contents.filter((content) => content.equals(png))).toHaveLength(1);
  const db = new DatabaseSync(join(place.home, ".holdfast", "sessions.db"));
  const inRows = db.prepare("SELECT count(*) AS n FROM events WHERE instr(payload, ?) > 0").get(png.toString("base64").slice(100, 160)) as {
    n: number;
  };
  db.close();
  expect(inRows.n).toBe(0);
});
