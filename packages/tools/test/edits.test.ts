import { execFileSync } from "node:child_process";
import { symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digest } from "./files-conformance.ts";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench();
});
afterEach(() => at.close());

const edit = (path: string, ...edits: { old: string; new: string; all?: boolean }[]) => at.call("edit_file", { path, edits });
const patch = (...lines: string[]) => at.call("apply_patch", { patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
const bytes = (...numbers: (number | string)[]) =>
  Buffer.concat(numbers.map((each) => (typeof each === "string" ? Buffer.from(each, "latin1") : Buffer.from([each]))));

describe("line endings", () => {
  const crlf = Array.from({ length: 200 }, (_, index) => `line ${index + 1}\r\n`).join("");
  const git = (...args: string[]) => execFileSync("git", ["-c", "core.autocrlf=false", ...args], { cwd: at.root, encoding: "utf8" });
  const inGit = async () => {
    await at.write("crlf.txt", crlf);
    git("init", "-q");
    git("add", ".");
  };
  const expectOneLine = async () => {
    expect(git("diff", "--numstat").trim()).toBe("1\t1\tcrlf.txt");
    expect(await at.content("crlf.txt")).toBe(crlf.replace("line 7\r\n", "seven\r\n"));
  };

  test("a one-line edit of a CRLF file is one line", async () => {
    await inGit();
    expect((await edit("crlf.txt", { old: "line 6\nline 7\n", new: "line 6\nseven\n" })).status).toBe("completed");
    await expectOneLine();
  });

  test("a one-line patch of a CRLF file is one line", async () => {
    await inGit();
    expect((await patch("*** Update File: crlf.txt", "@@", " line 6", "-line 7", "+seven", " line 8")).status).toBe("completed");
    await expectOneLine();
  });

  test("overwriting a CRLF file that was read keeps CRLF", async () => {
    await inGit();
    await at.call("read_file", { path: "crlf.txt" });
    const content = crlf.replaceAll("\r\n", "\n").replace("line 7\n", "seven\n");
    expect((await at.call("write_file", { path: "crlf.txt", content })).status).toBe("completed");
    await expectOneLine();
  });

  test("in a file of mixed endings every untouched line keeps its own", async () => {
    const mixed = "a\r\nb\nc\r\nd\ne\r\n";
    const expected = "a\r\nB1\nB2\nc\r\nd\ne\r\n";
    await at.write("m", mixed);
    await edit("m", { old: "a\nb\nc", new: "a\nB1\nB2\nc" });
    expect(await at.content("m")).toBe(expected);
    await at.write("m2", mixed);
    await patch("*** Update File: m2", " a", "-b", "+B1", "+B2", " c");
    expect(await at.content("m2")).toBe(expected);
    await at.write("m3", mixed);
    await at.call("read_file", { path: "m3" });
    await at.call("write_file", { path: "m3", content: "a\nB1\nB2\nc\nd\ne\n" });
    expect(await at.content("m3")).toBe(expected);
  });

  test("an edit that spells out the CR is literal, so endings can be changed", async () => {
    await at.write("a", "x\r\ny\r\n");
    await edit("a", { old: "x\r\n", new: "x\n" });
    expect(await at.content("a")).toBe("x\ny\r\n");
  });

  test("CRLF in the new text of an LF file does not come in", async () => {
    await at.write("a", "x\ny\n");
    await edit("a", { old: "x\r\ny", new: "x\r\nz\r\nw" });
    expect(await at.content("a")).toBe("x\nz\nw\n");
  });

  test("only LF and CRLF end a line", async () => {
    const text = "a\fb\nc\u2028d\ne\n";
    await at.write("odd", text);
    const read = await at.call("read_file", { path: "odd" });
    expect(read.text).toBe("1\ta\fb\n2\tc\u2028d\n3\te");
    expect((await patch("*** Update File: odd", "-e", "+E")).status).toBe("completed");
    expect(await at.content("odd")).toBe("a\fb\nc\u2028d\nE\n");
    await edit("odd", { old: "E", new: "e" });
    expect(await at.content("odd")).toBe(text);
  });
});

describe("the end of the file", () => {
  test("a missing final newline stays missing, and the diff is one hunk", async () => {
    await at.write("a", "red\ngreen\nblue");
    const outcome = await patch("*** Update File: a", "@@", "-red", "+RED", " green");
    expect(await at.content("a")).toBe("RED\ngreen\nblue");
    expect(outcome.text.match(/^@@/gm)).toHaveLength(1);
    await patch("*** Update File: a", " green", "-blue", "+BLUE", "+more");
    expect(await at.content("a")).toBe("RED\ngreen\nBLUE\nmore");
    await edit("a", { old: "RED", new: "red" });
    expect(await at.content("a")).toBe("red\ngreen\nBLUE\nmore");
  });

  test("a patch can say that the newline comes or goes", async () => {
    await at.write("a", "x\ny");
    await patch("*** Update File: a", " x", "-y", "\\ No newline at end of file", "+y");
    expect(await at.content("a")).toBe("x\ny\n");
    await patch("*** Update File: a", " x", "-y", "+y", "\\ No newline at end of file");
    expect(await at.content("a")).toBe("x\ny");
  });

  test("the only line can go, with or without the newline that the file lacks", async () => {
    for (const [name, old] of [
      ["a", "solo\n"],
      ["b", "solo"],
    ] as const) {
      await at.write(name, "solo");
      expect((await edit(name, { old, new: "" })).status).toBe("completed");
      expect(await at.content(name)).toBe("");
    }
    await at.write("c", "solo");
    await patch("*** Update File: c", "-solo");
    expect(await at.content("c")).toBe("");
  });

  test("an old text that ends with a newline matches a last line that lacks it", async () => {
    await at.write("a", "one\ntwo");
    const outcome = await edit("a", { old: "two\n", new: "2\n3\n" });
    expect(await at.content("a")).toBe("one\n2\n3");
    expect(outcome.text).toContain("no final newline");
  });

  test("an empty file can be filled", async () => {
    await at.write("a", "");
    await at.write("b", "");
    expect((await patch("*** Update File: a", "+x")).status).toBe("completed");
    expect(await at.content("a")).toBe("x\n");
    expect((await at.call("write_file", { path: "b", content: "x" })).status).toBe("completed");
    expect(await at.content("b")).toBe("x");
  });
});

describe("encodings", () => {
  const latin = bytes("# d", 0xe9, "j", 0xe0, " vu\nsize: 12\nfin", 0xef, "\n");
  const gbk = bytes("# ", 0xc4, 0xe3, 0xba, 0xc3, "\nsize: 12\n");

  test("in a file that is not UTF-8 an ASCII edit leaves every other byte", async () => {
    for (const [name, content] of [
      ["latin", latin],
      ["gbk", gbk],
    ] as const) {
      const expected = Buffer.from(content.toString("latin1").replace("12", "13"), "latin1");
      await at.write(name, content);
      expect((await edit(name, { old: "size: 12", new: "size: 13" })).status).toBe("completed");
      expect(Buffer.from(await at.bytes(name))).toEqual(expected);
      await at.write(`${name}2`, content);
      expect((await patch(`*** Update File: ${name}2`, "-size: 12", "+size: 13")).status).toBe("completed");
      expect(Buffer.from(await at.bytes(`${name}2`))).toEqual(expected);
    }
  });

  test("what can't be written safely in an unknown encoding is refused, and the file stays", async () => {
    await at.write("latin", latin);
    for (const refused of [
      await edit("latin", { old: "size", new: "größe" }),
      await edit("latin", { old: "é", new: "e" }),
      await edit("latin", { old: "j", new: "J" }),
      await patch("*** Update File: latin", "-size: 12", "+größe"),
    ]) {
      expect(refused.status).toBe("denied");
      expect(refused.text).toContain("not UTF-8");
    }
    await at.call("read_file", { path: "latin" });
    expect((await at.call("write_file", { path: "latin", content: "é" })).status).toBe("denied");
    expect(Buffer.from(await at.bytes("latin"))).toEqual(latin);
  });

  test("UTF-16 is edited as UTF-16", async () => {
    for (const [name, order] of [
      ["le", "utf16le"],
      ["be", "utf16be"],
    ] as const) {
      const encode = (text: string) => {
        const buffer = Buffer.from(`\ufeff${text}`, "utf16le");
        return order === "utf16be" ? buffer.swap16() : buffer;
      };
      await at.write(name, encode("größe: 12\r\nend\r\n"));
      await edit(name, { old: "größe: 12\nend", new: "größe: 13 €\nend" });
      expect(Buffer.from(await at.bytes(name))).toEqual(encode("größe: 13 €\r\nend\r\n"));
      await patch(`*** Update File: ${name}`, " größe: 13 €", "-end", "+END");
      expect(Buffer.from(await at.bytes(name))).toEqual(encode("größe: 13 €\r\nEND\r\n"));
    }
  });

  test("a byte order mark stays", async () => {
    await at.write("bom", "\ufeffa\nb\n");
    await edit("bom", { old: "a\nb", new: "A\nb" });
    expect(await at.content("bom")).toBe("\ufeffA\nb\n");
    await patch("*** Update File: bom", "-A", "+a");
    expect(await at.content("bom")).toBe("\ufeffa\nb\n");
    await at.call("write_file", { path: "bom", content: "new\n" });
    expect(await at.content("bom")).toBe("\ufeffnew\n");
  });

  test("a binary file is not edited", async () => {
    await at.write("bin", bytes("a", 0, "b"));
    for (const refused of [await edit("bin", { old: "a", new: "c" }), await patch("*** Update File: bin", "-a", "+c")]) {
      expect(refused).toMatchObject({ status: "denied" });
      expect(refused.text).toContain("binary");
    }
  });
});

describe("literal edits", () => {
  test("replacement patterns and the like mean nothing", async () => {
    await at.write("a", "price: X\n");
    await edit("a", { old: "X", new: "$& $1 $` $' $$ \\n \\1" });
    expect(await at.content("a")).toBe("price: $& $1 $` $' $$ \\n \\1\n");
    await patch("*** Update File: a", "-price: $& $1 $` $' $$ \\n \\1", "+$&");
    expect(await at.content("a")).toBe("$&\n");
  });

  test("several edits refer to the file as it is, in any order", async () => {
    const lines = Array.from({ length: 10 }, (_, index) => `l${index + 1}`);
    await at.write("a", `${lines.join("\n")}\n`);
    await edit("a", { old: "l8", new: "eight!" }, { old: "l2\nl3\nl4", new: "two to four" });
    const expected = "l1\ntwo to four\nl5\nl6\nl7\neight!\nl9\nl10\n";
    expect(await at.content("a")).toBe(expected);

    await at.write("b", `${lines.join("\n")}\n`);
    await patch("*** Update File: b", "@@", "-l2", "-l3", "-l4", "+two to four", "@@", " l7", "-l8", "+eight!");
    expect(await at.content("b")).toBe(expected);

    await at.write("c", `${lines.join("\n")}\n`);
    await patch("*** Update File: c", "@@", " l7", "-l8", "+eight!", "@@", "-l2", "-l3", "-l4", "+two to four");
    expect(await at.content("c")).toBe(expected);

    await at.write("d", `${lines.join("\n")}\n`);
    await edit("d", { old: "l2\nl3\nl4", new: "two to four" });
    await edit("d", { old: "l8", new: "eight!" });
    expect(await at.content("d")).toBe(expected);
  });

  test("edits that overlap are refused", async () => {
    await at.write("a", "one two three\n");
    const outcome = await edit("a", { old: "one two", new: "1 2" }, { old: "two three", new: "2 3" });
    expect(outcome.status).toBe("denied");
    expect(outcome.text).toContain("edits[0] and edits[1] overlap at line 1");
    expect(await at.content("a")).toBe("one two three\n");
  });

  test("a text that occurs more than once is refused with its lines, unless all are meant", async () => {
    await at.write("a", "x\ny\nx\n");
    expect((await edit("a", { old: "x", new: "z" })).text).toContain("occurs 2 times (lines 1, 3)");
    expect((await edit("a", { old: "x", new: "z", all: true })).status).toBe("completed");
    expect(await at.content("a")).toBe("z\ny\nz\n");
    await at.write("b", "aaa\n");
    expect((await edit("b", { old: "aa", new: "b" })).status).toBe("denied");
  });

  test("a text that is not found is answered with what is near", async () => {
    await at.write("a.py", "def f():\n\treturn  compute(1)\n\nother line\n");
    expect((await edit("a.py", { old: "    return compute(1)", new: "" })).text).toMatch(
      /only in whitespace from line 2:\n2\t\treturn {2}compute\(1\)/,
    );
    expect((await edit("a.py", { old: "\treturn  compute(2)", new: "" })).text).toContain("2\t\treturn  compute(1)");
    expect((await edit("a.py", { old: "1\tdef f():\n2\t\treturn  compute(1)", new: "" })).text).toContain("without the line numbers");
    expect((await edit("a.py", { old: "def f", new: "def g" }, { old: "def g", new: "" })).text).toContain(
      "each edit is looked up in the file as it is now",
    );
    expect((await edit("a.py", { old: "", new: "x" })).text).toContain("empty");
    expect((await edit("a.py", { old: "other", new: "other" })).text).toContain("same");
    expect(await at.content("a.py")).toBe("def f():\n\treturn  compute(1)\n\nother line\n");
  });

  test("a missing file is answered with files of that name", async () => {
    await at.write("src/deep/a.ts", "x");
    const outcome = await edit("a.ts", { old: "x", new: "y" });
    expect(outcome).toMatchObject({ status: "denied" });
    expect(outcome.text).toContain("src/deep/a.ts");
  });
});

describe("what is not overwritten", () => {
  test("a file that was not read is not overwritten, a new one and a read one are written", async () => {
    await at.write("a", "old\n");
    const refused = await at.call("write_file", { path: "a", content: "new\n" });
    expect(refused.status).toBe("denied");
    expect(refused.text).toContain("file_exists");
    await at.call("read_file", { path: "a" });
    expect((await at.call("write_file", { path: "a", content: "new\n" })).status).toBe("completed");
    expect((await at.call("write_file", { path: "new/b", content: "b" })).text).toContain("Added new/b (+1 -0)");
    expect([await at.content("a"), await at.content("new/b")]).toEqual(["new\n", "b"]);
  });

  test("an edit of a file that changed since it was read is refused", async () => {
    await at.write("a", "one\ntwo\n");
    await at.call("read_file", { path: "a" });
    await at.write("a", "one\ntwo\nthree\n");
    for (const refused of [
      await edit("a", { old: "one", new: "1" }),
      await patch("*** Update File: a", "-one", "+1"),
      await patch("*** Delete File: a"),
      await at.call("write_file", { path: "a", content: "x" }),
    ]) {
      expect(refused.status).toBe("denied");
      expect(refused.text).toContain("file_changed");
    }
    expect(await at.content("a")).toBe("one\ntwo\nthree\n");
    await at.call("read_file", { path: "a" });
    expect((await edit("a", { old: "one", new: "1" })).status).toBe("completed");
  });

  test("a file that changes between intent and run is not touched", async () => {
    await at.write("a", "one\n");
    const intent = await at.intend("edit_file", { path: "a", edits: [{ old: "one", new: "1" }] });
    await at.write("a", "two\n");
    const outcome = await at.tool("edit_file").run(intent, at.context, new AbortController().signal);
    expect(outcome.status).toBe("failed");
    expect(outcome.text).toContain("Nothing was changed: a was changed by something else");
    expect(await at.content("a")).toBe("two\n");
  });

  test("Add File on an existing file and Move onto one are refused", async () => {
    await at.write("keep.txt", "old A\nold B\n");
    await at.write("a.txt", "north\n");
    const added = await patch("*** Add File: keep.txt", "+new");
    const moved = await patch("*** Update File: a.txt", "*** Move to: keep.txt", "-north", "+south");
    for (const refused of [added, moved]) {
      expect(refused.status).toBe("denied");
      expect(refused.text).toContain("file_exists");
    }
    expect([await at.content("keep.txt"), await at.content("a.txt")]).toEqual(["old A\nold B\n", "north\n"]);
  });

  test("a redaction mark is not written, but one that the file holds can stay", async () => {
    await at.write("a", "key = secret\nnote: [redacted]\n");
    for (const refused of [
      await edit("a", { old: "key = secret", new: "key = [redacted] # x" }),
      await patch("*** Update File: a", "-key = secret", "+key = [redacted]"),
      await patch("*** Add File: b", "+[redacted]"),
      await at.call("write_file", { path: "c", content: "[redacted]" }),
    ]) {
      expect(refused.status).toBe("denied");
      expect(refused.text).toContain("redacted secret");
    }
    expect((await edit("a", { old: "note: [redacted]", new: "remark: [redacted]" })).status).toBe("completed");
  });

  test("a link that has been put in the way since the decision is noticed", async () => {
    await at.write("a", "one\n");
    writeFileSync(join(at.base, "outside"), "one\n");
    const plan = await at.tool("edit_file").plan({ path: "a", edits: [{ old: "one", new: "1" }] }, at.context);
    if ("type" in plan) throw new Error(plan.text);
    unlinkSync(join(at.root, "a"));
    symlinkSync(join(at.base, "outside"), join(at.root, "a"));
    expect(await at.tool("edit_file").prepare!(plan, at.context)).toMatchObject({ type: "refused" });
  });

  test("a link is edited through, but not deleted or moved", async () => {
    await at.write("real/a", "one\n");
    symlinkSync("real/a", join(at.root, "link"));
    expect((await edit("link", { old: "one", new: "1" })).text).toContain("Changed real/a");
    expect((await patch("*** Delete File: link")).text).toContain("is a link");
    expect((await patch("*** Update File: link", "*** Move to: b")).text).toContain("is a link");
    expect(await at.content("real/a")).toBe("1\n");
    symlinkSync("real", join(at.root, "folder"));
    expect((await patch("*** Delete File: folder/a")).status).toBe("completed");
    expect(await at.content("real/a")).toBeNull();
  });
});

describe("what an edit tells", () => {
  test("the plan names the real file, and only the workspace's files change it", async () => {
    const inside = await at.tool("write_file").plan({ path: "a", content: "" }, at.context);
    expect(inside).toMatchObject({
      writes: [`file:${at.root}/a`],
      replay: "probe",
      changesWorkspace: true,
      workspace: "shared",
      summary: "Write a",
    });
    const outside = await at.tool("write_file").plan({ path: "../b", content: "" }, at.context);
    expect(outside).toMatchObject({ writes: [`file:${at.base}/b`], changesWorkspace: false, workspace: "none" });
  });

  test("the outcome has digests, the before-image and what was seen", async () => {
    await at.write("a", "one\ntwo\nthree\nfour\nfive\nsix\n", 0o755);
    const outcome = await edit("a", { old: "three", new: "3" });
    const after = "one\ntwo\n3\nfour\nfive\nsix\n";
    expect(outcome.text).toBe("Changed a (+1 -1)\n@@ -1,5 +1,5 @@\n one\n two\n-three\n+3\n four\n five");
    expect(outcome.seen).toEqual([{ path: join(at.root, "a"), digest: digest(after) }]);
    const [changed] = outcome.changed!;
    expect(changed).toMatchObject({ path: join(at.root, "a"), afterDigest: digest(after) });
    expect(changed!.beforeMode! & 0o777).toBe(0o755);
    expect(new TextDecoder().decode((await at.blobs.get(changed!.before!))!)).toBe("one\ntwo\nthree\nfour\nfive\nsix\n");
  });

  test("a large diff is bounded and a long list of files is kept out of the head", async () => {
    const many = Array.from({ length: 60 }, (_, index) => index);
    const outcome = await patch(
      ...many.flatMap((each) => [`*** Add File: dir/file-${each}.txt`, ...many.map((line) => `+line ${line} of a file`)]),
    );
    expect(outcome.changed).toHaveLength(60);
    expect(outcome.text.length).toBeLessThan(8000);
    const intent = await at.intend("apply_patch", {
      patch: ["*** Begin Patch", ...many.flatMap((each) => [`*** Delete File: dir/file-${each}.txt`]), "*** End Patch"].join("\n"),
    });
    expect(JSON.stringify(intent.prepared).length).toBeLessThan(200);
    expect((await at.tool("apply_patch").run(intent, at.context, new AbortController().signal)).changed).toHaveLength(60);
  });

  test("a probe after the fact gives the same outcome, one before it says so", async () => {
    await at.write("a", "one\n");
    const intent = await at.intend("edit_file", { path: "a", edits: [{ old: "one", new: "1" }] });
    expect(await at.tool("edit_file").probe!(intent, at.context)).toEqual({ type: "not_happened" });
    const next = { ...intent, attempt: 2 };
    const outcome = await at.tool("edit_file").run(next, at.context, new AbortController().signal);
    expect(outcome.status).toBe("completed");
    expect(await at.tool("edit_file").probe!(next, at.context)).toEqual({ type: "happened", outcome });
    await expect(at.tool("edit_file").run(intent, at.context, new AbortController().signal)).rejects.toMatchObject({ code: "claim_lost" });
    await at.write("a", "else\n");
    expect(await at.tool("edit_file").probe!(next, at.context)).toEqual({
      type: "unknown",
      look: "a: neither as before the edit nor as after it",
    });
  });

  test("an interrupt before the run changes nothing", async () => {
    await at.write("a", "one\n");
    const outcome = await at.call("edit_file", { path: "a", edits: [{ old: "one", new: "1" }] }, AbortSignal.abort());
    expect(outcome.status).toBe("interrupted");
    expect(await at.content("a")).toBe("one\n");
  });
});
