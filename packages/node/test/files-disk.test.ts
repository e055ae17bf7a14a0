import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import * as fs from "node:fs";
import { join } from "node:path";
import { isHoldfastError } from "@holdfast/protocol/error";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFiles } from "../src/files/index.ts";
import { editOf } from "../../tools/test/files-conformance.ts";
import { temporaryFiles } from "./files-workspace.ts";

let at: Awaited<ReturnType<typeof temporaryFiles>>;
beforeEach(async () => {
  at = await temporaryFiles();
});
afterEach(() => at.close());
const claim = (attempt = 1, callId = "call_1") => ({ session: "session_1", callId, attempt });
const modeOf = (path: string) => (statSync(join(at.root, path)).mode & 0o7777).toString(8);
const isRoot = process.getuid?.() === 0;
const signal = new AbortController().signal;

describe("links", () => {
  test("a link is resolved, wherever it stands in the path", async () => {
    await at.write("real/a", "1");
    symlinkSync("real", join(at.root, "folder"));
    symlinkSync("real/a", join(at.root, "file"));
    symlinkSync("real/none", join(at.root, "dangling"));
    expect(await at.files.identify("folder/a")).toMatchObject({ real: join(at.root, "real/a"), crossesLink: true, kind: "file" });
    expect(await at.files.identify("file")).toMatchObject({ real: join(at.root, "real/a"), crossesLink: true });
    expect(await at.files.identify("dangling")).toMatchObject({ real: join(at.root, "real/none"), kind: "missing", crossesLink: true });
    expect(await at.files.identify("folder/new")).toMatchObject({ real: join(at.root, "real/new"), kind: "missing", crossesLink: true });
    expect(await at.files.identify("real/a")).toMatchObject({ crossesLink: false });
  });

  test("a link before `..` is followed first, as the kernel does", async () => {
    mkdirSync(join(at.base, "outside/deep"), { recursive: true });
    writeFileSync(join(at.base, "outside/secret"), "s");
    symlinkSync(join(at.base, "outside/deep"), join(at.root, "link"));
    expect(await at.files.identify("link/../secret")).toMatchObject({
      real: join(at.base, "outside/secret"),
      root: null,
      crossesLink: true,
    });
    expect(await at.files.identify("missing/../link/../secret")).toMatchObject({ real: join(at.base, "outside/secret"), root: null });
  });

  test("a link that leads out of the workspace has no root, and a loop leads nowhere", async () => {
    symlinkSync(at.base, join(at.root, "out"));
    symlinkSync("loop", join(at.root, "loop"));
    expect(await at.files.identify("out/x")).toMatchObject({ root: null, relative: null, crossesLink: true });
    expect((await at.files.identify("loop/x")).kind).not.toBe("file");
  });

  test("a link into .git is protected, and so is a link called .git", async () => {
    await at.write(".git/hooks/x", "");
    symlinkSync(".git/hooks", join(at.root, "innocent"));
    mkdirSync(join(at.root, "sub"));
    symlinkSync(at.base, join(at.root, "sub/.git"));
    expect((await at.files.identify("innocent/pre-commit")).isProtected).toBe(true);
    expect((await at.files.identify("sub/.git/config")).isProtected).toBe(true);
  });

  // A command that runs at the same time can do this at any moment of an edit.
  test.each(["openSync", "linkSync", "renameSync", "mkdirSync"] as const)(
    "an edit never leaves by a link that takes its folder's place, here before %s",
    async (when) => {
      mkdirSync(join(at.base, "outside"));
      writeFileSync(join(at.base, "outside/old"), "1");
      await at.write("folder/old", "1");
      let isSwapped = false;
      const swap = (...args: never[]): unknown => {
        if (!isSwapped) {
          fs.renameSync(join(at.root, "folder"), join(at.root, "moved"));
          symlinkSync(join(at.base, "outside"), join(at.root, "folder"));
        }
        isSwapped = true;
        return (fs[when] as (...all: never[]) => unknown)(...args);
      };
      const operations = { ...fs, [when]: swap };
      const files = createFiles({ cwd: at.root, roots: at.files.roots, lockDir: join(at.base, "locks"), operations });
      const edits = [
        editOf(join(at.root, "folder/old"), "1", "2"),
        editOf(join(at.root, "folder/new"), null, "2"),
        editOf(join(at.root, "folder/sub/new"), null, "2"),
      ];
      expect(await files.apply(edits, claim())).toMatchObject({ type: "failed", code: "ELOOP" });
      files.close();
      expect(isSwapped).toBe(true);
      expect(fs.readdirSync(join(at.base, "outside"))).toEqual(["old"]);
      expect(fs.readFileSync(join(at.base, "outside/old"), "utf8")).toBe("1");
      expect(fs.readdirSync(join(at.root, "moved"))).toEqual(["old"]);
      expect(await at.content("moved/old")).toBe("1");
    },
  );

  test("reading and searching follow no link that took the place of what was decided", async () => {
    mkdirSync(join(at.base, "outside"));
    writeFileSync(join(at.base, "outside/a"), "secret");
    symlinkSync(join(at.base, "outside"), join(at.root, "folder"));
    symlinkSync(join(at.base, "outside/a"), join(at.root, "file"));
    await expect(at.files.read(join(at.root, "folder/a"), 100)).rejects.toMatchObject({ code: "file_unreadable" });
    for (const path of ["folder", "folder/a", "file"]) {
      const query = { pattern: "secret", isRegex: false, ignoreCase: false, glob: [], path: join(at.root, path), limit: 10, context: 0 };
      await expect(at.files.search(query, signal)).rejects.toMatchObject({ code: "file_unreadable" });
      await expect(at.files.glob("*", query.path, 10)).rejects.toMatchObject({ code: "file_unreadable" });
    }
  });

  test("an edit through a real path that has become a link since is refused", async () => {
    await at.write("a", "1");
    await at.write("folder/b", "1");
    mkdirSync(join(at.base, "outside"));
    writeFileSync(join(at.base, "outside/a"), "1");
    writeFileSync(join(at.base, "outside/b"), "1");
    fs.unlinkSync(join(at.root, "a"));
    symlinkSync(join(at.base, "outside/a"), join(at.root, "a"));
    fs.rmSync(join(at.root, "folder"), { recursive: true });
    symlinkSync(join(at.base, "outside"), join(at.root, "folder"));
    expect(await at.files.apply([editOf(join(at.root, "a"), "1", "2")], claim())).toMatchObject({ type: "failed", code: "ELOOP" });
    expect(await at.files.apply([editOf(join(at.root, "folder/b"), "1", "2")], claim(1, "b"))).toMatchObject({
      type: "failed",
      code: "ELOOP",
    });
    expect(await at.files.apply([editOf(join(at.root, "folder/new"), null, "2")], claim(1, "c"))).toMatchObject({
      type: "failed",
      code: "ELOOP",
    });
    expect(readdirSync(join(at.base, "outside"))).toEqual(["a", "b"]);
    expect(readFileSync(join(at.base, "outside/a"), "utf8")).toBe("1");
  });
});

describe("modes and owners", () => {
  test("0755, 0600 and group write under a umask of 077 survive an edit", async () => {
    const umask = process.umask(0o077);
    try {
      for (const [name, mode] of [
        ["run.sh", 0o755],
        ["secret", 0o600],
        ["shared", 0o664],
        ["readonly-group", 0o640],
      ] as const) {
        await at.write(name, "1", mode);
        expect(await at.files.apply([editOf(join(at.root, name), "1", "2")], claim(1, name))).toEqual({ type: "applied" });
        expect(modeOf(name)).toBe(mode.toString(8));
      }
      await at.files.apply([editOf(join(at.root, "new"), null, "2")], claim(1, "new"));
      expect(modeOf("new")).toBe("600");
    } finally {
      process.umask(umask);
    }
  });

  test("a file of mode 0600 has no wider copy at any moment", async () => {
    const modes: number[] = [];
    const record = () => {
      for (const name of readdirSync(at.root)) modes.push(lstatSync(join(at.root, name)).mode & 0o777);
    };
    const watched = Object.fromEntries(
      (
        [
          "openSync",
          "writeSync",
          "fchownSync",
          "fchmodSync",
          "fsyncSync",
          "closeSync",
          "linkSync",
          "copyFileSync",
          "renameSync",
          "unlinkSync",
          "mkdirSync",
          "rmdirSync",
        ] as const
      ).map((name) => [
        name,
        (...args: never[]) => {
          const result = (fs[name] as (...all: never[]) => unknown)(...args);
          record();
          return result;
        },
      ]),
    ) as unknown as typeof fs;
    const files = createFiles({ cwd: at.root, roots: at.files.roots, lockDir: join(at.base, "locks"), operations: watched });
    await at.write("secret", "1", 0o600);
    expect(await files.apply([editOf(join(at.root, "secret"), "1", "2")], claim())).toEqual({ type: "applied" });
    files.close();
    expect(modes.length).toBeGreaterThan(5);
    expect(modes.filter((mode) => (mode & 0o177) !== 0)).toEqual([]);
  });

  test("owner and group are kept", async () => {
    await at.write("theirs", "1", 0o640);
    if (isRoot) chownSync(join(at.root, "theirs"), 65534, 65534);
    const before = statSync(join(at.root, "theirs"));
    await at.files.apply([editOf(join(at.root, "theirs"), "1", "2")], claim());
    const after = statSync(join(at.root, "theirs"));
    expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode]);
    expect(await at.content("theirs")).toBe("2");
  });

  test("bits for a group that can't be kept go to no other group", async () => {
    const refusing = { ...fs, fchownSync: refused };
    const files = createFiles({ cwd: at.root, roots: at.files.roots, lockDir: join(at.base, "locks"), operations: refusing });
    await at.write("theirs", "1", 0o4670);
    if (isRoot) {
      chownSync(join(at.root, "theirs"), 65534, 65534);
      chmodSync(join(at.root, "theirs"), 0o4670);
    }
    await files.apply([editOf(join(at.root, "theirs"), "1", "2")], claim());
    files.close();
    expect(modeOf("theirs")).toBe(isRoot ? "600" : "4670");
  });

  test("a hard link to an edited file keeps the old content", async () => {
    await at.write("a", "1");
    linkSync(join(at.root, "a"), join(at.root, "b"));
    await at.files.apply([editOf(join(at.root, "a"), "1", "2")], claim());
    expect([await at.content("a"), await at.content("b")]).toEqual(["2", "1"]);
  });
});

function refused(): never {
  throw Object.assign(new Error("refused"), { code: "EPERM" });
}

describe("ripgrep", () => {
  test("what is hidden is found by no search, wherever it starts", async () => {
    await at.write("keys/id", "secret");
    await at.write("open", "secret");
    const hidden = [join(at.root, "keys")];
    const files = createFiles({ cwd: at.root, roots: at.files.roots, lockDir: join(at.base, "locks"), hidden: () => hidden });
    const query = { pattern: "secret", isRegex: false, ignoreCase: false, glob: [], limit: 10, context: 0 };
    const from = async (path: string) => (await files.search({ ...query, path }, signal)).hits.map((hit) => hit.path);
    expect(await from(at.root)).toEqual([join(at.root, "open")]);
    expect(await from(join(at.root, "keys"))).toEqual([]);
    expect((await files.glob("**", at.root, 10)).paths).toEqual([join(at.root, "open")]);
    files.close();
  });

  test("nobody's configuration or ignore file above the root has a say", async () => {
    writeFileSync(join(at.base, ".gitignore"), "*\n");
    writeFileSync(join(at.base, "rc"), "--ignore-case\n");
    process.env["RIPGREP_CONFIG_PATH"] = join(at.base, "rc");
    try {
      await at.write("a", "X\n");
      const query = { pattern: "x", isRegex: true, ignoreCase: false, glob: [], path: at.root, limit: 10, context: 0 };
      expect((await at.files.search(query, signal)).hits).toEqual([]);
      expect((await at.files.glob("*", at.root, 10)).paths).toEqual([join(at.root, "a")]);
    } finally {
      delete process.env["RIPGREP_CONFIG_PATH"];
    }
  });

  test("ignore rules between the root and the folder that is searched hold", async () => {
    await at.write(".gitignore", "*.log\n");
    await at.write("src/.gitignore", "gen/\n");
    for (const each of ["src/a.log", "src/gen/b", "src/c", "src/sub/d.log"]) await at.write(each, "x");
    expect((await at.files.glob("**", join(at.root, "src"), 10)).paths.toSorted()).toEqual([
      join(at.root, "src/.gitignore"),
      join(at.root, "src/c"),
    ]);
  });

  test("names come newest first", async () => {
    for (const [index, each] of ["b", "c", "a"].entries()) {
      await at.write(each, "x");
      fs.utimesSync(join(at.root, each), 1000 + index, 1000 + index);
    }
    expect((await at.files.glob("*", at.root, 2)).paths).toEqual([join(at.root, "a"), join(at.root, "c")]);
  });

  test("odd names and long lines come through", async () => {
    await at.write("with space:1-2", "x\n");
    await at.write("-dash", "x\n");
    await at.write("long", `${"y".repeat(5000)}x\n`);
    const { hits } = await at.files.search(
      { pattern: "x", isRegex: false, ignoreCase: false, glob: [], path: at.root, limit: 10, context: 0 },
      signal,
    );
    expect(hits.map((hit) => hit.path.slice(at.root.length + 1))).toEqual(["-dash", "long", "with space:1-2"]);
    expect(hits[1]!.text.length).toBeLessThan(1200);
  });

  test("a pattern over several lines and one with a look-around are understood", async () => {
    await at.write("a", "one\ntwo\nfoobar\n");
    const query = { isRegex: true, ignoreCase: false, glob: [], path: at.root, limit: 10, context: 0 };
    expect((await at.files.search({ ...query, pattern: "one\\ntwo" }, signal)).hits.map((hit) => hit.line)).toEqual([1, 2]);
    expect((await at.files.search({ ...query, pattern: "foo(?=bar)" }, signal)).hits.map((hit) => hit.line)).toEqual([3]);
  });

  test("a link out of the workspace is not walked through", async () => {
    mkdirSync(join(at.base, "outside/sub"), { recursive: true });
    writeFileSync(join(at.base, "outside/sub/secret"), "x\n");
    symlinkSync(join(at.base, "outside"), join(at.root, "link"));
    expect((await at.files.glob("link/sub/*", at.root, 10)).paths).toEqual([]);
    const query = { pattern: "x", isRegex: false, ignoreCase: false, glob: ["link/sub/*"], path: at.root, limit: 10, context: 0 };
    expect((await at.files.search(query, signal)).hits).toEqual([]);
  });
});

describe("errors", () => {
  test("a pipe is no file and is not waited for", async () => {
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [join(at.root, "pipe")]);
    expect((await at.files.identify("pipe")).kind).toBe("other");
    await expect(at.files.read(join(at.root, "pipe"), 10)).rejects.toSatisfy((error) => isHoldfastError(error, "file_unreadable"));
    expect(await at.files.apply([editOf(join(at.root, "pipe"), "1", "2")], claim())).toMatchObject({ type: "failed", code: "EINVAL" });
  });

  test("a path through a file fails with the reason", async () => {
    await at.write("a", "1");
    expect(await at.files.apply([editOf(join(at.root, "a/b/c"), null, "2")], claim())).toMatchObject({ type: "failed", code: "ENOTDIR" });
  });

  test("a missing root is named", () => {
    const make = () => createFiles({ cwd: at.root, roots: [{ id: "x", path: join(at.base, "none") }], lockDir: join(at.base, "locks") });
    expect(make).toThrow(expect.objectContaining({ code: "workspace_invalid" }) as Error);
  });

  test("an edit lock that can't be kept is a typed error, and nothing is changed", async () => {
    await at.write("a", "1");
    writeFileSync(join(at.base, "no-folder"), "");
    const files = createFiles({ cwd: at.root, roots: at.files.roots, lockDir: join(at.base, "no-folder") });
    await expect(files.apply([editOf(join(at.root, "a"), "1", "2")], claim())).rejects.toSatisfy((error) =>
      isHoldfastError(error, "store_failed"),
    );
    files.close();
    expect(await at.content("a")).toBe("1");
  });

  test("a damaged edit lock is a typed error that names the file", async () => {
    await at.write("a", "1");
    await at.files.probe([], claim());
    const lock = readdirSync(join(at.base, "locks")).find((name) => name.endsWith(".sqlite"))!;
    const other = createFiles({ cwd: at.root, roots: at.files.roots, lockDir: join(at.base, "damaged") });
    mkdirSync(join(at.base, "damaged"));
    writeFileSync(join(at.base, "damaged", lock), "no database at all, but long enough to be taken for one ".repeat(50));
    await expect(other.apply([editOf(join(at.root, "a"), "1", "2")], claim())).rejects.toSatisfy(
      (error) => isHoldfastError(error, "store_failed") && error.message.includes(lock),
    );
    other.close();
  });
});
