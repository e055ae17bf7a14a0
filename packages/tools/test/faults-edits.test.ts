// Fault area 1: what other agents' edit tools did to files. Each test carries the fault's kind and id, and plays its scenario.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench();
});
afterEach(() => at.close());

type Edit = { old: string; new: string; all?: boolean };
const edit = (path: string, ...edits: Edit[]) => at.call("edit_file", { path, edits });
const patch = (...lines: string[]) => at.call("apply_patch", { patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
const put = (name: string, content: string | Uint8Array, mode = 0o644) => {
  writeFileSync(join(at.root, name), content);
  chmodSync(join(at.root, name), mode);
};
const get = (name: string) => readFileSync(join(at.root, name));
const text = (name: string) => get(name).toString("latin1");
const modeOf = (name: string) => statSync(join(at.root, name)).mode & 0o777;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "core.autocrlf=false", "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
    cwd: at.root,
    encoding: "utf8",
  });
const commitAll = () => {
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "start");
};

/** Each way to make `from` of the only such line of a file into `to`. */
const ways: readonly (readonly [string, (path: string, from: string, to: string) => Promise<unknown>])[] = [
  ["edit_file", (path, from, to) => edit(path, { old: from, new: to })],
  ["apply_patch", (path, from, to) => patch(`*** Update File: ${path}`, "@@", `-${from}`, `+${to}`)],
  [
    "write_file",
    async (path, from, to) => {
      await at.call("read_file", { path });
      const content = get(path).toString("utf8").replace(from, to).replaceAll("\r\n", "\n");
      return at.call("write_file", { path, content });
    },
  ],
];

describe.each(ways)("by %s", (name, change) => {
  test("eol-not-preserved (P02): one line of 200 with CRLF changes one line", async () => {
    put("crlf.txt", Array.from({ length: 200 }, (_, index) => `line ${index + 1}.\r\n`).join(""));
    commitAll();
    expect(await change("crlf.txt", "line 100.", "line one hundred.")).toMatchObject({ status: "completed" });
    expect(git("diff", "--numstat")).toBe("1\t1\tcrlf.txt\n");
    expect(text("crlf.txt")).not.toContain("\r\r\n");
    expect(text("crlf.txt")).toContain("\r\nline one hundred.\r\n");
  });

  test("eol-not-preserved, a neighbour: in a file of both endings every other line keeps its own", async () => {
    put("mixed.txt", "a\r\nb\nc\r\nd\n");
    await change("mixed.txt", "b", "B");
    expect(text("mixed.txt")).toBe("a\r\nB\nc\r\nd\n");
    await change("mixed.txt", "c", "C");
    expect(text("mixed.txt")).toBe("a\r\nB\nC\r\nd\n");
  });

  test("eof-newline-forced (P04): a change at the top leaves the end without its newline", async () => {
    put("a.txt", "red\ngreen\nblue");
    const outcome = (await change("a.txt", "red", "RED")) as { text: string };
    expect(text("a.txt")).toBe("RED\ngreen\nblue");
    expect(outcome.text.match(/^@@ /gm)).toHaveLength(1);
  });

  test("eof-newline-forced, a neighbour: a last line without a newline that changes still has none", async () => {
    put("a.txt", "red\r\ngreen\r\nblue");
    await change("a.txt", "blue", "BLUE");
    expect(text("a.txt")).toBe("red\r\ngreen\r\nBLUE");
  });

  test("mode-lost (P09): what may be run stays so, for git too", async () => {
    put("run.sh", "#!/bin/sh\necho 1\n", 0o755);
    commitAll();
    await change("run.sh", "echo 1", "echo 2");
    expect(modeOf("run.sh")).toBe(0o755);
    expect(git("diff", "--summary")).toBe("");
  });

  test("mode-lost (P09): group write stays under a strict umask, and a secret file never opens, not even for an instant", async () => {
    put("shared.txt", "one\n", 0o664);
    put("key.txt", "k0\n", 0o600);
    const before = process.umask(0o077);
    const watcher = spawn(process.execPath, [
      "-e",
      `const { readdirSync, statSync } = require("node:fs");
       console.log("up");
       for (;;) for (const name of readdirSync(process.argv[1])) {
         if (!name.includes("key")) continue;
         try { const mode = statSync(process.argv[1] + "/" + name).mode & 0o077; if (mode) { console.log(name, mode.toString(8)); process.exit(); } } catch {}
       }`,
      at.root,
    ]);
    let said = "";
    watcher.stdout.on("data", (data: Buffer) => (said += data.toString()));
    await once(watcher.stdout, "data");
    try {
      await change("shared.txt", "one", "two");
      for (let round = 0; round < 30; round += 1) await change("key.txt", `k${round}`, `k${round + 1}`);
    } finally {
      process.umask(before);
      watcher.kill("SIGKILL");
    }
    expect([modeOf("shared.txt"), modeOf("key.txt"), text("key.txt")]).toEqual([0o664, 0o600, "k30\n"]);
    expect(said).toBe("up\n");
  });
});

describe("encoding-corruption (P07)", () => {
  const latin = Buffer.concat(
    ["# d", 0xe9, "j", 0xe0, "vu\nsize: 12\nfin", 0xef, "\n"].map((each) => Buffer.from(typeof each === "string" ? each : [each])),
  );
  const gbk = Buffer.concat([Buffer.from("# "), Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), Buffer.from("\nsize: 12\n")]);
  const utf16 = Buffer.from("\ufeff# déjà vu\nsize: 12\n", "utf16le");
  const bare16 = Buffer.from("# déjà vu\nsize: 12\n", "utf16le");
  const expected = (bytes: Buffer) => {
    const [from, to] = ["12", "13"].map((each) => Buffer.from(each, bytes === utf16 ? "utf16le" : "latin1")) as [Buffer, Buffer];
    const where = bytes.indexOf(from);
    return Buffer.concat([bytes.subarray(0, where), to, bytes.subarray(where + from.length)]);
  };

  test.each([
    ["Latin-1", latin],
    ["GBK", gbk],
    ["UTF-16 with its mark", utf16],
  ] as const)("an ASCII change in %s leaves every other byte", async (_, bytes) => {
    for (const [name, change] of ways.slice(0, 2)) {
      put(name, bytes);
      expect(await change(name, "size: 12", "size: 13")).toMatchObject({ status: "completed" });
      expect(get(name).equals(expected(bytes)), name).toBe(true);
    }
  });

  test("what can't be told from a binary file is refused and stays as it was", async () => {
    for (const [name, change] of ways.slice(0, 2)) {
      put(name, bare16);
      expect(await change(name, "size: 12", "size: 13")).toMatchObject({ status: "denied" });
      expect(get(name).equals(bare16), name).toBe(true);
    }
  });

  test("a neighbour: characters that the file's encoding may not have are refused", async () => {
    for (const [name, change] of ways) {
      put(name, latin);
      expect(await change(name, "size: 12", "size: 你")).toMatchObject({ status: "denied" });
      expect(get(name).equals(latin), name).toBe(true);
    }
  });
});

describe("what is in the way", () => {
  test("create-clobbers (P11): Add File of a file that exists is refused, and it stays", async () => {
    put("keep.txt", "old A\nold B\n");
    const outcome = await patch("*** Add File: keep.txt", "+new");
    expect(outcome).toMatchObject({ status: "denied", text: expect.stringMatching(/keep\.txt exists already \(file_exists\)/) as string });
    expect(text("keep.txt")).toBe("old A\nold B\n");
  });

  test("create-clobbers, neighbours: a file that comes between decision and run, an unread one by write_file, a link to nowhere", async () => {
    const intent = await at.intend("apply_patch", { patch: "*** Begin Patch\n*** Add File: late.txt\n+new\n*** End Patch" });
    put("late.txt", "came first\n");
    const late = await at.tool("apply_patch").run(intent, at.context, new AbortController().signal);
    expect(late.status).toBe("failed");
    expect(text("late.txt")).toBe("came first\n");
    put("unread.txt", "old\n");
    expect(await at.call("write_file", { path: "unread.txt", content: "new\n" })).toMatchObject({ status: "denied" });
    expect(text("unread.txt")).toBe("old\n");
  });

  test("move-clobbers (P13): a move onto another file fails before either is touched", async () => {
    put("a.txt", "north");
    put("b.txt", "keep me");
    const outcome = await patch("*** Update File: a.txt", "*** Move to: b.txt", "@@", "-north", "+south");
    expect(outcome).toMatchObject({ status: "denied", text: expect.stringContaining("b.txt exists already (file_exists)") as string });
    expect([text("a.txt"), text("b.txt")]).toEqual(["north", "keep me"]);
  });

  test("move-clobbers, a neighbour: two files moved to one place", async () => {
    put("a.txt", "a\n");
    put("b.txt", "b\n");
    const outcome = await patch("*** Update File: a.txt", "*** Move to: c.txt", "*** Update File: b.txt", "*** Move to: c.txt");
    expect(outcome).toMatchObject({ status: "denied" });
    expect([text("a.txt"), text("b.txt"), readdirSync(at.root).includes("c.txt")]).toEqual(["a\n", "b\n", false]);
  });
});

describe("non-atomic multi-file patch (P14)", () => {
  const sections = ["*** Update File: a.txt", "@@", "-a", "+A", "*** Update File: d/b.txt", "@@", "-b", "+B", "*** Add File: c.txt", "+c"];

  test("where one file's context is missing, nothing is changed, and that is what the text begins with", async () => {
    put("a.txt", "a\n");
    mkdirSync(join(at.root, "d"));
    put("d/b.txt", "something else\n");
    const outcome = await patch(...sections);
    expect(outcome).toMatchObject({ status: "denied", text: expect.stringMatching(/^No file was changed\.\nd\/b\.txt: /) as string });
    expect([text("a.txt"), text("d/b.txt"), readdirSync(at.root).includes("c.txt")]).toEqual(["a\n", "something else\n", false]);
  });

  test("where one file can't be written, nothing is changed either, and it is named", async () => {
    put("a.txt", "a\n");
    mkdirSync(join(at.root, "d"));
    put("d/b.txt", "b\n", 0o444);
    chmodSync(join(at.root, "d"), 0o555);
    const outcome = await asSomebody(() => patch(...sections));
    chmodSync(join(at.root, "d"), 0o755);
    expect(outcome).toMatchObject({ status: "failed", text: expect.stringMatching(/^Nothing was changed: d\/b\.txt: /) as string });
    expect([text("a.txt"), text("d/b.txt"), readdirSync(at.root).includes("c.txt")]).toEqual(["a\n", "b\n", false]);
    expect(readdirSync(at.root).toSorted()).toEqual(["a.txt", "d"]);
  });

  /** Permissions hold root back from nothing: what tests them runs as a user who owns the files. */
  async function asSomebody<T>(act: () => Promise<T>): Promise<T> {
    if (process.geteuid?.() !== 0) return act();
    const own = (path: string): void => {
      chownSync(path, 65_534, 65_534);
      if (statSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
    };
    own(at.base);
    process.setegid?.(65_534);
    process.seteuid?.(65_534);
    try {
      return await act();
    } finally {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
  }
});

describe("sequential-edit offset drift (P15)", () => {
  const ten = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");
  const after = "line 1\nshort\nline 5\nline 6\nline 7\neight!\nline 9\nline 10\n";
  const first = ["@@", "-line 2", "-line 3", "-line 4", "+short"];
  const second = ["@@", "-line 8", "+eight!"];
  const edits: [Edit, Edit] = [
    { old: "line 2\nline 3\nline 4\n", new: "short\n" },
    { old: "line 8", new: "eight!" },
  ];

  test("two hunks, in the file's order or not, with numbers or not", async () => {
    for (const [index, hunks] of [
      [...first, ...second],
      [...second, ...first],
      ["@@ -2,3 +2,1 @@", ...first.slice(1), "@@ -8,1 +6,1 @@", ...second.slice(1)],
      ["@@ -2,3 +2,1 @@", ...first.slice(1), "@@ -8,1 +8,1 @@", ...second.slice(1)],
    ].entries()) {
      put(`${index}.txt`, ten);
      expect(await patch(`*** Update File: ${index}.txt`, ...hunks)).toMatchObject({ status: "completed" });
      expect(text(`${index}.txt`)).toBe(after);
    }
  });

  test("two entries of one edit, in either order", async () => {
    for (const [index, order] of [edits, edits.toReversed()].entries()) {
      put(`${index}.txt`, ten);
      expect(await edit(`${index}.txt`, ...order)).toMatchObject({ status: "completed" });
      expect(text(`${index}.txt`)).toBe(after);
    }
  });

  test("two calls, decided on the same file before either ran", async () => {
    put("a.txt", ten);
    const tool = at.tool("edit_file");
    const plans = await Promise.all(edits.map((one) => tool.plan({ path: "a.txt", edits: [one] }, at.context)));
    // They write the same file: the runtime never runs them side by side.
    for (const plan of plans) expect(plan).toMatchObject({ writes: [`file:${join(at.root, "a.txt")}`] });
    for (const one of edits) expect(await edit("a.txt", one)).toMatchObject({ status: "completed" });
    expect(text("a.txt")).toBe(after);
  });
});

describe("eof-newline match failure (P16)", () => {
  test.each(["solo\n", "solo"])("a file `solo` without a newline is emptied by an edit of %j", async (old) => {
    put("a.txt", "solo");
    expect(await edit("a.txt", { old, new: "" })).toMatchObject({ status: "completed" });
    expect(get("a.txt")).toHaveLength(0);
  });

  test("neighbours: by a patch, in CRLF, and the last of several lines", async () => {
    put("a.txt", "solo");
    expect(await patch("*** Update File: a.txt", "@@", "-solo")).toMatchObject({ status: "completed" });
    expect(get("a.txt")).toHaveLength(0);
    put("b.txt", "one\r\ntwo");
    expect(await edit("b.txt", { old: "one\ntwo\n", new: "three\n" })).toMatchObject({ status: "completed" });
    expect(text("b.txt")).toBe("three");
  });
});

test("line-splitting on non-LF (P17): form feeds and separators are parts of lines", async () => {
  const content = "a\fb\nc\u2028d\ne\n";
  put("a.txt", content);
  const read = await at.call("read_file", { path: "a.txt" });
  expect(read.text.match(/^\d+\t/gm)).toEqual(["1\t", "2\t", "3\t"]);
  expect(await patch("*** Update File: a.txt", "@@", " c\u2028d", "-e", "+E")).toMatchObject({ status: "completed" });
  expect(get("a.txt").toString("utf8")).toBe("a\fb\nc\u2028d\nE\n");
  put("b.txt", "a\vb\u0085c\nlone\rreturn\ne\n");
  await edit("b.txt", { old: "e\n", new: "E\n" });
  expect(get("b.txt").toString("utf8")).toBe("a\vb\u0085c\nlone\rreturn\nE\n");
});

test("context-not-verified (P18): a hunk's numbers never stand in for its context", async () => {
  const twenty = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join("");
  put("a.txt", twenty);
  const nowhere = await patch("*** Update File: a.txt", "@@ -5,3 +5,3 @@", " not there", "-nor this", "+new", " nor that");
  expect(nowhere).toMatchObject({ status: "denied" });
  expect(text("a.txt")).toBe(twenty);
  const elsewhere = await patch("*** Update File: a.txt", "@@ -5,3 +5,3 @@", " line 11", "-line 12", "+TWELVE", " line 13");
  expect(elsewhere).toMatchObject({ status: "completed" });
  expect(text("a.txt")).toBe(twenty.replace("line 12", "TWELVE"));
});
