import type { ChangedFile, SessionEvent } from "@holdfast/protocol";
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../src/program.ts";
import { planUndo } from "../src/undo.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";
import { done, event } from "./recorded.ts";

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

describe("the plan", () => {
  test("merges several edits of a file into one step back, and leaves out what ends as it began", () => {
    const plan = planUndo(
      stored(
        turn,
        edit("a", change("f", "1", "2"), change("g", null, "x")),
        edit("b", change("f", "2", "3"), change("h", "1", "2")),
        edit("c", change("h", "2", "1")),
      ),
      "last",
    );
    expect(plan).toEqual({
      callIds: ["a", "b", "c"],
      files: [
        { path: "f", nowDigest: "3", beforeDigest: "1", before: "blob:1", mode: 0o644 },
        { path: "g", nowDigest: "x", beforeDigest: null, before: null, mode: null },
      ],
      interleaved: [],
    });
  });

  test("takes the newest turn that has edits left, and with all the whole session", () => {
    const events = stored(turn, edit("a", change("f", "1", "2")), turn, edit("b", change("f", "2", "3")), turn);
    expect(planUndo(events, "last").callIds).toEqual(["b"]);
    expect(planUndo(events, "all")).toMatchObject({ callIds: ["a", "b"], files: [{ nowDigest: "3", beforeDigest: "1" }] });
    const undone = [...events, ...stored(event("edits.undone", { callIds: ["b"] }))];
    expect(planUndo(undone, "last").callIds).toEqual(["a"]);
    expect(planUndo(stored(turn), "last")).toEqual({ callIds: [], files: [], interleaved: [] });
  });

  test("names a file that something else changed between two edits", () => {
    expect(planUndo(stored(turn, edit("a", change("f", "1", "2")), edit("b", change("f", "other", "3"))), "last").interleaved).toEqual([
      "f",
    ]);
  });

  test("reads past events whose payload was erased, and a turn without its prompt is still one", () => {
    const [first, a, second, b] = stored(turn, edit("a", change("f", "1", "2")), turn, edit("b", change("g", "1", "2")));
    const events = [first!, a!, { ...second!, payload: null }, b!];
    expect(planUndo(events, "last").callIds).toEqual(["b"]);
    expect(planUndo([first!, { ...a!, payload: null }, second!, b!], "all").callIds).toEqual(["b"]);
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
    expect(again.err()).toContain("no edits to undo");
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
    expect(again.err()).toContain("no edits to undo");
  });
});
