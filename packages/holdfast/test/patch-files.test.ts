import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { patchFiles } from "../src/patch/patch-files.ts";
import { writeAll } from "../src/patch/write-all.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-patch-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const apply = (...lines: string[]) =>
  patchFiles(["*** Begin Patch", ...lines, "*** End Patch"].join("\n"), folder, (text) => text.includes("[redacted]"));
const put = (name: string, content: string | Uint8Array, mode = 0o644) => {
  writeFileSync(join(folder, name), content);
  chmodSync(join(folder, name), mode);
};
const get = (name: string) => readFileSync(join(folder, name), "utf8");

test("files are added, changed, moved and deleted, and each is named", () => {
  put("a", "one\r\ntwo");
  put("b", "b\n");
  put("run.sh", "echo 1\n", 0o755);
  const { isDone, text } = apply(
    ...["*** Update File: a", "@@", "-one", "+ONE"],
    ...["*** Delete File: b"],
    ...["*** Update File: run.sh", "*** Move to: bin/go.sh", "@@", "-echo 1", "+echo 2"],
    ...["*** Add File: deep/er/c", "+c"],
  );
  expect({ isDone, text }).toEqual({ isDone: true, text: "M a\nD b\nR run.sh -> bin/go.sh\nA deep/er/c" });
  expect([get("a"), get("bin/go.sh"), get("deep/er/c")]).toEqual(["ONE\r\ntwo", "echo 2\n", "c\n"]);
  expect(statSync(join(folder, "bin/go.sh")).mode & 0o777).toBe(0o755);
  expect(readdirSync(folder).toSorted()).toEqual(["a", "bin", "deep"]);
});

test("a file where a folder would be is a reason like any other", () => {
  put("a", "a file\n");
  const { isDone, text } = apply(...["*** Update File: a/b/c", "@@", "-x", "+y"], ...["*** Delete File: a/d"]);
  expect({ isDone, text }).toEqual({
    isDone: false,
    text: "No file was changed.\na/b/c: it does not exist (file_missing).\na/d: it does not exist (file_missing).",
  });
  const added = apply("*** Add File: a/b/c", "+c");
  expect([added.isDone, get("a")]).toEqual([false, "a file\n"]);
  expect(added.text).toContain("No file was changed.");
});

test("where one section can't be applied nothing is changed, and every reason is given", () => {
  put("a", "one\n");
  put("b", "b\n");
  put("latin", Buffer.from([0xe9, 0x0a, 0x78, 0x0a]));
  symlinkSync("a", join(folder, "link"));
  const { isDone, text } = apply(
    ...["*** Update File: a", "@@", "-one", "+two"],
    ...["*** Add File: b", "+x"],
    ...["*** Update File: gone", "@@", "-x", "+y"],
    ...["*** Update File: latin", "@@", "-x", "+é"],
    ...["*** Delete File: link"],
  );
  expect(isDone).toBe(false);
  expect(text).toMatch(
    /^No file was changed\.\nb: it exists already.*\ngone: it does not exist.*\nlatin: it is not UTF-8.*\nlink: it is a link/,
  );
  expect([get("a"), get("b")]).toEqual(["one\n", "b\n"]);
});

test("a link is changed where it leads; a file named twice, and the mark of a secret, are refused", () => {
  put("a", "one\n");
  symlinkSync("a", join(folder, "link"));
  expect(apply("*** Update File: link", "@@", "-one", "+two").isDone).toBe(true);
  expect(get("a")).toBe("two\n");
  expect(apply("*** Update File: link", "@@", "-two", "+x", "*** Update File: a", "@@", "-two", "+y").text).toContain("twice");
  expect(apply("*** Update File: a", "@@", "-two", "+key [redacted]").text).toContain("redacted secret");
  expect(apply("*** Add File: n", "+key [redacted]").text).toContain("redacted secret");
  expect(get("a")).toBe("two\n");
});

test("what fails in the middle is put back, with its permissions", () => {
  put("a", "one\n", 0o600);
  mkdirSync(join(folder, "d"));
  put("d/b", "b\n");
  const bytes = (text: string) => new Uint8Array(Buffer.from(text));
  const problem = writeAll([
    { path: join(folder, "a"), before: bytes("one\n"), after: bytes("two\n"), mode: 0o600 },
    { path: join(folder, "new"), before: null, after: bytes("n\n"), mode: null },
    { path: join(folder, "d/b"), before: bytes("as it was\n"), after: bytes("x\n"), mode: 0o644 },
  ]);
  expect(problem).toContain("has changed meanwhile");
  expect([get("a"), get("d/b"), existsSync(join(folder, "new"))]).toEqual(["one\n", "b\n", false]);
  expect(statSync(join(folder, "a")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual(["a", "d"]);
});
