import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { regularText } from "../src/files/regular.ts";
import { createGit } from "../src/observer/git.ts";
import { rootedRules } from "../src/observer/ignore-rules.ts";
import { manifestBlobs } from "../src/observer/index.ts";
import { makePlace, type Place } from "./observer-fixture.ts";

let place: Place;
afterEach(() => place.remove());

async function names(place: Place, manifest: string): Promise<string[]> {
  return (await place.observer().list(manifest)).map((entry) => entry.path);
}

describe.each([{ git: true }, { git: false }])("with git: $git", ({ git }) => {
  test("the scope is what is not ignored, links among it", async () => {
    place = makePlace({ git });
    place.write(".gitignore", "*.log\n/out/\n!keep.log\n");
    place.write("a.ts", "a");
    place.write("deep/b.ts", "b");
    place.write("deep/.gitignore", "local\n");
    place.write("deep/local", "x");
    place.write("x.log", "x");
    place.write("deep/keep.log", "x");
    place.write("out/c", "x");
    symlinkSync("a.ts", join(place.dir, "link"));
    const { manifest } = await place.observer().snapshot(null);
    expect(await names(place, manifest)).toEqual([".gitignore", "a.ts", "deep/.gitignore", "deep/b.ts", "deep/keep.log", "link"]);
  });

  test("content, mode, link target, addition and removal each change the subject, and undoing them restores it", async () => {
    place = makePlace({ git });
    place.write("a", "one");
    place.write("b", "two");
    symlinkSync("a", join(place.dir, "l"));
    const observer = place.observer();
    const { subject: start } = await observer.snapshot(null);
    const changes: (readonly [() => void, () => void])[] = [
      [() => place.write("a", "One"), () => place.write("a", "one")],
      [() => chmodSync(join(place.dir, "a"), 0o755), () => chmodSync(join(place.dir, "a"), 0o644)],
      [
        () => (rmSync(join(place.dir, "l")), symlinkSync("b", join(place.dir, "l"))),
        () => (rmSync(join(place.dir, "l")), symlinkSync("a", join(place.dir, "l"))),
      ],
      [() => place.write("c", ""), () => rmSync(join(place.dir, "c"))],
      [() => rmSync(join(place.dir, "b")), () => place.write("b", "two")],
    ];
    for (const [change, undo] of changes) {
      change();
      expect((await observer.snapshot(null)).subject).not.toBe(start);
      undo();
      expect((await observer.snapshot(null)).subject).toBe(start);
    }
    expect((await place.observer().snapshot(null)).subject).toBe(start);
  });

  test("a new ignore rule hides neither a file that was in scope nor a new one", async () => {
    place = makePlace({ git });
    place.write("src/a.ts", "a");
    const before = await place.observer().snapshot(null);
    place.write(".gitignore", "src/a.ts\nsrc/hidden.ts\n");
    place.write("src/a.ts", "changed");
    place.write("src/hidden.ts", "new");
    place.write("secret/.gitignore", "*\n");
    place.write("secret/c.ts", "new");
    const after = await place.observer().snapshot(before.manifest);
    expect(await names(place, after.manifest)).toEqual([".gitignore", "secret/.gitignore", "secret/c.ts", "src/a.ts", "src/hidden.ts"]);
    expect(after.subject).not.toBe(before.subject);
  });

  test("a cache that a tool has made for itself since is not in scope, a folder that held files is", async () => {
    place = makePlace({ git });
    place.write("a", "a");
    place.write("src/b.ts", "b");
    const before = await place.observer().snapshot(null);
    const marks = (folder: string, rules: string): void => {
      place.write(`${folder}/.gitignore`, rules);
      place.write(`${folder}/CACHEDIR.TAG`, "Signature: 8a477f597d28d172789f06886806bc55\n# made by a tool\n");
    };
    marks(".tool_cache", "# Made by a tool.\n*\n");
    place.write(".tool_cache/v/last", "x");
    place.write(".tool_cache/.cache/units", "x");
    marks("src", "*\n");
    marks("part", "*\n!code.ts\n");
    marks("lib/coverage", "*\n");
    const after = await place.observer().snapshot(before.manifest);
    const files = (folder: string): string[] => [`${folder}/.gitignore`, `${folder}/CACHEDIR.TAG`];
    const known = [".tool_cache/.cache/units", "a", ...files("lib/coverage"), ...files("part"), ...files("src"), "src/b.ts"];
    expect(await names(place, after.manifest)).toEqual(known);
  });

  test("what the baseline ignored stays ignored, folders that ignore themselves among it", async () => {
    place = makePlace({ git });
    place.write(".gitignore", "dist/\n");
    place.write("a", "a");
    place.write("venv/.gitignore", "*\n");
    place.write("venv/lib", "x");
    const before = await place.observer().snapshot(null);
    place.write(".gitignore", "");
    place.write("dist/out.js", "x");
    place.write("venv/more", "x");
    const after = await place.observer().snapshot(before.manifest);
    expect(await names(place, after.manifest)).toEqual([".gitignore", "a"]);
  });

  test("a change that keeps size and mtime is seen", async () => {
    place = makePlace({ git });
    place.write("a", "one");
    const observer = place.observer();
    await observer.snapshot(null);
    await pause(150);
    const before = await observer.snapshot(null);
    const { atime, mtime } = statSync(join(place.dir, "a"));
    writeFileSync(join(place.dir, "a"), "two");
    utimesSync(join(place.dir, "a"), atime, mtime);
    expect((await observer.snapshot(null)).subject).not.toBe(before.subject);
    expect((await place.observer().snapshot(null)).subject).not.toBe(before.subject);
  });

  test("a change at once after the snapshot is seen", async () => {
    place = makePlace({ git });
    const observer = place.observer();
    const subjects = new Set<string>();
    for (let i = 0; i < 50; i += 1) {
      place.write("a", `${i % 10}`.padStart(3));
      subjects.add((await observer.snapshot(null)).subject);
    }
    expect(subjects.size).toBe(10);
  });

  test("names with odd characters and odd bytes are files like any other", async () => {
    place = makePlace({ git });
    const odd = ["tab\there", "new\nline", 'quote"', "star*[a]", "trailing ", "ümlaut", "日本"];
    for (const name of odd) place.write(name, name);
    writeFileSync(Buffer.concat([Buffer.from(`${place.dir}/latin-`), Buffer.from([0xe9])]), "é");
    const observer = place.observer();
    const { manifest } = await observer.snapshot(null);
    expect((await names(place, manifest)).sort()).toEqual([...odd, "latin-\udce9"].sort());
    const content = await observer.content(manifest, { root: "main", path: "latin-\udce9" });
    expect(Buffer.from(content ?? []).toString()).toBe("é");
  });

  test("a FIFO in the workspace is never opened", async () => {
    place = makePlace({ git });
    place.write("a", "a");
    execFileSync("mkfifo", [join(place.dir, "pipe")]);
    const before = await place.observer().snapshot(null);
    rmSync(join(place.dir, "a"));
    execFileSync("mkfifo", [join(place.dir, "a")]);
    const after = await place.observer().snapshot(before.manifest);
    expect((await place.observer().list(after.manifest)).map(({ path, kind }) => [path, kind])).toEqual([["a", "other"]]);
  });
});

test.each(["/dev/zero", "/etc/passwd"])("an ignore file that is a link to %s is not followed", async (target) => {
  place = makePlace({ git: true });
  place.write("a", "a");
  symlinkSync(target, join(place.dir, ".gitignore"));
  const observer = place.observer();
  const { manifest } = await observer.snapshot(null);
  expect((await names(place, manifest)).sort()).toEqual([".gitignore", "a"]);
  expect(Buffer.from((await place.blobs.get(manifest)) ?? []).toString("latin1")).not.toContain("root:");
});

test("git that waits for a pipe is ended, and the reason told", async () => {
  place = makePlace({ git: true });
  execFileSync("mkfifo", [join(place.dir, ".gitignore")]);
  const listed = createGit(place.dir, [], 300)(place.dir, ["ls-files", "-o", "--exclude-standard"]);
  await expect(listed).rejects.toMatchObject({ code: "workspace_invalid", hint: expect.stringContaining("pipe") });
});

test("what Holdfast reads of a repository is no pipe that it would wait for", async () => {
  place = makePlace({ git: true });
  place.write("a", "a");
  const pipe = join(place.dir, "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(regularText(pipe, { followsLink: true })).toBe(null);
  expect(regularText("/dev/zero", { followsLink: true })).toBe(null);
  expect(regularText(join(place.dir, "a"), { followsLink: false })).toBe("a");
});

test("a snapshot writes nothing into .git and runs nothing that the repository names", async () => {
  place = makePlace({ git: true });
  place.write("a", "a");
  place.write(".gitattributes", "* filter=evil diff=evil\n");
  place.commit();
  const mark = join(place.top, "ran");
  const script = join(place.top, "evil.sh");
  writeFileSync(script, `#!/bin/sh\necho "$0 $@ $(ps -o args= $PPID)" >> ${mark}\ncat\n`, { mode: 0o755 });
  for (const key of ["core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "diff.external", "core.pager"]) {
    place.git("config", key, script);
  }
  writeFileSync(join(place.dir, ".git/hooks/post-index-change"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  place.write("a", "b");
  utimesSync(join(place.dir, ".gitattributes"), 1, 1);
  const state = (): string[] =>
    (readdirSync(join(place.dir, ".git"), { recursive: true }) as string[]).sort().map((name) => {
      const stat = statSync(join(place.dir, ".git", name));
      return `${name} ${stat.isFile() ? `${stat.mtimeMs} ${stat.size}` : ""}`;
    });
  const before = state();
  const observer = place.observer();
  const first = await observer.snapshot(null);
  await observer.world(true);
  await observer.isTracked(join(place.dir, "a"));
  await observer.diff(first.manifest, first.manifest, "a");
  await observer.ignored();
  expect(state()).toEqual(before);
  expect(existsSync(mark) ? readFileSync(mark, "utf8") : "").toBe("");
});

test("the git tree is named while files, index and HEAD agree", async () => {
  place = makePlace({ git: true });
  place.write("a", "a");
  expect((await place.observer().snapshot(null, true)).gitTree).toBeNull();
  place.commit();
  const observer = place.observer();
  const tree = place.git("rev-parse", "HEAD^{tree}").trim();
  expect((await observer.snapshot(null, true)).gitTree).toBe(tree);
  utimesSync(join(place.dir, "a"), 5, 5);
  expect((await observer.snapshot(null, true)).gitTree).toBe(tree);
  place.write("a", "b");
  expect((await observer.snapshot(null, true)).gitTree).toBeNull();
  place.git("add", "a");
  expect((await observer.snapshot(null, true)).gitTree).toBeNull();
  place.write("a", "a");
  place.git("add", "a");
  place.write("new", "");
  expect((await observer.snapshot(null, true)).gitTree).toBeNull();
});

test("flags in the index that make git look away change nothing", async () => {
  place = makePlace({ git: true });
  place.write("a", "a");
  place.commit();
  const before = await place.observer().snapshot(null);
  place.git("update-index", "--assume-unchanged", "a");
  place.write("a", "b");
  const after = await place.observer().snapshot(before.manifest);
  expect(after.subject).not.toBe(before.subject);
  place.git("rm", "-q", "--cached", "a");
  place.write(".git/info/exclude", "a\n");
  expect((await place.observer().snapshot(before.manifest)).subject).toBe(after.subject);
});

test("submodules and repositories inside the workspace are in scope with their files", async () => {
  place = makePlace({ git: true });
  place.write("a", "a");
  place.write("nested/b", "b");
  execFileSync("git", ["init", "-q"], { cwd: join(place.dir, "nested") });
  place.write("nested/.gitignore", "skip\n");
  place.write("nested/skip", "x");
  const { manifest } = await place.observer().snapshot(null);
  expect(await names(place, manifest)).toEqual(["a", "nested/.gitignore", "nested/b"]);
  place.git("-C", "nested", "add", "-A");
  place.git("-C", "nested", "commit", "-qm", "x");
  place.git("add", "nested");
  const second = await place.observer().snapshot(null);
  expect(await names(place, second.manifest)).toEqual(["a", "nested/.gitignore", "nested/b"]);
});

test("a root below the top of its repository uses the rules above it", async () => {
  place = makePlace({ git: true });
  place.write(".gitignore", "*.tmp\n/project/out\n");
  renameSync(join(place.dir, ".git"), join(place.top, ".git"));
  renameSync(join(place.dir, ".gitignore"), join(place.top, ".gitignore"));
  place.write("a", "a");
  place.write("b.tmp", "x");
  place.write("out", "x");
  const before = await place.observer().snapshot(null);
  expect(await names(place, before.manifest)).toEqual(["a"]);
  expect((await place.observer().snapshot(before.manifest)).subject).toBe(before.subject);
});

test("earlier content can be had again: committed, changed before, untracked, deleted", async () => {
  place = makePlace({ git: true });
  place.write("committed", "one\n");
  place.write("changed", "one\n");
  place.commit();
  place.write("changed", "two\n");
  place.write("untracked", "three\n");
  const before = await place.observer().snapshot(null);
  for (const path of ["committed", "changed", "untracked"]) place.write(path, "gone\n");
  rmSync(join(place.dir, "untracked"));
  const observer = place.observer();
  const text = async (path: string): Promise<string> =>
    Buffer.from((await observer.content(before.manifest, { root: "main", path })) ?? []).toString();
  expect([await text("committed"), await text("changed"), await text("untracked")]).toEqual(["one\n", "two\n", "three\n"]);
  const after = await observer.snapshot(before.manifest);
  expect(await observer.changes(before.manifest, after.manifest)).toEqual([
    { path: "changed", change: "modified", added: 1, removed: 1 },
    { path: "committed", change: "modified", added: 1, removed: 1 },
    { path: "untracked", change: "deleted", added: 0, removed: 1 },
  ]);
});

test("content that was asked to be kept outlives git's objects", async () => {
  place = makePlace({ git: true });
  place.write("test.js", "one\n");
  place.commit();
  const observer = place.observer();
  const { manifest } = await observer.snapshot(null);
  const kept = await observer.keep(manifest, [{ root: "main", path: "test.js" }]);
  for (const blob of manifestBlobs((await place.blobs.get(kept)) ?? new Uint8Array())) expect(place.blobs.all.has(blob)).toBe(true);
  rmSync(join(place.dir, ".git"), { recursive: true });
  place.write("test.js", "two\n");
  const later = place.observer();
  expect(await later.content(manifest, { root: "main", path: "test.js" })).toBeNull();
  expect(Buffer.from((await later.content(kept, { root: "main", path: "test.js" })) ?? []).toString()).toBe("one\n");
});

test("version control's files are known as tracked, alone and below a folder", async () => {
  place = makePlace({ git: true });
  place.write("src/a", "a");
  place.commit();
  place.write("new/b", "b");
  const observer = place.observer();
  const asked = ["src/a", "src", "new", "new/b", "none/at/all", "src/*"].map((path) => observer.isTracked(join(place.dir, path)));
  expect(await Promise.all(asked)).toEqual([true, true, false, false, false, false]);
  expect(await observer.isTracked(place.dir)).toBe(true);
});

test("rules collected into one list ignore what git ignores", async () => {
  place = makePlace({ git: true });
  const folder = fc.constantFrom("", "a", "a/b", "c d", "e[1]");
  const rule = fc.constantFrom(
    "x",
    "/x",
    "x/",
    "*.t",
    "!x",
    "!/a/x",
    "a/x",
    "**/x",
    "b/**",
    "\\!x",
    "# no",
    "x ",
    "*",
    "!*/",
    "/a/*",
    "!keep.t",
    "[xy]",
    "b/x\r",
  );
  const file = fc.constantFrom("x", "y.t", "keep.t", "!x", "b/x", "x/y");
  const world = fc.record({
    ignores: fc.dictionary(folder, fc.array(rule, { maxLength: 4 }), { maxKeys: 3 }),
    files: fc.uniqueArray(fc.tuple(folder, file), { minLength: 1, maxLength: 8, selector: (entry) => entry.join("/") }),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ ignores, files }) => {
      for (const name of readdirSync(place.dir)) if (name !== ".git") rmSync(join(place.dir, name), { recursive: true });
      for (const [folder, name] of files) {
        try {
          place.write(join(folder, name), "1");
        } catch {
          // The name is a folder already.
        }
      }
      for (const [folder, rules] of Object.entries(ignores)) place.write(join(folder, ".gitignore"), rules.join("\n"));
      const shallowFirst = Object.entries(ignores).sort(([a], [b]) => a.split("/").length - b.split("/").length || a.length - b.length);
      writeFileSync(join(place.top, "rules"), shallowFirst.map(([folder, rules]) => rootedRules(folder, rules.join("\n"))).join(""));
      const list = (...how: string[]): string => place.git("ls-files", "-o", "-z", ...how);
      const own = list("--exclude-standard");
      const ours = list(`--exclude-from=${join(place.top, "rules")}`);
      expect(ours.split("\0").filter((name) => !name.endsWith(".gitignore"))).toEqual(
        own.split("\0").filter((name) => !name.endsWith(".gitignore")),
      );
    }),
    { numRuns: 60 },
  );
  expect(readFileSync(join(place.top, "rules"), "utf8")).toBeTypeOf("string");
});
