import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { trust } from "../src/config/trust-store.ts";
import { main } from "../src/program.ts";
import { expandPrompt } from "../src/prompts/expand.ts";
import { findPrompts } from "../src/prompts/find.ts";
import { parsePrompt } from "../src/prompts/parse.ts";
import { readCall } from "../src/prompts/use.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";

let [home, root] = ["", ""];
beforeEach(async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-prompts-")));
  [home, root] = [join(folder, "home"), join(folder, "project")];
  await mkdir(join(root, ".git"), { recursive: true });
  await mkdir(home);
});
afterEach(() => rm(dirname(root), { recursive: true, force: true }));
const write = async (path: string, text: string) => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
};
const own = (name: string, text: string) => write(join(home, "prompts", name), text);
const projects = (name: string, text: string) => write(join(root, ".holdfast/prompts", name), text);
const io = (input = "") => fakeIo({ cwd: root, home, env: { OPENAI_API_KEY: "k" }, input });

describe("a prompt file", () => {
  test.each([
    ["just words", { description: "just words", arguments: [], body: "just words" }],
    [
      "---\r\ndescription: 'Fixes it'\r\narguments: [file, \"why?\"]\r\nmodel: x\r\n# a note\r\n---\r\n\r\nFix $1.\r\n",
      { description: "Fixes it", arguments: ["file", "why?"], body: "Fix $1." },
    ],
    ["---\narguments: a b\n---\nGo", { description: "Go", arguments: ["a", "b"], body: "Go" }],
    ["---\n---\n", { description: "", arguments: [], body: "" }],
    ["---\ndescription: open", null],
    ["words\n---\nmore", { description: "words", arguments: [], body: "words\n---\nmore" }],
  ])("%j is read", (text, parsed) => {
    expect(parsePrompt(text)).toEqual(parsed);
  });

  const prompt = (body: string, names: readonly string[] = []) => ({ description: "", arguments: names, body });
  test.each([
    ["Fix $1 as $2.", "a.ts 'it is \"red\"'", 'Fix a.ts as it is "red".'],
    ["All: $ARGUMENTS", ' a  "b c" ', 'All: a  "b c"'],
    ["It costs $$5, $10 and $VAR; $3", "$1 $2", "It costs $5, $10 and $VAR; "],
    ["No place", "for this", "No place\n\nfor this"],
    ["No place", "", "No place"],
    ["$1", '"a \\" b"', 'a " b'],
    ["$1 $ARGUMENTS", "$ARGUMENTS", "$ARGUMENTS $ARGUMENTS"],
  ])("%j with %j is %j", (body, typed, text) => {
    expect(expandPrompt("p", prompt(body), typed)).toBe(text);
  });

  test("without an argument that it needs is told, one that may be left out is not missed", () => {
    expect(() => expandPrompt("p", prompt("$1 $2", ["file", "why?"]), "")).toThrow("/p needs file");
    expect(expandPrompt("p", prompt("$1 $2", ["file", "why?"]), "a")).toBe("a ");
  });

  test.each([
    ["/fix a b", { name: "fix", args: "a b" }],
    ["/fix-2", { name: "fix-2", args: "" }],
    ["/etc/hosts is wrong", null],
    ["/ fix", null],
    ["fix", null],
    ["/../x", null],
  ])("%j is a call of it, or none", (text, call) => {
    expect(readCall(text)).toEqual(call);
  });
});

describe("prompts are found", () => {
  test("at home and in a trusted project; a person's own hides the project's of that name", async () => {
    await own("fix.md", "mine");
    await projects("fix.md", "theirs");
    await projects("test.md", "all tests");
    const found = await findPrompts({ home, root, isTrusted: true });
    expect(found.prompts.map(({ name, from, body }) => [name, from, body])).toEqual([
      ["fix", "user", "mine"],
      ["test", "project", "all tests"],
    ]);
    expect(found.refused).toEqual([{ path: join(root, ".holdfast/prompts/fix.md"), why: "you have a prompt fix of your own" }]);
  });

  test("in a project that is not trusted, they are not read; only plain names are told", async () => {
    await projects("fix.md", "theirs");
    await projects("\u001b[31mred.md", "theirs");
    expect(await findPrompts({ home, root, isTrusted: false })).toEqual({ prompts: [], refused: [], untrusted: ["fix"] });
  });

  test("but not behind links that lead out of the project, under hostile names, or as what is no prompt", async () => {
    await write(join(home, "secret.md"), "secret");
    await mkdir(join(root, ".holdfast/prompts/folder.md"), { recursive: true });
    await symlink(join(home, "secret.md"), join(root, ".holdfast/prompts/link.md"));
    await projects("quit.md", "x");
    await projects("a b.md", "x");
    await projects("\u202efdp.md", "x");
    await projects("large.md", "x".repeat(65 * 1024));
    await projects("empty.md", "---\n---\n");
    await projects("open.md", "---\n");
    await writeFile(join(root, ".holdfast/prompts/bytes.md"), Buffer.from([0xff, 0xfe]));
    const found = await findPrompts({ home, root, isTrusted: true });
    expect(found.prompts).toEqual([]);
    expect(found.refused).toHaveLength(9);
    expect(JSON.stringify(found)).not.toContain('"secret"');

    await rm(join(root, ".holdfast"), { recursive: true });
    await write(join(home, "elsewhere/prompts/out.md"), "secret");
    await symlink(join(home, "elsewhere"), join(root, ".holdfast"));
    expect(await findPrompts({ home, root, isTrusted: true })).toEqual({ prompts: [], refused: [], untrusted: [] });
  });

  test("also behind a person's own links", async () => {
    await write(join(home, "dotfiles/fix.md"), "mine");
    await mkdir(join(home, "prompts"));
    await symlink(join(home, "dotfiles/fix.md"), join(home, "prompts/fix.md"));
    expect((await findPrompts({ home, root, isTrusted: false })).prompts).toMatchObject([{ name: "fix", body: "mine" }]);
  });
});

describe("prompts are used", () => {
  const messages = async (hosts: ReturnType<typeof fakeHosts>) => {
    const rows = await hosts.log.list({});
    const events = (await Promise.all(rows.map(({ session }) => hosts.log.read(session, 1)))).flat();
    return events.flatMap(({ type, payload }) => {
      if (type !== "turn.started" && type !== "input.taken") return [];
      const { message } = JSON.parse(payload ?? "null") as { message: { trust: string; parts: { text: string }[] } };
      return [[message.trust, message.parts[0]?.text]];
    });
  };
  const model = ["--model", "openai/x"];

  test("by exec, with the authority of whose they are", async () => {
    await own("fix.md", "Fix $1.");
    await projects("test.md", "Test $ARGUMENTS.");
    const hosts = fakeHosts({ script: [{ text: "ok" }] });
    expect(await main(["exec", ...model, "/fix a.ts"], io(), hosts)).toBe(0);
    const untrusted = io();
    expect(await main(["exec", ...model, "/test all"], untrusted, hosts)).toBe(2);
    expect(untrusted.err()).toContain("which is not trusted");
    await trust(home, root, new Date(0));
    expect(await main(["exec", ...model, "/test all"], io(), hosts)).toBe(0);
    expect((await messages(hosts)).toSorted()).toEqual([
      ["project", "Test all."],
      ["user", "Fix a.ts."],
    ]);
    const unknown = io();
    expect(await main(["exec", ...model, "/fxi a.ts"], unknown, hosts)).toBe(2);
    expect(unknown.err()).toContain("did you mean /fix?");
  });

  test("but text from stdin or a file is taken as it is, and a prompt comes from one place", async () => {
    await own("fix.md", "Fix $1.");
    await write(join(root, "task.md"), "/fix from a file\n");
    const hosts = fakeHosts({ script: [{ text: "ok" }] });
    expect(await main(["exec", ...model, "-"], io("/fix from stdin"), hosts)).toBe(0);
    expect(await main(["exec", ...model, "--prompt-file", "task.md"], io(), hosts)).toBe(0);
    expect((await messages(hosts)).toSorted()).toEqual([
      ["user", "/fix from a file"],
      ["user", "/fix from stdin"],
    ]);
    for (const [args, why] of [
      [["--prompt-file", "task.md", "and this"], "both given"],
      [["--prompt-file", "none.md"], "there is no such file"],
      [["--prompt-file", "."], "this is a folder"],
      [["--prompt-file", "/dev/zero"], "more than 1 MB"],
      [["--output-schema", "/dev/zero", "go"], "more than 32 kB"],
    ] as const) {
      const wrong = io();
      expect(await main(["exec", ...model, ...args], wrong, hosts)).toBe(2);
      expect(wrong.err()).toContain(why);
    }
  });

  test("in line mode, where they are listed and what is missing is told", async () => {
    await own("fix.md", "---\ndescription: fixes a file\u001b[2J\narguments: file\n---\nFix $1.");
    const hosts = fakeHosts({ script: [{ text: "ok" }] });
    const piped = io("/prompts\n/fix\n/fix a.ts\n/fxi\n");
    expect(await main(model, piped, hosts)).toBe(0);
    expect(piped.out()).toMatch(/\/fix file +yours +fixes a file/);
    expect(piped.out()).not.toContain("\u001b");
    expect(piped.err()).toContain("/fix needs file");
    expect(piped.err()).toContain("no command /fxi");
    expect(await messages(hosts)).toEqual([["user", "Fix a.ts."]]);
  });

  test("and holdfast prompts lists and shows them", async () => {
    await own("fix.md", "---\narguments: file\n---\nFix $1.\u001b[31m");
    await projects("test.md", "x");
    const listed = io();
    expect(await main(["prompts"], listed, fakeHosts({ script: [] }))).toBe(0);
    expect(listed.out()).toContain("/fix file");
    expect(listed.err()).toContain("not used: test of this project, which is not trusted");
    const json = io();
    await main(["prompts", "--json"], json, fakeHosts({ script: [] }));
    expect(JSON.parse(json.out())).toMatchObject({ type: "prompt", name: "fix", arguments: ["file"], from: "user" });
    const shown = io();
    expect(await main(["prompts", "show", "fix"], shown, fakeHosts({ script: [] }))).toBe(0);
    expect(shown.out()).toContain("Fix $1.");
    expect(shown.out()).not.toContain("\u001b");
    expect(await main(["prompts", "show", "none"], io(), fakeHosts({ script: [] }))).toBe(2);
  });
});
