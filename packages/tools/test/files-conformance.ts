import { createHash } from "node:crypto";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { FileEdit, Files } from "@holdfast/runtime/ports/files";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

/** One workspace with a single root, and a way past the port to prepare and inspect it. Paths are relative to the root. */
export interface FilesFixture {
  readonly files: Files;
  readonly root: string;
  write(path: string, content: string | Uint8Array, mode?: number): Promise<void>;
  content(path: string): Promise<string | null>;
  close(): Promise<void>;
}

export function digest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** An edit from one text to another; null for no file. */
export function editOf(path: string, before: string | null, after: string | null, mode: number | null = null): FileEdit {
  return {
    path,
    before: before === null ? null : digest(before),
    after: after === null ? null : new TextEncoder().encode(after),
    afterDigest: after === null ? null : digest(after),
    mode,
  };
}

/** What every `Files` must do. */
export function filesConformance(name: string, make: () => Promise<FilesFixture>): void {
  describe(`${name} as Files`, () => {
    let at: FilesFixture;
    beforeEach(async () => {
      at = await make();
    });
    afterEach(() => at.close());
    const path = (relative: string) => `${at.root}/${relative}`;
    const claim = (attempt: number, callId = "call_1") => ({ session: "session_1", callId, attempt });
    const search = (query: Partial<Parameters<Files["search"]>[0]>, signal = new AbortController().signal) =>
      at.files.search(
        { pattern: "x", isRegex: false, ignoreCase: false, glob: [], path: at.root, limit: 100, context: 0, ...query },
        signal,
      );
    const found = (hits: readonly { path: string; line: number }[]) =>
      hits.map((hit) => `${hit.path.slice(at.root.length + 1)}:${hit.line}`);

    test("a relative path starts at the working folder and is told by kind", async () => {
      await at.write("src/a.ts", "a");
      expect(await at.files.identify("src/a.ts")).toMatchObject({
        real: path("src/a.ts"),
        kind: "file",
        relative: "src/a.ts",
        crossesLink: false,
        isProtected: false,
      });
      expect(await at.files.identify("src")).toMatchObject({ kind: "directory", relative: "src" });
      expect(await at.files.identify("src/new/deep.ts")).toMatchObject({ real: path("src/new/deep.ts"), kind: "missing" });
      expect(await at.files.identify("src/./x/../a.ts")).toMatchObject({ real: path("src/a.ts"), kind: "file" });
    });

    test("a path outside every root has no root", async () => {
      expect(await at.files.identify("../elsewhere")).toMatchObject({ root: null, relative: null });
      expect((await at.files.identify(".")).root).not.toBeNull();
    });

    test("an empty path and one with a NUL are no paths", async () => {
      for (const bad of ["", "a\0b"]) {
        await expect(at.files.identify(bad)).rejects.toSatisfy((error) => isHoldfastError(error, "tool_input_invalid"));
      }
    });

    test("names that differ only in Unicode normalisation are one file", async () => {
      await at.write("cafe\u0301.txt", "x");
      expect(await at.files.identify("caf\u00e9.txt")).toMatchObject({ real: path("cafe\u0301.txt"), kind: "file" });
    });

    test("places whose content is run later are protected", async () => {
      for (const each of [
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/HEAD",
        ".GIT/config",
        ".husky/pre-push",
        ".envrc",
        "a/.npmrc",
        ".vscode/tasks.json",
      ]) {
        expect((await at.files.identify(each)).isProtected, each).toBe(true);
      }
      for (const each of ["git/config", "src/.gitkeep", ".github/x.yml", ".gitignore", "npmrc"]) {
        expect((await at.files.identify(each)).isProtected, each).toBe(false);
      }
    });

    test("reading gives bytes, digest and mode", async () => {
      await at.write("a.sh", "echo\r\n", 0o755);
      const read = await at.files.read(path("a.sh"), 100);
      expect(new TextDecoder().decode(read.bytes)).toBe("echo\r\n");
      expect(read.digest).toBe(digest("echo\r\n"));
      expect(read.mode & 0o777).toBe(0o755);
    });

    test("reading says what is missing, too large, or no file", async () => {
      await at.write("d/a", "12345");
      await expect(at.files.read(path("none"), 10)).rejects.toSatisfy((error) => isHoldfastError(error, "file_missing"));
      await expect(at.files.read(path("d/a"), 4)).rejects.toSatisfy((error) => isHoldfastError(error, "file_unreadable"));
      await expect(at.files.read(path("d"), 10)).rejects.toSatisfy((error) => isHoldfastError(error, "file_unreadable"));
      expect((await at.files.read(path("d/a"), 5)).bytes.length).toBe(5);
    });

    test("a list is in order of path, with sizes, and says when it was cut", async () => {
      await at.write(".gitignore", "dist/\n");
      for (const each of ["b.ts", "a/z.ts", "a/b/c.ts", "dist/e.ts", "B.md"]) await at.write(each, "x".repeat(each.length));
      const list = async (pattern: string, limit = 100) => {
        const { files, truncated } = await at.files.list(pattern, at.root, limit);
        return [...files.map((each) => `${each.path.slice(at.root.length + 1)} ${each.size}`), ...(truncated ? ["…"] : [])];
      };
      expect(await list("**")).toEqual([".gitignore 6", "B.md 4", "a/b/c.ts 8", "a/z.ts 6", "b.ts 4"]);
      expect(await list("**/*.ts", 2)).toEqual(["a/b/c.ts 8", "a/z.ts 6", "…"]);
      expect(await list("dist/*")).toEqual(["dist/e.ts 9"]);
    });

    test("globs see hidden files, but neither ignored ones nor .git", async () => {
      await at.write(".gitignore", "dist/\n*.log\n!keep.log\n");
      await at.write(".git/config", "x");
      for (const each of ["a.ts", "src/b.ts", "src/c.js", ".hidden/d.ts", "dist/e.ts", "x.log", "keep.log"]) await at.write(each, "x");
      const names = async (pattern: string, limit = 100) =>
        (await at.files.glob(pattern, at.root, limit)).paths.map((each) => each.slice(at.root.length + 1)).toSorted();
      expect(await names("**")).toEqual([".gitignore", ".hidden/d.ts", "a.ts", "keep.log", "src/b.ts", "src/c.js"]);
      expect(await names("*.ts")).toEqual([".hidden/d.ts", "a.ts", "src/b.ts"]);
      expect(await names("src/*.{ts,js}")).toEqual(["src/b.ts", "src/c.js"]);
      expect(await names("*.log")).toEqual(["keep.log"]);
      expect(await names("dist/*.ts")).toEqual(["dist/e.ts"]);
      expect(await at.files.glob("*.ts", at.root, 2)).toMatchObject({ truncated: true, paths: { length: 2 } });
    });

    test("a search keeps to the ignore rules, the globs and the limit", async () => {
      await at.write(".gitignore", "dist/\n");
      await at.write("src/a.ts", "one\nx two\nthree\n");
      await at.write("src/b.js", "x\r\nX\r\n");
      await at.write("dist/c.ts", "x\n");
      await at.write("bin.dat", new Uint8Array([0x78, 0, 0x78]));
      expect(found((await search({})).hits)).toEqual(["src/a.ts:2", "src/b.js:1"]);
      expect(found((await search({ ignoreCase: true })).hits)).toEqual(["src/a.ts:2", "src/b.js:1", "src/b.js:2"]);
      expect(found((await search({ glob: ["*.ts"] })).hits)).toEqual(["src/a.ts:2"]);
      expect(found((await search({ glob: ["src/**/*.ts"] })).hits)).toEqual(["src/a.ts:2"]);
      expect(found((await search({ glob: ["!*.ts"] })).hits)).toEqual(["src/b.js:1"]);
      expect(found((await search({ path: path("dist") })).hits)).toEqual(["dist/c.ts:1"]);
      expect(await search({ limit: 1 })).toMatchObject({ truncated: true, hits: { length: 1 } });
      expect((await search({ pattern: "t.o", isRegex: true })).hits).toEqual([
        { path: path("src/a.ts"), line: 2, text: "x two", isContext: false },
      ]);
      expect((await search({ pattern: "t.o" })).hits).toEqual([]);
      expect((await search({ pattern: "two", context: 1 })).hits.map((hit) => [hit.line, hit.isContext])).toEqual([
        [1, true],
        [2, false],
        [3, true],
      ]);
    });

    test("a hit is told of its own file, whatever lines its name makes, also after a file that turns out to be binary", async () => {
      const remark = 'big: WARNING: stopped searching binary file after match (found "\\0" byte around offset 9)';
      await at.write("README.md", "x\n");
      await at.write("a\nREADME.md", "1\nx\n");
      await at.write("b\n.", "");
      await at.write("big", `x\n${"long\n".repeat(100_000)}\0\n`);
      await at.write(`${remark}\n.`, "x\n");
      await at.write("c\n9:x", "x\nx\n");
      const names = ["README.md:1", "a\nREADME.md:2", "big:1", `${remark}\n.:1`, "c\n9:x:1", "c\n9:x:2"];
      const hits = found((await search({ context: 1, limit: 100 })).hits.filter(({ isContext }) => !isContext));
      expect(hits.toSorted()).toEqual(names.toSorted());
    });

    test("what a search is told to leave out is neither shown nor does its count tell what is in it", async () => {
      await at.write("a.ts", "x\n");
      await at.write("keys/b.pem", "x\n");
      await at.write("keys/c.pem", "y\n");
      const leaveOut = (each: string) => each.endsWith(".pem");
      for (const pattern of ["x", "y", "z"]) {
        const { hits, leftOut } = await search({ pattern, leaveOut });
        expect([pattern, found(hits), leftOut]).toEqual([pattern, pattern === "x" ? ["a.ts:1"] : [], 2]);
      }
      expect(await search({ leaveOut, glob: ["*.ts"] })).toMatchObject({ leftOut: 0 });
      expect(await search({})).toMatchObject({ leftOut: 0, hits: { length: 2 } });
    });

    test("a pattern that looks like an option or is no expression does no harm", async () => {
      await at.write("a", "--files\n(x\n");
      expect(found((await search({ pattern: "--files" })).hits)).toEqual(["a:1"]);
      expect(found((await search({ pattern: "(x" })).hits)).toEqual(["a:2"]);
      await expect(search({ pattern: "(x", isRegex: true })).rejects.toSatisfy((error) => isHoldfastError(error, "tool_input_invalid"));
    });

    test("an aborted search ends at once and says it is cut", async () => {
      await at.write("a", "x\n");
      expect((await search({}, AbortSignal.abort())).truncated).toBe(true);
    });

    test("files are changed, made, deleted and folders made, in one go", async () => {
      await at.write("a", "1");
      await at.write("b", "2");
      const edits = [
        editOf(path("a"), "1", "one"),
        editOf(path("new/deep/c"), null, "three"),
        editOf(path("b"), "2", null),
        editOf(path("empty"), null, ""),
      ];
      expect(await at.files.apply(edits, claim(1))).toEqual({ type: "applied" });
      expect(await Promise.all(["a", "new/deep/c", "b", "empty"].map((each) => at.content(each)))).toEqual(["one", "three", null, ""]);
    });

    test("an edit keeps the mode, and a new file gets the one it is given", async () => {
      await at.write("run.sh", "1", 0o755);
      await at.files.apply([editOf(path("run.sh"), "1", "2"), editOf(path("new.sh"), null, "3", 0o700)], claim(1));
      expect((await at.files.read(path("run.sh"), 10)).mode & 0o777).toBe(0o755);
      expect((await at.files.read(path("new.sh"), 10)).mode & 0o777).toBe(0o700);
    });

    test("nothing is changed where one file is not as expected", async () => {
      await at.write("a", "1");
      await at.write("b", "other");
      const result = await at.files.apply(
        [editOf(path("a"), "1", "x"), editOf(path("b"), "2", "x"), editOf(path("c"), null, "x")],
        claim(1),
      );
      expect(result).toEqual({ type: "changed", path: path("b"), found: digest("other") });
      expect(await Promise.all(["a", "b", "c"].map((each) => at.content(each)))).toEqual(["1", "other", null]);
    });

    test("a file that should be new is not overwritten, and a folder is no file", async () => {
      await at.write("a", "kept");
      await at.write("d/x", "kept");
      expect(await at.files.apply([editOf(path("a"), null, "x")], claim(1))).toMatchObject({ type: "changed", found: digest("kept") });
      expect(await at.files.apply([editOf(path("d"), null, "x")], claim(1, "call_2"))).toMatchObject({ type: "failed", path: path("d") });
      expect(await at.content("a")).toBe("kept");
    });

    test("an attempt acts once, and a revoked one not at all", async () => {
      await at.write("a", "1");
      expect(await at.files.apply([editOf(path("a"), "1", "2")], claim(1))).toEqual({ type: "applied" });
      expect(await at.files.apply([editOf(path("a"), "2", "3")], claim(1))).toEqual({ type: "revoked" });
      expect(await at.files.probe([editOf(path("a"), "2", "3")], claim(2))).toBe("before");
      expect(await at.files.apply([editOf(path("a"), "2", "3")], claim(2))).toEqual({ type: "revoked" });
      expect(await at.files.apply([editOf(path("a"), "2", "3")], claim(3))).toEqual({ type: "applied" });
      expect(await at.content("a")).toBe("3");
    });

    test("a probe tells before, after, mixed and unknown apart", async () => {
      const edits = [editOf(path("a"), "1", "2"), editOf(path("b"), null, "2"), editOf(path("c"), "1", null)];
      await at.write("a", "1");
      await at.write("c", "1");
      expect(await at.files.probe(edits, claim(1))).toBe("before");
      await at.write("a", "2");
      expect(await at.files.probe(edits, claim(1))).toBe("mixed");
      await at.write("b", "2");
      expect(await at.files.apply(edits, claim(2))).toEqual({ type: "applied" });
      expect(await at.files.probe(edits, claim(2))).toBe("after");
      await at.write("b", "else");
      expect(await at.files.probe(edits, claim(2))).toBe("unknown");
    });

    test("only a repeated attempt takes a file that is already as it should be", async () => {
      await at.write("a", "2");
      await at.write("b", "1");
      const edits = [editOf(path("a"), "1", "2"), editOf(path("b"), "1", "2")];
      expect(await at.files.apply(edits, claim(1))).toMatchObject({ type: "changed", path: path("a") });
      expect(await at.files.probe(edits, claim(1))).toBe("mixed");
      expect(await at.files.apply(edits, claim(2))).toEqual({ type: "applied" });
      expect(await at.content("b")).toBe("2");
    });
  });
}
