import { execFileSync, fork } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TreeNode } from "@holdfast/protocol";
import type { Restore } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cleanUp } from "../src/checkpoints/go-back.ts";
import { finishRestore, restoreTree, settleRestore } from "../src/checkpoints/restore.ts";
import type { RestorePlaces } from "../src/checkpoints/restore-places.ts";
import { mountable, mountSmallDisk, type SmallDisk } from "../../stores/test/disk.ts";
import { contentsOf } from "./checkpoints-child.ts";

let top = "";
let root = "";
let home = "";
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-restore-")));
  [root, home] = [join(top, "work"), join(top, "home")];
  mkdirSync(root);
  mkdirSync(home);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const file = (text: string, mode = 0o644): TreeNode => ({
  kind: "file",
  mode,
  digest: digest(text),
  size: text.length,
  content: { whole: text },
});
const link = (target: string): TreeNode => ({
  kind: "link",
  mode: null,
  digest: digest(target),
  size: target.length,
  content: { whole: target },
});
const folder = (mode = 0o755): TreeNode => ({ kind: "folder", mode, digest: null, size: 0, content: null });
const places = (more: Partial<RestorePlaces> = {}): RestorePlaces => ({ home, roots: [root], pieces: contentsOf, ...more });

/** A tree in which everything that can be is otherwise than it was. */
function changed(): Restore {
  writeFileSync(join(root, "edited"), "now");
  writeFileSync(join(root, "made"), "made");
  writeFileSync(join(root, "modes"), "same");
  chmodSync(join(root, "modes"), 0o600);
  writeFileSync(join(root, "was-folder"), "a file");
  mkdirSync(join(root, "was-file/in"), { recursive: true });
  writeFileSync(join(root, "was-file/in/x"), "x");
  symlinkSync("elsewhere", join(root, "link"));
  mkdirSync(join(root, "locked"), { mode: 0o755 });
  writeFileSync(join(root, "locked/file"), "now");
  chmodSync(join(root, "locked"), 0o555);
  const at = (path: string): string => join(root, path);
  return {
    note: ["call"],
    steps: [
      { path: at("edited"), from: file("now"), to: file("before") },
      { path: at("gone"), from: null, to: file("gone", 0o755) },
      { path: at("link"), from: link("elsewhere"), to: link("before") },
      { path: at("locked/file"), from: file("now"), to: file("before", 0o640) },
      { path: at("made"), from: file("made"), to: null },
      { path: at("modes"), from: file("same", 0o600), to: file("same", 0o644) },
      { path: at("was-file"), from: folder(), to: file("a file before") },
      { path: at("was-file/in"), from: folder(), to: null },
      { path: at("was-file/in/x"), from: file("x"), to: null },
      { path: at("was-folder"), from: file("a file"), to: folder(0o750) },
      { path: at("was-folder/y"), from: null, to: file("y") },
    ],
  };
}

function now(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const stat = lstatSync(path);
    const what = stat.isSymbolicLink() ? readlinkSync(path) : stat.isFile() ? readFileSync(path, "utf8") : "/";
    found[path.slice(root.length + 1)] = `${stat.isSymbolicLink() ? "" : (stat.mode & 0o7777).toString(8)} ${what}`;
  }
  return found;
}

const restored = {
  edited: "644 before",
  gone: "755 gone",
  link: " before",
  locked: "555 /",
  "locked/file": "640 before",
  modes: "644 same",
  "was-file": "644 a file before",
  "was-folder": "750 /",
  "was-folder/y": "644 y",
};

test("files, links, folders and permissions become what they were, and nothing is left beside them", async () => {
  expect(await restoreTree(places(), "ses", changed())).toEqual({ type: "restored", kept: [] });
  cleanUp(places(), "ses");
  expect(now()).toEqual(restored);
  expect(existsSync(join(home, "undo")) ? readdirSync(join(home, "undo")) : []).toEqual([]);
});

test("a pipe is made by no program that lies in the workspace", async () => {
  const bin = join(root, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "mkfifo"), `#!/bin/sh\ntouch ${top}/ran\n`, { mode: 0o755 });
  const { PATH } = process.env;
  process.env["PATH"] = `${bin}:${PATH}`;
  try {
    const pipe: TreeNode = { kind: "pipe", mode: 0o600, digest: null, size: 0, content: null };
    const restore = { note: ["call"], steps: [{ path: join(root, "pipe"), from: null, to: pipe }] };
    expect(await restoreTree(places(), "ses", restore)).toEqual({ type: "restored", kept: [] });
  } finally {
    process.env["PATH"] = PATH;
  }
  expect(lstatSync(join(root, "pipe")).isFIFO()).toBe(true);
  expect(existsSync(join(top, "ran"))).toBe(false);
});

describe("a process that is killed on the way", () => {
  const stops: string[] = [];
  test("at each stop leaves what the next one finishes, all of it or nothing", async () => {
    await restoreTree(places({ onStop: (what) => stops.push(what) }), "ses", changed());
    expect(stops.length).toBeGreaterThan(20);
    const kinds = new Set<string>();
    for (const [at, what] of stops.entries()) {
      // The first of each kind: each takes a process.
      const kind = what.split(" ")[0] ?? "";
      if (kinds.has(kind) && process.env["HOLDFAST_TEST_WHOLE"] === undefined) continue;
      kinds.add(kind);
      rmSync(root, { recursive: true, force: true });
      rmSync(home, { recursive: true, force: true });
      mkdirSync(root);
      mkdirSync(home);
      const restore = changed();
      const before = now();
      const child = fork(join(import.meta.dirname, "checkpoints-child.ts"), [root, home, String(at)], { stdio: "ignore" });
      child.send(restore);
      await new Promise((done) => child.on("exit", done));
      const isDecided = at > stops.indexOf("decide");
      if (isDecided) expect(await finishRestore(places(), "ses")).toEqual({ type: "restored", kept: [] });
      else cleanUp(places(), "ses");
      if (isDecided) cleanUp(places(), "ses");
      expect(now(), `killed before ${stops[at]}`).toEqual(isDecided ? restored : before);
    }
  }, 120_000);

  test("and a file that somebody changes then: everything goes back, and theirs stays", async () => {
    const restore = changed();
    const before = now();
    const child = fork(join(import.meta.dirname, "checkpoints-child.ts"), [root, home, "mode"], { stdio: "ignore" });
    child.send(restore);
    await new Promise((done) => child.on("exit", done));
    writeFileSync(join(root, "edited"), "by hand");
    const result = await finishRestore(places(), "ses");
    expect(result).toEqual({ type: "refused", paths: [{ path: join(root, "edited"), why: "changed" }] });
    expect(now()).toEqual({ ...before, edited: "644 by hand" });
  });
});

describe("what a process leaves that ends at any point", () => {
  /** All that is on disk at each stop, as a kill there would leave it. */
  function copies(): { readonly onStop: (what: string) => void; readonly each: (then: (what: string) => Promise<void>) => Promise<void> } {
    const stops: string[] = [];
    const copyOf = (n: number): string => join(top, `copy-${n}`);
    return {
      onStop(what) {
        mkdirSync(copyOf(stops.length));
        execFileSync("cp", ["-a", root, home, copyOf(stops.length)]);
        stops.push(what);
      },
      async each(then) {
        for (const [n, what] of stops.entries()) {
          for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true });
          execFileSync("cp", ["-a", join(copyOf(n), "work"), join(copyOf(n), "home"), top]);
          await then(what);
        }
        expect(stops.length).toBeGreaterThan(20);
      },
    };
  }
  /** The last thing is refused, and all goes back: these are its stops. */
  function refusedAtLast(onStop: (what: string) => void): (what: string) => void {
    let isBack = false;
    return (what) => {
      if (isBack) return onStop(what);
      if (what !== "moved") return;
      isBack = true;
      throw Object.assign(new Error("refused"), { code: "EIO" });
    };
  }
  /** What the next process does with it. */
  async function goOn(): Promise<string> {
    const { type } = await finishRestore(places(), "ses");
    cleanUp(places(), "ses");
    return type;
  }

  test("is gone through with, also while what waited beside the files is cleared away", async () => {
    const { onStop, each } = copies();
    await restoreTree(places({ onStop }), "ses", changed());
    cleanUp(places({ onStop }), "ses");
    await each(async (what) => {
      // Before the first of these it was not noted at all.
      if (what === "note") return;
      expect(await goOn(), what).toBe("restored");
      expect(now(), what).toEqual(restored);
    });
  });

  test("is gone through with or was taken back, where it was about to go back", async () => {
    const { onStop, each } = copies();
    const restore = changed();
    const before = now();
    expect(await restoreTree(places({ onStop: refusedAtLast(onStop) }), "ses", restore)).toMatchObject({ type: "failed" });
    expect(now()).toEqual(before);
    await each(async (what) => {
      expect(await goOn(), what).toBe("restored");
      expect(now(), what).toEqual(restored);
    });
  });

  test.each(["onwards", "back"])("on its way %s, and somebody changes a file then: all of it or nothing, and theirs stays", async (way) => {
    const { onStop, each } = copies();
    const restore = changed();
    const before = now();
    await restoreTree(places({ onStop: way === "back" ? refusedAtLast(onStop) : onStop }), "ses", restore);
    cleanUp(places({ onStop }), "ses");
    await each(async (what) => {
      writeFileSync(join(root, "edited"), "by hand");
      // Once it is on its way, and until all is moved, it goes back; after that the change is one like any.
      const isDone = (await goOn()) === "restored";
      expect(now(), what).toEqual({ ...(isDone && what !== "note" ? restored : before), edited: "644 by hand" });
    });
  });
});

test.each(["note", "stage 0", "decide", "replace 0", "put 1", "take_away 8", "remove_folder 7", "make_folder 9", "mode 5", "moved"])(
  "where the file system refuses at %s, nothing is half done",
  async (where) => {
    const restore = changed();
    const before = now();
    const onStop = (what: string): void => {
      if (what === where) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    };
    expect(await restoreTree(places({ onStop }), "ses", restore)).toMatchObject({
      type: "failed",
      message: "the disk is full",
      isBegun: false,
      full: { missing: null },
    });
    expect(now()).toEqual(before);
  },
);

test("a file that was changed since, or whose content is gone, is named, and nothing is done", async () => {
  const restore = changed();
  writeFileSync(join(root, "made"), "by hand");
  const before = now();
  expect(await restoreTree(places(), "ses", restore)).toEqual({ type: "refused", paths: [{ path: join(root, "made"), why: "changed" }] });
  writeFileSync(join(root, "made"), "made");
  const gone = places({
    pieces: async function* () {
      yield null;
    },
  });
  expect(await restoreTree(gone, "ses", restore)).toMatchObject({ type: "refused", paths: [{ why: "not_kept" }] });
  expect(now()).toEqual({ ...before, made: "644 made" });
});

test("a folder that has become a link leads nowhere", async () => {
  const outside = join(top, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "theirs");
  const restore = { note: null, steps: [{ path: join(root, "in/file"), from: file("theirs"), to: file("before") }] };
  symlinkSync(outside, join(root, "in"));
  expect(await restoreTree(places(), "ses", restore)).toMatchObject({ type: "refused" });
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("theirs");
  expect(statSync(outside).isDirectory()).toBe(true);
});

test("a folder that holds something of others stays", async () => {
  mkdirSync(join(root, "made"));
  writeFileSync(join(root, "made/own"), "own");
  writeFileSync(join(root, "made/theirs"), "theirs");
  const steps = [
    { path: join(root, "made"), from: folder(), to: null },
    { path: join(root, "made/own"), from: file("own"), to: null },
  ];
  expect(await restoreTree(places(), "ses", { note: null, steps })).toEqual({ type: "restored", kept: [join(root, "made")] });
  cleanUp(places(), "ses");
  expect(now()).toEqual({ made: "755 /", "made/theirs": "644 theirs" });
});

describe.each(mountable(2))("where the workspace's disk (%s MB) is full", (size) => {
  let disk: SmallDisk;
  let before = "";
  beforeEach(() => {
    disk = mountSmallDisk(size);
    root = join(disk.folder, "work");
    mkdirSync(root);
    before = "b".repeat(400_000);
  });
  afterEach(() => disk.unmount());

  function filled(made: number): Restore {
    const at = (path: string): string => join(root, path);
    mkdirSync(at("new"));
    for (const [name, text] of Object.entries({ edited: "now", made: "m".repeat(made), "new/too": "too" })) writeFileSync(at(name), text);
    disk.fill(0);
    return {
      note: null,
      steps: [
        { path: at("edited"), from: file("now"), to: file(before) },
        { path: at("gone"), from: null, to: file("gone") },
        { path: at("made"), from: file("m".repeat(made)), to: null },
        { path: at("new"), from: folder(), to: null },
        { path: at("new/too"), from: file("too"), to: null },
      ],
    };
  }
  const undone = (): Record<string, string> => ({ edited: `644 ${before}`, gone: "644 gone" });

  test("what only goes makes room for what comes", async () => {
    expect(await restoreTree(places(), "ses", filled(900_000))).toEqual({ type: "restored", kept: [] });
    cleanUp(places(), "ses");
    expect(now()).toEqual(undone());
  });

  test.each(["room", "delete", "decide", "replace", "moved"])(
    "a process that is killed at %s is finished by the next one",
    async (where) => {
      const child = fork(join(import.meta.dirname, "checkpoints-child.ts"), [root, home, where], { stdio: "ignore" });
      const restore = filled(900_000);
      child.send(restore);
      expect(await new Promise((done) => child.on("exit", (_, signal) => done(signal)))).toBe("SIGKILL");
      expect(await restoreTree(places(), "ses", restore)).toEqual({ type: "restored", kept: [] });
      cleanUp(places(), "ses");
      expect(now()).toEqual(undone());
    },
  );

  test("and others take the room meanwhile, it stays unfinished, also for whoever goes on with the session, until there is some", async () => {
    let staged = 0;
    const onStop = (what: string): void => {
      if (what === "stage 0" && (staged += 1) === 2) disk.fill(0);
    };
    const result = await restoreTree(places({ onStop }), "ses", filled(900_000));
    expect(result).toMatchObject({ type: "failed", isBegun: true, message: "the disk is full", full: { missing: expect.any(Number) } });
    await settleRestore(places(), "ses");
    expect(now()).toMatchObject({ edited: "644 now" });
    disk.empty();
    expect(await restoreTree(places(), "ses", { note: null, steps: [] })).toEqual({ type: "restored", kept: [] });
    cleanUp(places(), "ses");
    expect(now()).toEqual(undone());
  });

  test("and what goes is too little, or the content isn't kept, nothing is deleted", async () => {
    const restore = filled(100_000);
    const earlier = now();
    const result = await restoreTree(places(), "ses", restore);
    expect(result).toMatchObject({ type: "failed", isBegun: false, message: "the disk is full" });
    if (result.type === "failed") expect(result.full?.missing).toBeGreaterThan(300_000);
    expect(now()).toEqual(earlier);
    disk.empty();
    rmSync(join(root, "new"), { recursive: true });
    const other = filled(900_000);
    const gone = places({
      pieces: async function* (node) {
        yield node.size === 4 ? null : Buffer.from(before);
      },
    });
    expect(await restoreTree(gone, "ses", other)).toEqual({ type: "refused", paths: [{ path: join(root, "gone"), why: "not_kept" }] });
    expect(Object.keys(now()).sort()).toEqual(["edited", "made", "new", "new/too"]);
  });
});
