import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Checkpoint, TreeChange } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { BlobStore, Checkpoints } from "@holdfast/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { createCheckpoints } from "../src/checkpoints/create.ts";
import { dropsHistory } from "../src/checkpoints/drops-history.ts";
import { createObserver, openParts } from "../src/observer/index.ts";
import { makePlace, type Place } from "./observer-fixture.ts";

let place: Place;
afterEach(() => place.remove());

interface Followed {
  readonly checkpoints: Checkpoints;
  readonly notes: string[];
  /** How often git was asked. */
  readonly asked: () => number;
  take(command?: string): Promise<Checkpoint>;
  /** What a command does, and what the next checkpoint says of it. */
  after(work: () => void): Promise<readonly TreeChange[]>;
}

/** `slowMs`: how long git takes to answer, as in a large repository: a look at a new name takes at least as long. */
async function follow({ mostBytes = 1_000_000_000, keeps = place.blobs as BlobStore, slowMs = 0 } = {}): Promise<Followed> {
  const input = {
    files: { cwd: place.dir, roots: [{ id: "main", path: place.dir }] },
    blobs: place.blobs,
    cacheDir: join(place.top, "cache"),
    home: place.home,
  };
  const opened = openParts(input);
  let count = 0;
  const git: typeof opened.git = (...args) => {
    count += 1;
    return slowMs === 0 ? opened.git(...args) : sleep(slowMs).then(() => opened.git(...args));
  };
  const parts = { ...opened, git, places: { ...opened.places, git } };
  const { manifest } = await createObserver({ ...input, parts }).snapshot(null);
  const notes: string[] = [];
  const checkpoints = createCheckpoints({ parts, blobs: keeps, home: place.home, mostBytes, onNote: (note) => notes.push(note) });
  const take = (command = "x"): Promise<Checkpoint> => checkpoints.take({ session: "ses", commands: [command], manifest });
  const after = async (work: () => void): Promise<readonly TreeChange[]> => {
    work();
    checkpoints.ended("ses", []);
    await checkpoints.ready();
    return (await take()).changes;
  };
  return { checkpoints, notes, asked: () => count, take, after };
}

const brief = (changes: readonly TreeChange[]): string[] =>
  changes
    .map(({ path, by, before, after }) => `${by} ${path.slice(place.dir.length + 1)} ${before?.kind ?? "-"} ${after?.kind ?? "-"}`)
    .sort();

test("what a command did, and what somebody else did after it, are told apart; git is asked only about new names", async () => {
  place = makePlace({ git: true });
  for (const name of ["a", "b", "c", "dir/d"]) place.write(name, name);
  place.commit();
  const { take, after, checkpoints, asked } = await follow();
  expect((await take()).base).toBeTypeOf("string");
  const before = asked();
  expect(brief(await after(() => place.write("a", "changed")))).toEqual(["session a file file"]);
  rmSync(join(place.dir, "b"));
  checkpoints.ended("ses", []);
  await checkpoints.ready();
  place.write("c", "by hand");
  expect(brief((await take()).changes)).toEqual(["outside c file file", "session b file -"]);
  expect(asked()).toBe(before);
  expect(brief(await after(() => place.write("new/x", "x")))).toEqual(["session new - folder", "session new/x - file"]);
  expect(asked()).toBeGreaterThan(before);
});

describe("where looking takes long", () => {
  async function slow() {
    place = makePlace({ git: true });
    for (const name of ["a", "b"]) place.write(name, `${name}\n`);
    place.commit();
    const followed = await follow({ slowMs: 40 });
    await followed.take();
    const at = (name: string): string => join(place.dir, name);
    const { checkpoints } = followed;
    return {
      ...followed,
      /** As an edit tool does it. */
      async edit(name: string, text: string) {
        const node = async () => (await checkpoints.nodesAt([at(name)])).get(at(name)) ?? null;
        const before = await node();
        place.write(name, text);
        checkpoints.changed("ses", [{ path: at(name), by: "session", before, after: await node() }]);
      },
      async contentBefore(changes: readonly TreeChange[], name: string) {
        const node = changes.find(({ path }) => path === at(name))?.before;
        return node == null ? null : String(Buffer.from((await checkpoints.content(node, 100)) ?? ""));
      },
    };
  }

  test("what a person does between two steps is no command's, however soon the next one comes", async () => {
    const { take, checkpoints } = await slow();
    place.write("new", "by the first");
    checkpoints.ended("ses", []);
    await checkpoints.ready();
    place.write("a", "by hand");
    expect(brief((await take()).changes)).toEqual(["outside a file file", "session new - file"]);
  });

  test("what an edit left is kept before the next command, and the command's change begins there", async () => {
    const { take, after, checkpoints, edit, contentBefore } = await slow();
    place.write("new", "by the first");
    checkpoints.ended("ses", []);
    await checkpoints.ready();
    await edit("a", "edited");
    await take();
    expect(await contentBefore(await after(() => place.write("a", "by the second")), "a")).toBe("edited");
  });

  test("and while it is under way, nothing of our own is missed", async () => {
    const { take, after, checkpoints, edit, contentBefore } = await slow();
    place.write("new", "by the first");
    checkpoints.ended("ses", []);
    await sleep(10);
    await edit("a", "by another's edit");
    await take();
    expect(await contentBefore(await after(() => place.write("a", "by the second")), "a")).toBe("by another's edit");
  });
});

test("permissions, links, folders, pipes of folders turned into files and back are seen; nothing in .git is written", async () => {
  place = makePlace({ git: true });
  for (const name of ["a", "dir/d", "was-file"]) place.write(name, name);
  symlinkSync("a", join(place.dir, "link"));
  mkdirSync(join(place.dir, "empty"));
  place.commit();
  const times = () => ["index", "HEAD", "config", "."].map((name) => lstatSync(join(place.dir, ".git", name)).ctimeMs);
  const before = times();
  const { take, after } = await follow();
  await take();
  const changes = await after(() => {
    chmodSync(join(place.dir, "a"), 0o750);
    rmSync(join(place.dir, "dir"), { recursive: true });
    place.write("dir", "a file now");
    rmSync(join(place.dir, "was-file"));
    place.write("was-file/in", "x");
    rmSync(join(place.dir, "link"));
    symlinkSync("/etc/passwd", join(place.dir, "link"));
    rmSync(join(place.dir, "empty"), { recursive: true });
  });
  expect(brief(changes)).toEqual([
    "session a file file",
    "session dir folder file",
    "session dir/d file -",
    "session empty folder -",
    "session link link link",
    "session was-file file folder",
    "session was-file/in - file",
  ]);
  expect(times()).toEqual(before);
});

test("what is ignored stays out, by the rules of the beginning", async () => {
  place = makePlace({ git: true });
  place.write(".gitignore", "*.log\n/out/\n");
  place.write("a", "a");
  place.commit();
  place.write("out/x", "x");
  const { take, after } = await follow();
  await take();
  const changes = await after(() => {
    place.write(".gitignore", "*.txt\n");
    place.write("hidden.txt", "new");
    place.write("b.log", "log");
    place.write("out/y", "y");
    place.write("made/c.log", "log");
  });
  expect(brief(changes)).toEqual(["session .gitignore file file", "session hidden.txt - file", "session made - folder"]);
});

test("without git everything counts but what its ignore files name", async () => {
  place = makePlace({ git: false });
  place.write("a", "a");
  place.write("node_modules/x", "x");
  const { take, after, checkpoints } = await follow();
  await take();
  const [change] = await after(() => place.write("a", "b"));
  expect(change?.before?.content).not.toBeNull();
  expect(Buffer.from((await checkpoints.content(change!.before!, 100))!).toString()).toBe("a");
  expect(brief(await after(() => place.write("node_modules/y", "y")))).toEqual([]);
});

test("content that git has is kept, too, before a command that may take it away", async () => {
  place = makePlace({ git: true });
  // More than is copied anyway.
  place.write("large", Buffer.alloc(17_000_000, 1));
  place.write("a", "a");
  place.commit();
  const { take, after, checkpoints } = await follow();
  await take("make");
  await take("rm -rf .git");
  const changes = await after(() => {
    rmSync(join(place.dir, ".git"), { recursive: true });
    rmSync(join(place.dir, "a"));
    rmSync(join(place.dir, "large"));
  });
  expect(brief(changes)).toEqual(["session a file -", "session large file -"]);
  const contents = await Promise.all(changes.map(({ before }) => checkpoints.content(before!, 20_000_000)));
  expect(contents.map((content) => content?.length)).toEqual([17_000_000, 1]);
});

describe("what can't be kept is named", () => {
  test("a file over its part of the bound; and the oldest is let go, and told", async () => {
    place = makePlace({ git: false });
    place.write("huge", Buffer.alloc(3_000_000, 1));
    const { take, after, notes, checkpoints } = await follow({ mostBytes: 4_000_000 });
    expect((await take()).unkept).toEqual([{ path: join(place.dir, "huge"), why: "too_large" }]);
    const first = (await after(() => place.write("a", Buffer.alloc(900_000, 2))))[0]!.after!;
    for (let n = 3; n < 9; n += 1) await after(() => place.write("a", Buffer.alloc(900_000, n)));
    expect(notes.join()).toContain("were let go, to keep no more than 4 MB");
    expect(await checkpoints.content(first, 1_000_000)).toBeNull();
  });

  test("everything, where the disk is full; the checkpoint is taken all the same", async () => {
    place = makePlace({ git: true });
    place.write("a", "a");
    place.commit();
    place.write("dirty", "d");
    const full: BlobStore = {
      ...place.blobs,
      // What lists things is small, and still finds room.
      put: async (bytes) => {
        if (!Buffer.from(bytes).includes('"holdfast"')) throw new HoldfastError("store_full", "no room");
        return place.blobs.put(bytes);
      },
    };
    place.write("large", Buffer.alloc(2_000_000, 1));
    const { take } = await follow({ keeps: full });
    const checkpoint = await take();
    expect(checkpoint.failed).toBeUndefined();
    expect(checkpoint.unkept).toEqual([
      { path: join(place.dir, "large"), why: "no_room" },
      { path: join(place.dir, "a"), why: "no_room" },
    ]);
  });
});

test("a session's own edit is not told twice, and what was there before the first look is known after a move", async () => {
  place = makePlace({ git: true });
  place.write("a", "a");
  place.write("b", "b");
  place.commit();
  const { take, checkpoints } = await follow();
  await take();
  const read = async (path: string) => (await checkpoints.nodesAt([join(place.dir, path)])).get(join(place.dir, path)) ?? null;
  const before = await read("a");
  place.write("a", "edited");
  checkpoints.changed("ses", [{ path: join(place.dir, "a"), by: "session", before, after: await read("a") }]);
  renameSync(join(place.dir, "b"), join(place.dir, "moved"));
  const changes = (await take()).changes;
  expect(brief(changes)).toEqual(["outside b file -", "outside moved - file"]);
  expect(readFileSync(join(place.dir, "moved"), "utf8")).toBe("b");
  expect(statSync(place.dir).isDirectory()).toBe(true);
});

test.each([
  ["rm -rf .git", true],
  ["git gc --prune=now", true],
  ["find . -name '*.o' -delete", true],
  ["rm -rf *", true],
  ["rm -r ../project", true],
  ['rm -rf "$PWD"', true],
  ["git clean -fdx", true],
  ["rm -rf dist build/out.js", false],
  ["mv a.txt src/b.txt && npm test", false],
  ["git commit -am work", false],
  ["cat .gitignore", false],
])("%s may take away what git holds: %s", (command, expected) => {
  place = makePlace({ git: false });
  expect(dropsHistory(command)).toBe(expected);
});

test("a repository inside that is taken away and comes again is looked into", async () => {
  place = makePlace({ git: true });
  place.write("a", "a");
  place.commit();
  place.write("deep/inner/f", "f");
  place.git("-C", "deep/inner", "init", "-q");
  const { take, after } = await follow();
  await take();
  const away = join(place.top, "away");
  expect(brief(await after(() => renameSync(join(place.dir, "deep"), away)))).toContain("session deep/inner/f file -");
  await after(() => place.write("deep", "a file"));
  const changes = await after(() => {
    rmSync(join(place.dir, "deep"));
    renameSync(away, join(place.dir, "deep"));
  });
  expect(brief(changes)).toEqual(["session deep file folder", "session deep/inner - folder", "session deep/inner/f - file"]);
});
