import { mkdir, mkdtemp, realpath, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createFiles } from "@holdfast/node/files/index";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Embedder } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DocumentOptions, Documents } from "../src/documents/library.ts";
import { openDocuments } from "../src/documents/library.ts";
import { main } from "../src/program.ts";
import { fakeIo } from "./fake-io.ts";

let [base, root] = ["", ""];
const opened: { close(): void }[] = [];
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "holdfast-documents-")));
  root = join(base, "project");
  await mkdir(root);
});
afterEach(async () => {
  for (const one of opened.splice(0)) one.close();
  await rm(base, { recursive: true, force: true });
});

const write = async (path: string, text: string | Uint8Array) => {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), text);
};
function open(more: Partial<DocumentOptions> = {}): Documents {
  const files = createFiles({
    cwd: root,
    roots: [{ id: "root", path: root }],
    lockDir: join(base, "locks"),
    onWait: () => undefined,
    hidden: () => [join(base, "user/.ssh")],
  });
  const documents = openDocuments({
    home: join(base, "home"),
    userHome: join(base, "user"),
    roots: [root],
    cwd: root,
    files,
    folders: [],
    pinned: [],
    events: [],
    ...more,
  });
  opened.push(files, documents);
  return documents;
}
const signal = new AbortController().signal;
const places = async (documents: Documents, query: string) =>
  (await documents.search(query, 5, signal)).found.map(({ path, line }) => `${path}:${line}`);

describe("documents", () => {
  test("of the project are found by words, without those that are ignored, hidden or no documents", async () => {
    await write("project/docs/deploy.md", "# Deploying\n\nTo roll back run the walrus script.\n");
    await write("project/notes.txt", Buffer.from("\ufeffThe walrus sleeps.", "utf16le"));
    await write("project/.gitignore", "build/\n");
    await write("project/build/out.md", "walrus");
    await write("project/.hidden/x.md", "walrus");
    await write("project/node_modules/a/README.md", "walrus");
    await write("project/code.ts", "walrus");
    await write("project/binary.txt", Buffer.from("walrus\0walrus"));
    const documents = open();
    expect((await places(documents, "walrus")).sort()).toEqual(["docs/deploy.md:1", "notes.txt:1"]);
    expect(await documents.search("how do I roll back a deployment", 1, signal)).toMatchObject({
      found: [{ path: "docs/deploy.md", heading: "Deploying", trust: "tool" }],
      remarks: [],
    });
  });

  test("are kept up with: what is new, changed, moved or gone, also by another session before", async () => {
    await write("project/a.md", "walrus");
    await write("project/b.md", "walrus");
    const first = open();
    expect((await places(first, "walrus")).sort()).toEqual(["a.md:1", "b.md:1"]);
    await write("project/a.md", "weasel");
    await rm(join(root, "b.md"));
    await write("project/sub/c.md", "walrus");
    expect(await places(first, "walrus")).toEqual(["sub/c.md:1"]);
    expect(await places(open(), "weasel")).toEqual(["a.md:1"]);
  });

  test("that have another time and the same content are not taken in again", async () => {
    await write("project/a.md", "walrus");
    const counted: string[] = [];
    const embedder: Embedder = { embed: async (texts) => texts.map((text) => (counted.push(text), Float32Array.of(1))) };
    const documents = open({ embedder });
    await places(documents, "walrus");
    await utimes(join(root, "a.md"), 1, 1);
    await places(documents, "walrus");
    expect(counted).toEqual(["\nwalrus", "walrus", "walrus"]);
  });

  test("of folders that the user names are found with where they are from; a link of the project's leads nowhere", async () => {
    await write("user/notes/a.md", "walrus");
    await write("user/.ssh/b.md", "walrus");
    await mkdir(join(base, "outside"));
    await write("outside/c.md", "walrus");
    await symlink(join(base, "outside"), join(root, "docs"));
    await symlink("/etc", join(root, "system"));
    const documents = open({ folders: ["~/notes", "docs", "system", "~/.ssh", join(base, "missing")] });
    const { found, remarks } = await documents.search("walrus", 5, signal);
    expect(found.map(({ path }) => path)).toEqual(["~/notes/a.md"]);
    expect(remarks).toEqual([
      "[docs: it leads out of the project, and is not looked at]",
      "[system: it leads out of the project, and is not looked at]",
      `[${join(base, "missing")}: there is no such folder]`,
    ]);
  });

  test("of a folder that can't be looked through are missing, and that is told, while the others are found", async () => {
    await write("project/a.md", "walrus");
    await write("user/notes/b.md", "walrus");
    const real = createFiles({
      cwd: root,
      roots: [{ id: "root", path: root }],
      lockDir: join(base, "locks"),
      onWait: () => undefined,
      hidden: () => [],
    });
    opened.push(real);
    const glob: typeof real.glob = (pattern, path, limit) =>
      path === root ? Promise.reject(new HoldfastError("file_unreadable", "no look into it")) : real.glob(pattern, path, limit);
    const { found, remarks } = await open({ folders: ["~/notes"], files: { ...real, glob } }).search("walrus", 5, signal);
    expect(found.map(({ path }) => path)).toEqual(["~/notes/b.md"]);
    expect(remarks).toEqual([`[${root} could not be looked through: no look into it]`]);
  });

  test("that are huge are taken in with their beginning, and that is told", async () => {
    await write("project/huge.txt", "walrus at the beginning\n");
    await truncate(join(root, "huge.txt"), 100 * 1024 * 1024);
    await write("project/long.md", `walrus\n\n${"filler text\n".repeat(300_000)}\nweasel at the end`);
    const documents = open();
    expect((await documents.search("walrus", 5, signal)).found.map(({ path, isWhole }) => [path, isWhole])).toEqual([["long.md", false]]);
    expect(await places(documents, "weasel")).toEqual([]);
  });

  test("are found by meaning where there is an embedder, and by words alone where it fails", async () => {
    await write("project/pets.md", "Our dog barks.");
    await write("project/cars.md", "The engine roars.");
    const vectorOf = (text: string) => (/dog|puppy|barks/.test(text) ? Float32Array.of(1, 0) : Float32Array.of(0, 1));
    const embedder: Embedder = { embed: async (texts) => texts.map(vectorOf) };
    expect(await places(open({ embedder }), "puppy")).toContain("pets.md:1");
    expect((await places(open({ embedder }), "puppy"))[0]).toBe("pets.md:1");
    const broken: Embedder = { embed: () => Promise.reject(new Error("no model")) };
    expect(await places(open({ embedder: broken }), "engine")).toEqual(["cars.md:1"]);
  });

  test("of one document give no more than two pieces to an answer", async () => {
    await write("project/a.md", Array.from({ length: 20 }, (_, n) => `# Part ${n}\nwalrus walrus walrus`).join("\n"));
    await write("project/b.md", "A walrus, once, in a longer text about something else entirely.");
    expect(await places(open(), "walrus")).toHaveLength(3);
  });
});

describe("documents by rule", () => {
  test("that are pinned stand before the model with their reason; the project's only where it is trusted", async () => {
    await write("project/glossary.md", `Walrus: a build server.\u200b\n${"x".repeat(9_000)}`);
    await write("user/own.md", "Mine.");
    await symlink("/etc/passwd", join(root, "link.md"));
    const documents = open({ pinned: ["~/own.md", "glossary.md", "link.md", "none.md", ".env"] });
    await write("project/.env", "KEY=value");
    const sections = await documents.sections(true);
    expect(sections.map(({ id, trust }) => `${id} ${trust}`)).toEqual([
      "document:~/own.md user",
      "document:glossary.md project",
      "document:link.md system",
      "document:none.md system",
      "document:.env system",
    ]);
    expect(sections[1]!.text).toMatch(/^glossary\.md:\nWalrus: a build server\.<U\+200B>\n[^]*\[Cut: 8187 of 9027 bytes shown/);
    expect(sections[1]!.context).toEqual({ kind: "documents", source: "glossary.md", reason: "named in [documents] pinned" });
    expect(sections[2]!.text).toContain("it leads out of the project");
    expect(sections[4]!.text).toContain("it is no document");
    const untrusted = await documents.sections(false);
    expect(untrusted[1]!.text).toBe("The document glossary.md was to stand here, but this project is not trusted.");
    expect(await open().sections(true)).toEqual([]);
  });

  test("are brought at a failing check where the config says so, once, and only where they have to do with it", async () => {
    await write(
      "project/docs/locks.md",
      "# Lock files\n\nECONFLICT while migrating means that two workers hold the migration lock. Stop one.\n",
    );
    await write("project/docs/other.md", "# Other\n\nworkers of the world\n");
    const failure = { type: "check_failed", text: "npm test failed: Error: ECONFLICT while migrating, lock held by workers" } as const;
    expect(await open().on(failure, signal)).toEqual([]);
    const documents = open({ events: ["check_failed"] });
    const recalled = await documents.on(failure, signal);
    expect(recalled).toHaveLength(1);
    expect(recalled[0]?.text).toContain("docs/locks.md:1-4 · Lock files (tool):");
    expect(recalled[0]?.context).toEqual({
      kind: "documents",
      source: "docs/locks.md:1-4",
      reason: "a check failed, and this passage has its words ([documents] events)",
    });
    expect(await documents.on(failure, signal)).toEqual([]);
    expect(await documents.on({ type: "check_failed", text: "xyzzy" }, signal)).toEqual([]);
  });
});

describe("holdfast documents search", () => {
  const run = async (...argv: string[]) => {
    const io = fakeIo({ cwd: root, home: join(base, "home"), env: { HOME: join(base, "user") } });
    return { status: await main(["documents", ...argv], io), out: io.out(), err: io.err() };
  };

  test("shows the passages with place and label, and nothing that a terminal would obey", async () => {
    await mkdir(join(root, ".git"));
    await write("project/docs/a.md", "# Walruses\n\nA walrus\u001b[2J sleeps.\n");
    expect(await run("search", "walrus")).toEqual({
      status: 0,
      out: "docs/a.md:1-4 · Walruses (untrusted):\n# Walruses\n\nA walrus sleeps.\n",
      err: "",
    });
    const [row] = (await run("search", "--json", "walrus")).out.split("\n");
    expect(JSON.parse(row!)).toMatchObject({ type: "document.found", path: "docs/a.md", line: 1, trust: "untrusted" });
    expect((await run("search", "weasel")).out).toBe("no document has these words\n");
    expect(await run("search")).toMatchObject({ status: 2 });
    expect(await run("find", "x")).toMatchObject({ status: 2 });
    expect(await run("search", "--limit", "0", "x")).toMatchObject({ status: 2 });
  });
});
