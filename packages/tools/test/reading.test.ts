import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digest } from "./files-conformance.ts";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench();
});
afterEach(() => at.close());

const read = (path: string, more: { offset?: number; limit?: number } = {}) => at.call("read_file", { path, ...more });

describe("read_file", () => {
  test("lines have numbers, and the digest is noted", async () => {
    await at.write("a", "one\n\n\tthree\n");
    expect(await read("a")).toEqual({
      status: "completed",
      trust: "tool",
      text: "1\tone\n2\t\n3\t\tthree",
      seen: [{ path: join(at.root, "a"), digest: digest("one\n\n\tthree\n") }],
    });
  });

  test("a part says how it goes on", async () => {
    await at.write("a", Array.from({ length: 5000 }, (_, index) => `line ${index + 1}\n`).join(""));
    expect((await read("a", { offset: 10, limit: 2 })).text).toBe("10\tline 10\n11\tline 11\n[5000 lines in all; go on with offset 12]");
    expect((await read("a")).text).toMatch(/2000\tline 2000\n\[5000 lines in all; go on with offset 2001\]$/);
    expect((await read("a", { offset: 5000 })).text).toBe("5000\tline 5000");
    expect((await read("a", { offset: 6000 })).text).toBe("[the file ends at line 5000]");
  });

  test("long lines and many of them are cut", async () => {
    await at.write("long", `${"x".repeat(3000)}\n`);
    expect((await read("long")).text).toBe(`1\t${"x".repeat(2000)}… [+1000 characters]`);
    await at.write("wide", `${"😀".repeat(2000)}\n`.repeat(100));
    const { text } = await read("wide");
    expect(text.length).toBeLessThan(42_000);
    expect(text).toContain("go on with offset");
    expect(text).not.toMatch(/[\ud800-\udfff]/u);
  });

  test("what an edit has to keep is said", async () => {
    await at.write("crlf", "a\r\nb\r\n");
    await at.write("mixed", "a\r\nb\n");
    await at.write("open", "a");
    await at.write("bom", "\ufeffa\n");
    await at.write("latin", Buffer.from([0x63, 0xe9, 0x0a]));
    await at.write("utf16", Buffer.from("\ufeffé\n", "utf16le"));
    await at.write("empty", "");
    const texts = await Promise.all(
      ["crlf", "mixed", "open", "bom", "latin", "utf16", "empty"].map(async (name) => (await read(name)).text),
    );
    expect(texts).toEqual([
      "1\ta\n2\tb\n[CRLF line endings]",
      "1\ta\n2\tb\n[mixed line endings (LF and CRLF)]",
      "1\ta\n[no final newline]",
      "1\ta\n[UTF-8 with byte order mark]",
      "1\tc\u00e9\n[not UTF-8: shown as Latin-1; edits may only contain ASCII]",
      "1\té\n[UTF-16 little endian]",
      "[empty file]",
    ]);
  });

  test("images, binary files, folders and what is missing are told apart", async () => {
    await at.write("i.png", Buffer.from("89504e470d0a1a0a0000", "hex"));
    await at.write("b.bin", Buffer.from([1, 0, 2]));
    await at.write("src/found.ts", "x");
    mkdirSync(join(at.root, "d"));
    expect(await read("i.png")).toMatchObject({ status: "failed", text: expect.stringContaining("an image (PNG)") as string });
    expect(await read("b.bin")).toMatchObject({ status: "failed", text: expect.stringContaining("binary file of 3 bytes") as string });
    expect(await read("d")).toMatchObject({ status: "failed", text: expect.stringContaining("is a folder") as string });
    expect(await read("found.ts")).toMatchObject({ status: "failed", text: expect.stringContaining("src/found.ts") as string });
    expect((await read("~/x")).text).toContain("write the home folder out");
    expect((await read("")).text).toContain("path: ");
  });

  test("files outside the workspace can be read, as the policy decides", async () => {
    writeFileSync(join(at.base, "outside"), "x\n");
    expect(await at.tool("read_file").plan({ path: "../outside" }, at.context)).toMatchObject({
      reads: [`file:${at.base}/outside`],
      replay: "safe",
      workspace: "none",
      changesWorkspace: false,
    });
    expect((await read("../outside")).text).toBe("1\tx");
  });

  test("a path that leads elsewhere than when it was decided is not read", async () => {
    await at.write("a", "x");
    writeFileSync(join(at.base, "secret"), "s");
    const intent = await at.intend("read_file", { path: "a" });
    unlinkSync(join(at.root, "a"));
    symlinkSync(join(at.base, "secret"), join(at.root, "a"));
    expect(await at.tool("read_file").run(intent, at.context, new AbortController().signal)).toMatchObject({ status: "failed" });
  });
});

describe("search", () => {
  const search = (input: { [key: string]: string | number | boolean }) => at.call("search", input);

  test("contents are grouped by file, with lines around a match", async () => {
    await at.write("a.ts", "one\ntwo\nthree\nfour\nfive\nsix\ntwo\n");
    await at.write("src/b.ts", "two\n");
    expect((await search({ pattern: "two" })).text).toBe("a.ts\n2: two\n7: two\nsrc/b.ts\n1: two");
    expect((await search({ pattern: "^two$", glob: "*.ts", path: "a.ts", context: 1 })).text).toBe(
      "a.ts\n1- one\n2: two\n3- three\n--\n6- six\n7: two",
    );
    expect((await search({ pattern: "TWO", ignore_case: true, path: "src" })).text).toBe("src/b.ts\n1: two");
    expect((await search({ pattern: "none" })).text).toBe("No match.");
  });

  test("names are found by glob", async () => {
    await at.write("a.ts", "");
    await at.write("src/b.js", "");
    expect((await search({ glob: "*.js" })).text).toBe("src/b.js");
    expect((await search({ path: "src" })).text).toBe("src/b.js");
    expect((await search({ glob: "*.py" })).text).toContain("No file matches *.py");
  });

  test("a pattern that is no expression is searched as text, and it says so", async () => {
    await at.write("a", "f(x\n");
    expect((await search({ pattern: "f(" })).text).toMatch(/not a valid regular expression.*\na\n1: f\(x/);
    expect((await search({ pattern: "f.x", regex: false })).text).toBe("No match.");
  });

  test("a result is bounded and says that there is more", async () => {
    await at.write("a", `${"word ".repeat(100)}\n`.repeat(500));
    const { text } = await search({ pattern: "word", limit: 400 });
    expect(text.length).toBeLessThan(17_000);
    expect(text).toContain("There is more");
    expect((await search({ pattern: "word", limit: 2 })).text).toMatch(/^a\n1: .*\n2: .*\n\[There is more/);
  });

  test("a folder that is missing is told, and an interrupt ends it", async () => {
    expect((await search({ pattern: "x", path: "none" })).status).toBe("failed");
    expect((await at.call("search", { pattern: "x" }, AbortSignal.abort())).status).toBe("interrupted");
  });
});
