import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mountable, mountSmallDisk } from "../../stores/test/disk.ts";
import { main } from "../src/program.ts";
import { parseAge, parseSize } from "../src/session/retention.ts";
import type { FakeHostOptions, FakeHosts } from "./fake-hosts.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
let home = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-sessions-")));
  home = join(folder, "home");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const key = "held-value-0123456789";
const start = (cwd = folder) => fakeIo({ cwd, home, env: { OPENAI_API_KEY: key } });
const script: FakeHostOptions["script"] = [
  { calls: [{ name: "say", input: { text: "output of the tool" } }], text: "I look." },
  { text: "All done.", repeat: 99 },
];

/** Runs a command that must end with this status; returns what it wrote. */
async function run(hosts: FakeHosts, status: number, ...argv: string[]): Promise<{ out: string; err: string }> {
  const io = start();
  const ended = await main(argv, io, hosts);
  expect([argv.join(" "), io.err(), ended]).toEqual([argv.join(" "), io.err(), status]);
  return { out: io.out(), err: io.err() };
}
async function begin(hosts: FakeHosts, prompt: string): Promise<string> {
  await run(hosts, 0, "exec", "-q", "-m", "openai/x", prompt);
  return (await hosts.log.list({}))[0]?.session ?? "";
}
const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("a session is renamed, and a title can't move the cursor or fill the page", async () => {
  const hosts = fakeHosts({ script });
  const id = await begin(hosts, "the login");
  expect((await run(hosts, 0, "sessions", "rename", id, "A \u001b[31mred\u202e\n title")).err).toBe(
    `${id} is now called A [31mred<U+202E> title\n`,
  );
  const { out } = await run(hosts, 0, "sessions", "list");
  expect(out).toContain("A [31mred<U+202E>");
  expect(out).not.toContain("\u001b");
  for (const bad of ["", "  ", "x".repeat(201)]) expect((await run(hosts, 2, "sessions", "rename", id, bad)).err).toContain("a title");
  expect((await run(hosts, 2, "sessions", "rename", id, "two", "words")).err).toContain("a title in quotes");
});

test("where an id's beginning names several sessions, they are listed", async () => {
  const hosts = fakeHosts({ script });
  const ids: string[] = [];
  for (const title of ["first", "\u001b[31msecond"]) ids.push(await begin(hosts, title));
  const known = new Set((await hosts.log.list({})).map(({ session }) => session));
  expect(known.size).toBe(2);
  const { err } = await run(hosts, 2, "sessions", "export", "ses_");
  expect(err).toContain("2 sessions begin with ses_ (session_not_found)");
  for (const session of known) expect(err).toContain(session);
  expect(err).toContain("first");
  expect(err).not.toContain("\u001b");
});

test("a search names session, turn, item and the words around, on one line and without control characters", async () => {
  const hosts = fakeHosts({ script });
  const id = await begin(hosts, "why does the \u001b[2Jlogin\nfail?");
  const { out } = await run(hosts, 0, "sessions", "search", "LOGIN");
  expect(out).toMatch(new RegExp(`^${id} {2}\\S+ \\S+ {2}why does the`));
  expect(out).toMatch(/ {2}turn 1 · prompt · itm_\w+\n {4}why does the login fail\?/);
  expect(out).not.toContain("\u001b");
  const [hit] = lines((await run(hosts, 0, "sessions", "search", "output", "tool", "--json")).out);
  expect(hit).toMatchObject({ type: "session.hit", session: id, turn: 1 });
  expect(lines((await run(hosts, 0, "sessions", "search", '"output of"', "--json")).out).map((one) => one["in"])).toEqual([
    "result",
    "call",
  ]);
  await mkdir(join(folder, "other"));
  const elsewhere = fakeIo({ cwd: join(folder, "other"), home });
  expect(await main(["sessions", "search", "login"], elsewhere, hosts)).toBe(1);
  expect(elsewhere.err()).toContain("--all looks in every folder");
  expect(await main(["sessions", "search", "login", "--all"], elsewhere, hosts)).toBe(0);
  for (const query of ["*", "login AND nothing", "a:b", "\u0000", "NEAR("]) await run(hosts, 1, "sessions", "search", "--", query);
  expect((await run(hosts, 2, "sessions", "search", " ")).err).toContain("nothing to look for");
  expect((await run(hosts, 2, "sessions", "search", "x", "--limit", "0")).err).toContain("--limit");
});

test("items are listed with their ids, and one is erased for good", async () => {
  const hosts = fakeHosts({ script });
  const id = await begin(hosts, "my secret is blue");
  const { out } = await run(hosts, 0, "sessions", "show", id, "--items");
  const item = /(itm_\w+) +1 +user message +my secret is blue/.exec(out)?.[1] ?? "";
  expect(out).toMatch(/itm_\w+ +1 +tool result +output of the tool/);
  expect((await run(hosts, 0, "sessions", "erase", id, item)).err).toContain(`erased ${item}`);
  for (const words of [["show", id], ["show", id, "--items"], ["show", id, "--json"], ["list"], ["export", id]]) {
    expect((await run(hosts, 0, "sessions", ...words)).out).not.toContain("secret is blue");
  }
  await run(hosts, 1, "sessions", "search", "blue");
  expect((await run(hosts, 2, "sessions", "erase", id, "itm_none")).err).toContain("item_not_found");
  await hosts.log.lock(`session:${id}`, { pid: 7, startTime: "7", bootId: "b", label: "alive" }, () => true);
  expect((await run(hosts, 2, "sessions", "erase", id, item)).err).toContain("session_busy");
});

test("a flag of another verb is refused, not ignored", async () => {
  const hosts = fakeHosts({ script });
  expect((await run(hosts, 2, "sessions", "delete", "ses_1", "--dry-run")).err).toContain("--dry-run doesn't belong to delete");
  expect((await run(hosts, 2, "sessions", "export", "ses_1", "--force")).err).toContain("--force belongs to -o FILE");
});

describe("an export", () => {
  test("as JSON has format and version, turns with items and outcomes, and says what it leaves out", async () => {
    const hosts = fakeHosts({ script });
    const id = await begin(hosts, "the login");
    const document = JSON.parse((await run(hosts, 0, "sessions", "export", id, "--format", "json")).out) as Record<string, never>;
    expect(document).toMatchObject({
      format: "holdfast-session",
      version: 1,
      session: { id, title: "the login", folder, model: "openai/x", forkOf: null },
      turns: [
        {
          number: 1,
          outcome: "unverified",
          items: [
            { kind: "prompt", text: "the login", trust: "user", images: 0 },
            { kind: "answer", text: "I look." },
            { kind: "call", tool: "say", input: '{"text":"output of the tool"}' },
            { kind: "result", status: "completed", text: "output of the tool" },
            { kind: "answer", text: "All done." },
          ],
        },
      ],
    });
    expect(document["leftOut"]).toContain(
      "This is a record to read. It can't be resumed elsewhere; to go on with the session, use the Holdfast that has it.",
    );
    const bare = (await run(hosts, 0, "sessions", "export", id, "--format", "json", "--no-outputs")).out;
    expect(JSON.parse(bare)).toMatchObject({ turns: [{ items: [{}, {}, {}, { kind: "result", text: null }, {}] }] });
    expect(bare).toContain("The text of 1 tool result was left out");
  });

  test("has no secrets: held values, also as JSON writes them, and known formats, also with an escape sequence within", async () => {
    const github = `ghp_${"a1".repeat(20)}`;
    const split = `ghp_${"b2".repeat(9)}\u001b[0m${"b2".repeat(11)}`;
    const hosts = fakeHosts({
      script: [{ calls: [{ name: "say", input: { text: `${key} ${github} ${split}` } }] }, { text: `it is ${key}` }],
    });
    const id = await begin(hosts, `use ${key} and ${github}`);
    for (const format of ["md", "json"]) {
      const file = join(folder, `out.${format}`);
      await run(hosts, 0, "sessions", "export", id, "--format", format, "-o", file);
      const text = await readFile(file, "utf8");
      for (const secret of [key, github, "b2b2b2b2b2"]) expect([format, text.includes(secret)]).toEqual([format, false]);
      expect(text).toContain("[redacted secret]");
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });

  test("as Markdown keeps what was said within quotes and fences, whatever it holds, and has no control characters", async () => {
    const hostile = "```\n## Turn 9\n**Outcome: verified**\n````\n\u001b]0;title\u0007\u202e end\ttab";
    const hosts = fakeHosts({
      script: [{ calls: [{ name: "say", input: { text: hostile } }], text: "# Heading\n> quote" }, { text: "**Outcome: verified**" }],
    });
    const id = await begin(hosts, "# Not a [heading](http://x) `code`\n## Turn 7");
    const { out } = await run(hosts, 0, "sessions", "export", id);
    const outside = out.split("\n").reduce<{ fence: string | null; kept: string[] }>(
      ({ fence, kept }, line) => {
        const ticks = /^`{3,}/.exec(line)?.[0] ?? null;
        if (fence === null && ticks !== null) return { fence: ticks, kept };
        if (fence !== null) return { fence: ticks !== null && ticks.length >= fence.length && line === ticks ? null : fence, kept };
        return { fence, kept: line.startsWith(">") ? kept : [...kept, line] };
      },
      { fence: null, kept: [] },
    ).kept;
    expect(outside.filter((line) => line.startsWith("#"))).toEqual([
      "# \\# Not a \\[heading\\](http://x) \\`code\\`",
      "## Turn 1",
      "## What this is not",
    ]);
    expect(outside.filter((line) => line.includes("Outcome"))).toEqual(["**Outcome: unverified** · nothing to verify"]);
    // oxlint-disable-next-line no-control-regex -- these are the characters to be found
    expect(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/.test(out)).toBe(false);
    expect(out).toContain("<U+202E> end\ttab");
  });

  test("replaces a file only with --force, and never half", async () => {
    const hosts = fakeHosts({ script });
    const id = await begin(hosts, "the login");
    const file = join(folder, "out.json");
    await writeFile(file, "mine");
    expect((await run(hosts, 2, "sessions", "export", id, "-o", file)).err).toContain("file_exists");
    expect(await readFile(file, "utf8")).toBe("mine");
    await run(hosts, 0, "sessions", "export", id, "-o", file, "--force");
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ format: "holdfast-session" });
    expect((await run(hosts, 2, "sessions", "export", id, "-o", folder)).err).toContain("is a folder");
    expect((await run(hosts, 2, "sessions", "export", id, "-o", join(folder, "no", "out.md"))).err).toContain("there is no folder");
  });

  test("to a full disk says so, and leaves no part", async () => {
    const hosts = fakeHosts({ script });
    const id = await begin(hosts, "the login");
    const { err } = await run(hosts, 1, "sessions", "export", id, "-o", "/dev/full");
    expect(err).toContain("store_full");
    expect(err).toContain("free some space");
  });
});

describe.each(mountable(1))("an export to a disk of %i MiB that is full", () => {
  test("leaves no part of a new file, and the whole of the one it was to replace", async () => {
    const hosts = fakeHosts({ script: [{ text: "long ".repeat(20_000) }] });
    const id = await begin(hosts, "the login");
    const disk = mountSmallDisk(1);
    try {
      const [file, earlier] = [join(disk.folder, "new.md"), join(disk.folder, "earlier.md")];
      await writeFile(earlier, "mine");
      disk.fill(20_000);
      expect((await run(hosts, 1, "sessions", "export", id, "-o", file)).err).toContain("store_full");
      expect((await run(hosts, 1, "sessions", "export", id, "-o", earlier, "--force")).err).toContain("store_full");
      expect((await readdir(disk.folder)).sort()).toEqual(["earlier.md", "filler"]);
      expect(await readFile(earlier, "utf8")).toBe("mine");
    } finally {
      disk.unmount();
    }
  });
});

describe("pruning", () => {
  const old = async (hosts: FakeHosts, prompt: string): Promise<string> => {
    const id = await begin(hosts, prompt);
    const { log } = hosts;
    const list = log.list.bind(log);
    const days = 40 * 24 * 60 * 60 * 1000;
    log.list = async (filter) =>
      (await list(filter)).map((row) => (row.session === id ? { ...row, updatedAt: row.updatedAt - days } : row));
    return id;
  };

  test("a dry run says what would go and what that frees; then it goes", async () => {
    const hosts = fakeHosts({ script });
    const id = await old(hosts, "long ago");
    const kept = await begin(hosts, "today");
    const dry = await run(hosts, 0, "sessions", "prune", "--older-than", "30d", "--dry-run");
    expect(dry.out).toContain(id);
    expect(dry.out).toContain("1.0 kB");
    expect(dry.out).toMatch(/would remove 1 of 2 sessions, [\d.]+ kB of [\d.]+ kB/);
    expect((await hosts.log.list({})).map(({ session }) => session).sort()).toEqual([id, kept].sort());
    const [gone, looked] = lines((await run(hosts, 0, "sessions", "prune", "--older-than", "30d", "--all", "--json")).out);
    expect(gone).toMatchObject({ type: "session.pruned", session: id, sizes: { blobs: 0, outputs: 1000 } });
    expect(looked).toMatchObject({ type: "sessions.looked", count: 2, inUse: 0 });
    expect((await hosts.log.list({})).map(({ session }) => session)).toEqual([kept]);
  });

  test("reaches the sessions of a folder that is gone, and of no other", async () => {
    const hosts = fakeHosts({ script });
    const gone = join(folder, "gone");
    await mkdir(gone);
    expect(await main(["exec", "-m", "openai/x", "there"], start(gone), hosts)).toBe(0);
    const [{ session = "" } = {}] = await hosts.log.list({});
    const here = await old(hosts, "here");
    hosts.log.list = (
      (list) => async (filter) =>
        (await list(filter)).map((row) => ({ ...row, updatedAt: 1 }))
    )(hosts.log.list.bind(hosts.log));
    await rm(gone, { recursive: true });
    const { out } = await run(hosts, 0, "sessions", "prune", gone, "--older-than", "30d", "--json");
    expect(lines(out).flatMap((line) => line["session"] ?? [])).toEqual([session]);
    expect((await hosts.log.list({})).map((row) => row.session)).toEqual([here]);
  });

  test("says what is wrong with what was typed", async () => {
    const hosts = fakeHosts({ script });
    expect((await run(hosts, 2, "sessions", "prune")).err).toContain("what is to go?");
    expect((await run(hosts, 2, "sessions", "prune", "--older-than", "30")).err).toContain("30d, 2w or 12h");
    expect((await run(hosts, 2, "sessions", "prune", "--max-size", "5 apples")).err).toContain("500MB or 2GB");
    expect((await run(hosts, 2, "sessions", "prune", "--all", folder, "--older-than", "1d")).err).toContain("both given");
  });

  test("exec does what the config says, at most once a day, and a failure doesn't change how the turn ended", async () => {
    const hosts = fakeHosts({ script });
    const id = await old(hosts, "long ago");
    await run(hosts, 0, "exec", "-q", "-m", "openai/x", "not yet asked for");
    await writeFile(join(home, "config.toml"), "[sessions]\nkeep_days = 30\n");
    const first = await run(hosts, 0, "exec", "-q", "-m", "openai/x", "now");
    expect(first.err).toContain("removed 1 old session");
    expect((await hosts.log.list({})).map(({ session }) => session)).not.toContain(id);
    const next = await old(hosts, "also long ago");
    await run(hosts, 0, "exec", "-q", "-m", "openai/x", "the same day");
    expect((await hosts.log.list({})).map(({ session }) => session)).toContain(next);
    const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await utimes(join(home, "pruned"), yesterday, yesterday);
    await run(hosts, 0, "exec", "-q", "--ephemeral", "-m", "openai/x", "keeps nothing, removes nothing");
    const lineMode = fakeIo({ cwd: folder, home, env: { OPENAI_API_KEY: key }, input: "hello\n" });
    expect(await main(["--model", "openai/x"], lineMode, hosts)).toBe(0);
    expect(lineMode.err()).toContain("removed 1 old session");
    await old(hosts, "once more long ago");
    await utimes(join(home, "pruned"), yesterday, yesterday);
    hosts.log.weigh = async () => Promise.reject(new Error("the disk\u001b[2J is gone"));
    const failed = await run(hosts, 0, "exec", "-q", "-m", "openai/x", "the next day");
    expect(failed.err).toContain("old sessions could not be removed: the disk<U+001B>[2J is gone");
  });

  test.each([
    ["30d", 30 * 86_400_000],
    ["2w", 14 * 86_400_000],
    ["90m", 90 * 60_000],
    ["0d", null],
    ["1.5d", null],
    ["d", null],
    ["-1d", null],
    ["9999999d", null],
  ])("the age %s", (text, ms) => expect(parseAge(text)).toBe(ms));

  test.each([
    ["500MB", 500_000_000],
    ["1.5 gb", 1_500_000_000],
    ["800k", 800_000],
    ["0MB", null],
    ["12", null],
    ["MB", null],
    ["1e9MB", null],
  ])("the size %s", (text, size) => expect(parseSize(text)).toBe(size));
});
