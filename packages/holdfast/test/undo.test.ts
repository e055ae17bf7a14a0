import type { ChangedFile, Checkpoint, EventPayload, SessionEvent, StoredEvent, TreeChange, TreeNode } from "@holdfast/protocol";
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../src/program.ts";
import { readJournal, stepsOf } from "../src/undo/journal.ts";
import { planUndo } from "../src/undo/plan.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";
import { decided, done, event } from "./recorded.ts";

const turn = event("turn.started", {
  turnId: "t",
  message: { kind: "user_message", id: "u", trust: "user", parts: [{ type: "text", text: "x" }] },
});
const change = (path: string, before: string | null, after: string | null): ChangedFile => ({
  path,
  beforeDigest: before,
  afterDigest: after,
  before: before === null ? null : `blob:${before}`,
  beforeMode: before === null ? null : 0o644,
});
const edit = (callId: string, ...changed: ChangedFile[]) => done(callId, { changed });
const stored = (...events: SessionEvent[]) =>
  events.map((one, index) => ({
    session: "s",
    seq: index + 1,
    type: one.type,
    version: 1,
    at: 0,
    prev: "",
    digest: "",
    hash: "",
    salt: null,
    payload: JSON.stringify(one.payload),
  }));
const node = (digest: string | null): TreeNode | null =>
  digest === null ? null : { kind: "file", mode: 0o644, digest, size: 1, content: { blob: `b${digest}`, offset: 0 } };
const moved = (path: string, before: string | null, after: string | null, by: TreeChange["by"] = "session"): TreeChange => ({
  path,
  by,
  before: node(before),
  after: node(after),
});
const command = (callId: string, ...changes: TreeChange[]) => [
  decided(callId, { command: "x", workspace: "exclusive", changesWorkspace: true }),
  event("call.intended", {
    callId,
    attempt: 1,
    replay: "probe",
    key: "k",
    inputDigest: "d",
    scope: {},
    prepared: null,
    checkpoint: { changes, blobs: [] },
  }),
  done(callId, { exitCode: 0 }),
];
const ended = (...changes: TreeChange[]) =>
  event("turn.ended", {
    turnId: "t",
    outcome: "unverified",
    isWeak: false,
    report: { heading: "", message: "", criteria: [], changes: [], changesKnown: true, subject: null, reasons: [] },
    error: null,
    checkpoint: { changes, blobs: [] },
  });
const reads = { changesOf: async ({ changes }: Checkpoint) => changes, tree: async () => null };
const planOf = async (events: StoredEvent[], from = 1) => planUndo(await readJournal(events, from, reads, null));

describe("the plan", () => {
  test("merges several edits of a file into one step back, and leaves out what ends as it began", async () => {
    const plan = await planOf(
      stored(
        turn,
        edit("a", change("f", "1", "2"), change("g", null, "x")),
        edit("b", change("f", "2", "3"), change("h", "1", "2")),
        edit("c", change("h", "2", "1")),
      ),
    );
    expect(plan.interleaved).toEqual([]);
    expect(plan.steps.map(({ path, from, to }) => [path, from?.digest, to?.digest, to?.content, to?.mode])).toEqual([
      ["f", "3", "1", { whole: "blob:1" }, 0o644],
      ["g", "x", undefined, undefined, undefined],
    ]);
  });

  test("gives what a checkpoint found to the command before it, and only what is asked for", async () => {
    const events = stored(
      turn,
      ...command("a"),
      edit("b", change("f", "2", "3")),
      ...command("c", moved("f", "1", "2"), moved("g", null, "x")),
      ended(moved("h", "1", "2")),
    );
    expect((await planOf(events)).steps.map(({ path, to }) => [path, to?.digest])).toEqual([
      ["f", "1"],
      ["g", undefined],
      ["h", "1"],
    ]);
    // From the edit on: what the command before it did stays.
    expect((await planOf(events, 5)).steps.map(({ path, to }) => [path, to?.digest])).toEqual([
      ["f", "2"],
      ["h", "1"],
    ]);
  });

  test("leaves alone what only others changed, and names what they changed in between", async () => {
    const events = stored(
      turn,
      ...command("a"),
      ...command("b", moved("f", "1", "2"), moved("f", "2", "3", "outside"), moved("u", "1", "2", "outside")),
    );
    const plan = await planOf(events);
    expect(plan.interleaved).toEqual(["f"]);
    expect(plan.steps.map(({ path }) => path)).toEqual(["f"]);
  });

  test("what was undone is as if it had never been, also under undos that go further back; one of an older log takes away its edits", async () => {
    const events = stored(turn, edit("a", change("f", "1", "2")), turn, edit("b", change("f", "2", "3")), turn);
    expect((await planOf(events, 3)).steps.map(({ to }) => to?.digest)).toEqual(["2"]);
    expect((await planOf(events)).steps.map(({ to }) => to?.digest)).toEqual(["1"]);
    const after = (...payloads: EventPayload<"edits.undone">[]) => [
      ...events,
      ...payloads.map((payload, at) => ({ ...stored(event("edits.undone", payload))[0]!, seq: 6 + at })),
    ];
    const undone = { callIds: ["b"], since: 3, changes: [moved("f", "3", "2")] };
    expect((await planOf(after(undone), 3)).steps).toEqual([]);
    expect((await planOf(after(undone))).steps.map(({ from, to }) => [from?.digest, to?.digest])).toEqual([["2", "1"]]);
    expect((await planOf(after(undone, { callIds: ["a", "b"], since: 1, changes: [moved("f", "2", "1")] }), 3)).steps).toEqual([]);
    expect((await planOf(after(undone, { callIds: ["a", "b"], since: 1, changes: [moved("f", "2", "1")] }))).steps).toEqual([]);
    expect((await planOf(after({ callIds: ["b"] }), 3)).steps).toEqual([]);
  });

  test("names a file that something else changed between two edits", async () => {
    expect((await planOf(stored(turn, edit("a", change("f", "1", "2")), edit("b", change("f", "other", "3"))))).interleaved).toEqual(["f"]);
  });

  test("reads past events whose payload was erased", async () => {
    const [first, a, second, b] = stored(turn, edit("a", change("f", "1", "2")), turn, edit("b", change("g", "1", "2")));
    const events = [first!, { ...a!, payload: null }, { ...second!, payload: null }, b!];
    expect((await planOf(events)).steps.map(({ path }) => path)).toEqual(["g"]);
    expect(stepsOf(events).map(({ turn: number }) => number)).toEqual([1, 2]);
  });
});

describe("holdfast undo", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-undo-")));
    await writeFile(join(folder, "login.js"), "before\n");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const start = () => fakeIo({ cwd: folder, home: join(folder, "home"), env: { OPENAI_API_KEY: "k" } });
  const write = (path: string, content: string) => ({ name: "write", input: { path, content } });
  const edited = async () => {
    const hosts = fakeHosts({ script: [{ calls: [write("login.js", "after\n"), write("new.js", "new\n")] }, { text: "done", repeat: 5 }] });
    expect(await main(["exec", "-m", "openai/x", "go"], start(), hosts)).toBe(0);
    return hosts;
  };

  test("restores what was changed and deletes what was made; a second one finds nothing left", async () => {
    const hosts = await edited();
    const dry = start();
    expect(await main(["undo", "--dry-run"], dry, hosts)).toBe(0);
    expect(dry.out()).toContain(`would be restored  ${join(folder, "login.js")}`);
    expect(await readFile(join(folder, "login.js"), "utf8")).toBe("after\n");
    const io = start();
    expect(await main(["undo"], io, hosts)).toBe(0);
    expect(await readFile(join(folder, "login.js"), "utf8")).toBe("before\n");
    await expect(stat(join(folder, "new.js"))).rejects.toMatchObject({ code: "ENOENT" });
    const again = start();
    expect(await main(["undo"], again, hosts)).toBe(0);
    expect(again.err()).toContain("nothing to undo");
  });

  test("one whose process died right after its record is recorded once, and what was changed since stays", async () => {
    const hosts = await edited();
    const dying = {
      ...hosts,
      openHost: async (...given: Parameters<typeof hosts.openHost>) => {
        const host = await hosts.openHost(...given);
        const { checkpoints } = host.ports;
        const settled = () => Promise.reject(new Error("killed"));
        return { ...host, ports: { ...host.ports, ...(checkpoints === undefined ? {} : { checkpoints: { ...checkpoints, settled } }) } };
      },
    };
    expect(await main(["undo"], start(), dying)).not.toBe(0);
    await writeFile(join(folder, "login.js"), "by hand\n");
    expect(await main(["undo"], start(), hosts)).toBe(0);
    expect(await readFile(join(folder, "login.js"), "utf8")).toBe("by hand\n");
    await expect(stat(join(folder, "new.js"))).rejects.toMatchObject({ code: "ENOENT" });
    const [row] = await hosts.log.list({});
    const events = await hosts.log.read(row?.session ?? "", 1);
    expect(events.filter(({ type }) => type === "edits.undone").length).toBe(1);
  });

  test("shows a name with line ends on one line of the diff", async () => {
    const name = "evil\n+++ b/other\n+line";
    const hosts = fakeHosts({ script: [{ calls: [write(name, "new\n")] }, { text: "done", repeat: 5 }] });
    expect(await main(["exec", "-m", "openai/x", "go"], start(), hosts)).toBe(0);
    const io = start();
    expect(await main(["undo", "--dry-run"], io, hosts)).toBe(0);
    expect(io.out()).toContain(String.raw`--- "a/evil\n+++ b/other\n+line"`.replace('"a/', 'a/"'));
    expect(io.out().split("\n")).not.toContain("+line");
  });

  test("changes nothing where a file was changed since, and names each", async () => {
    const hosts = await edited();
    await writeFile(join(folder, "login.js"), "by hand\n");
    await writeFile(join(folder, "new.js"), "by hand\n");
    const io = start();
    expect(await main(["undo"], io, hosts)).toBe(1);
    expect(io.err()).toContain("undo_conflict");
    expect(io.err()).toContain(`${join(folder, "login.js")}: changed since`);
    expect(io.err()).toContain(`${join(folder, "new.js")}: changed since`);
    await rm(join(folder, "login.js"));
    const gone = start();
    expect(await main(["undo"], gone, hosts)).toBe(1);
    expect(gone.err()).toContain(`${join(folder, "login.js")}: deleted since`);
    expect(await readFile(join(folder, "new.js"), "utf8")).toBe("by hand\n");
  });

  test.each([
    ["before any file", []],
    ["between two files", ["login.js"]],
    ["after the last file, before it was recorded", ["login.js", "new.js"]],
  ])("an undo whose process was killed %s is gone on with", async (_, restored) => {
    const hosts = await edited();
    if (restored.includes("login.js")) await writeFile(join(folder, "login.js"), "before\n");
    if (restored.includes("new.js")) await rm(join(folder, "new.js"));
    const io = start();
    expect(await main(["undo"], io, hosts)).toBe(0);
    expect(io.out().match(/^(restored|deleted)/gm)?.length ?? 0).toBe(2 - restored.length);
    expect(await readFile(join(folder, "login.js"), "utf8")).toBe("before\n");
    await expect(stat(join(folder, "new.js"))).rejects.toMatchObject({ code: "ENOENT" });
    const again = start();
    expect(await main(["undo"], again, hosts)).toBe(0);
    expect(again.err()).toContain("nothing to undo");
  });
});
