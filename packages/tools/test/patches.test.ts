import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench();
});
afterEach(() => at.close());

const raw = (text: string) => at.call("apply_patch", { patch: text });
const patch = (...lines: string[]) => raw(["*** Begin Patch", ...lines, "*** End Patch"].join("\n"));
const numbered = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join("");

test("one patch adds, updates, moves and deletes", async () => {
  await at.write("a", "1\n2\n");
  await at.write("run.sh", "echo a\necho b\n", 0o755);
  await at.write("gone", "x\n");
  const outcome = await patch(
    "*** Add File: new/file.txt",
    "+hello",
    "+",
    "+world",
    "*** Update File: a",
    "@@",
    " 1",
    "-2",
    "+two",
    "*** Update File: run.sh",
    "*** Move to: bin/run.sh",
    "-echo b",
    "+echo c",
    "*** Delete File: gone",
  );
  expect(outcome.text.split("\n").filter((line) => /^[A-Z]/.test(line))).toEqual([
    "Added new/file.txt (+3 -0)",
    "Changed a (+1 -1)",
    "Moved run.sh to bin/run.sh (+1 -1)",
    "Deleted gone (+0 -1)",
  ]);
  expect(await Promise.all(["new/file.txt", "a", "run.sh", "bin/run.sh", "gone"].map((each) => at.content(each)))).toEqual([
    "hello\n\nworld\n",
    "1\ntwo\n",
    null,
    "echo a\necho c\n",
    null,
  ]);
  expect(statSync(join(at.root, "bin/run.sh")).mode & 0o777).toBe(0o755);
});

test("a plain move keeps the bytes", async () => {
  await at.write("bin", new Uint8Array([0, 255, 10]));
  expect((await patch("*** Update File: bin", "*** Move to: other")).status).toBe("completed");
  expect(Buffer.from(await at.bytes("other"))).toEqual(Buffer.from([0, 255, 10]));
  expect(await at.content("bin")).toBeNull();
});

test("nothing is changed where one section fails, and every failure is told", async () => {
  await at.write("a.txt", "a\n");
  await at.write("b.txt", "b\n");
  const outcome = await patch(
    ...["*** Update File: a.txt", "-a", "+A", "*** Update File: b.txt", "-none", "+B"],
    ...["*** Add File: c.txt", "+c", "*** Delete File: d.txt"],
  );
  expect(outcome.status).toBe("denied");
  expect(outcome.text).toMatch(/^No file was changed\.\nb\.txt: .*\n(.*\n)*d\.txt does not exist/);
  expect([await at.content("a.txt"), await at.content("b.txt"), await at.content("c.txt")]).toEqual(["a\n", "b\n", null]);
});

test("nothing is changed where the file system refuses one file, and the text begins with that", async () => {
  await at.write("a.txt", "a\n");
  await at.write("d/b.txt", "b\n", 0o444);
  const intent = await at.intend("apply_patch", {
    patch:
      "*** Begin Patch\n*** Update File: a.txt\n-a\n+A\n*** Update File: d/b.txt\n-b\n+B\n*** Add File: d/b.txt.d/c\n+c\n*** End Patch",
  });
  chmodSync(join(at.root, "d"), 0o555);
  // Root may write anywhere: a file where a folder has to be stops it too.
  await at.write("d/b.txt.d", "in the way");
  const outcome = await at.tool("apply_patch").run(intent, at.context, new AbortController().signal);
  chmodSync(join(at.root, "d"), 0o755);
  expect(outcome.status).toBe("failed");
  expect(outcome.text).toMatch(/^Nothing was changed: d\/b\.txt/);
  expect([await at.content("a.txt"), await at.content("d/b.txt")]).toEqual(["a\n", "b\n"]);
});

test("a hunk's place comes from its context, never from its line numbers", async () => {
  await at.write("a", numbered);
  const nowhere = await patch("*** Update File: a", "@@ -5,3 +5,3 @@", " no such", "-line", "+changed", " here");
  expect(nowhere.status).toBe("denied");
  expect(nowhere.text).toContain("context was not found");
  const elsewhere = await patch("*** Update File: a", "@@ -5,3 +5,3 @@", " line 12", "-line 13", "+changed", " line 14");
  expect(elsewhere.status).toBe("completed");
  expect(await at.content("a")).toBe(numbered.replace("line 13\n", "changed\n"));
});

test("a context that fits in several places is refused, unless a header or a number decides", async () => {
  const text = "class A:\n  def f():\n    pass\n\nclass B:\n  def f():\n    pass\n";
  const changed = "class A:\n  def f():\n    pass\n\nclass B:\n  def f():\n    return 1\n";
  await at.write("a", text);
  const refused = await patch("*** Update File: a", "-    pass", "+    return 1");
  expect(refused.text).toContain("fits in 2 places (lines 3, 7)");
  expect((await patch("*** Update File: a", "@@   def f():", "-    pass", "+    return 1")).status).toBe("denied");
  for (const [name, head] of [
    ["b", ["@@ class B:"]],
    ["c", ["@@ class B:", "@@ def f():"]],
    ["d", ["@@ -7 +7 @@"]],
  ] as const) {
    await at.write(name, text);
    expect((await patch(`*** Update File: ${name}`, ...head, "-    pass", "+    return 1")).status).toBe("completed");
    expect(await at.content(name)).toBe(changed);
  }
  expect((await patch("*** Update File: a", "@@ class C:", "-    pass", "+x")).text).toContain('not found below its header "class C:"');
});

test("the end of the file decides where it is named", async () => {
  await at.write("a", "x\ny\nx\n");
  expect((await patch("*** Update File: a", "-x", "+z", "*** End of File")).status).toBe("completed");
  expect(await at.content("a")).toBe("x\ny\nz\n");
  await patch("*** Update File: a", "+last", "*** End of File");
  expect(await at.content("a")).toBe("x\ny\nz\nlast\n");
});

test("lines can be added below a header, and a note tells where those without any place went", async () => {
  await at.write("a", "import x\n\nfoo\n");
  await patch("*** Update File: a", "@@ import x", "+import y");
  const outcome = await patch("*** Update File: a", "+end");
  expect(await at.content("a")).toBe("import x\nimport y\n\nfoo\nend\n");
  expect(outcome.text).toContain("added at the end of the file");
});

test("whitespace at line ends and typographic punctuation are overlooked, and the result says so", async () => {
  await at.write("a", "say \u201chello\u201d \u2013 now  \nnext\t\nlast\n");
  const spaces = await patch("*** Update File: a", " next", "-last", "+end");
  expect(spaces.text).toContain("without regard to trailing whitespace");
  const quotes = await patch("*** Update File: a", ' say "hello" - now', "-next", "+then");
  expect(quotes.text).toContain("without regard to typographic punctuation");
  expect(await at.content("a")).toBe("say \u201chello\u201d \u2013 now  \nthen\nend\n");
  expect((await patch("*** Update File: a", "   then", "-end", "+x")).status).toBe("denied");
});

test("updates of one file in two sections are one, other repeats are refused", async () => {
  await at.write("a", numbered);
  expect((await patch("*** Update File: a", "-line 3", "+three", "*** Update File: a", "-line 9", "+nine")).status).toBe("completed");
  expect(await at.content("a")).toBe(numbered.replace("line 3\n", "three\n").replace("line 9\n", "nine\n"));
  for (const lines of [
    ["*** Delete File: a", "*** Add File: a", "+x"],
    ["*** Update File: a", "-line 4", "+x", "*** Update File: ./a", "-line 5", "+y"],
    ["*** Update File: a", "*** Move to: b", "*** Add File: b", "+x"],
  ]) {
    expect((await patch(...lines)).text).toContain("in the patch twice");
  }
});

test("hunks that remove the same line are refused", async () => {
  await at.write("a", "1\n2\n3\n");
  expect((await patch("*** Update File: a", "@@", " 1", "-2", "+x", "@@", "-2", "-3", "+y")).status).toBe("denied");
  expect(await at.content("a")).toBe("1\n2\n3\n");
});

test("neighbouring hunks may share their context", async () => {
  await at.write("a", "1\n2\n3\n4\n5\n");
  expect((await patch("*** Update File: a", "@@", " 1", "-2", "+two", " 3", "@@", " 3", "-4", "+four", " 5")).status).toBe("completed");
  expect(await at.content("a")).toBe("1\ntwo\n3\nfour\n5\n");
});

test("fences, here-documents, CRLF and blank rows around a patch do no harm", async () => {
  await at.write("a", "1\n\n2\n");
  const body = "*** Begin Patch\n*** Update File: a\n@@\n 1\n\n-2\n+two\n\n*** Add File: b\n+x\n\n*** End Patch";
  expect((await raw(`\`\`\`diff\n${body}\n\`\`\`\n`)).status).toBe("completed");
  expect([await at.content("a"), await at.content("b")]).toEqual(["1\n\ntwo\n", "x\n"]);
  const crlf = "*** Begin Patch\r\n*** Update File: a\r\n-two\r\n+2\r\n*** End Patch\r\n";
  expect((await raw(`apply_patch <<'EOF'\n${crlf}EOF\n`)).status).toBe("completed");
  expect(await at.content("a")).toBe("1\n\n2\n");
});

test("a broken patch is answered with its line", async () => {
  await at.write("a", "1\n");
  const cases: [string, RegExp][] = [
    ["diff --git a/a b/a\n--- a/a\n+++ b/a\n", /must begin with.*git diff/],
    ["*** Begin Patch\n*** Update File: a\n-1\n+2\n", /no "\*\*\* End Patch"/],
    ["*** Begin Patch\n*** End Patch", /names no file/],
    ["*** Begin Patch\nhello\n*** End Patch", /Line 2: expected/],
    ["*** Begin Patch\n*** Update File: a\n-1\nx\n*** End Patch", /Line 4: a line of a hunk begins with/],
    ["*** Begin Patch\n*** Update File: a\n*** End Patch", /changes nothing/],
    ["*** Begin Patch\n*** Update File: a\n 1\n*** End Patch", /no "-" or "\+" line/],
    ["*** Begin Patch\n*** Add File: b\nx\n*** End Patch", /Line 3: every line of an added file/],
    ["*** Begin Patch\n*** Delete File: a\n-1\n*** End Patch", /has no lines/],
    ["*** Begin Patch\n*** Update File: \n*** End Patch", /path is missing/],
    ["*** Begin Patch\n*** Update File: a\n-1\n+2\n*** End Patch\nmore text", /text after/],
  ];
  for (const [text, expected] of cases) {
    const outcome = await raw(text);
    expect(outcome.status, text).toBe("denied");
    expect(outcome.text, text).toMatch(expected);
  }
  expect(await at.content("a")).toBe("1\n");
});

test("a folder is neither updated nor deleted", async () => {
  mkdirSync(join(at.root, "d"));
  for (const lines of [["*** Update File: d", "-a", "+b"], ["*** Delete File: d"], ["*** Add File: d", "+x"]]) {
    expect((await patch(...lines)).status).toBe("denied");
  }
});
