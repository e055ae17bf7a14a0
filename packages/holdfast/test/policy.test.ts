import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readRules } from "@holdfast/policy/rules/read-rules";
import { renderRule } from "@holdfast/policy/rules/rule-data";
import { ruleDataOf } from "@holdfast/policy/rules/rule-data-of";
import { parseToml } from "../src/config/toml-file.ts";
import { appendAllowed } from "../src/policy/allowed-file.ts";
import { loadPolicy } from "../src/policy/load.ts";
import { main } from "../src/program.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
let home = "";
let project = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-policy-")));
  [home, project] = [join(folder, "home"), join(folder, "project")];
  await mkdir(join(home, "policy"), { recursive: true });
  await mkdir(join(project, ".holdfast"), { recursive: true });
  await mkdir(join(project, ".git"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const mine = (text: string, name = "mine.toml") => writeFile(join(home, "policy", name), text);
const own = (text: string) => writeFile(join(project, ".holdfast/policy.toml"), text);
async function run(argv: readonly string[], more: { input?: string; env?: Record<string, string> } = {}) {
  const io = fakeIo({
    cwd: project,
    home,
    env: { PATH: process.env["PATH"] ?? "", ...more.env },
    ...(more.input === undefined ? {} : { input: more.input }),
  });
  const status = await main(["policy", ...argv], io);
  return { status, out: io.out(), err: io.err() };
}
const rule = (text: string) => `[[rule]]\nid = "a"\ndecision = "deny"\n${text}`;

describe("a rule file that is wrong", () => {
  const cases: readonly (readonly [text: string, line: number, message: RegExp, hint?: RegExp])[] = [
    ['[[rule]]\nid = "a"\ndecison = "deny"\ncommand = "ls"', 3, /unknown key "decison"/, /did you mean decision\?/],
    [rule('command = "ls"\n\nfoobar = 1'), 6, /unknown key "foobar"/, /known: id, decision/],
    ["[rules]\n", 1, /unknown key "rules"/, /did you mean rule\?/],
    ["[rule]\nid = 1\n", 1, /not a list of tables/, /\[\[rule\]\]/],
    ['[[rule]]\ndecision = "deny"\ncommand = "ls"', 1, /has no id/],
    ['[[rule]]\nid = "a"\ndecision = "dny"\ncommand = "ls"', 3, /"dny" is not allow, review or deny/, /did you mean deny\?/],
    ['[[rule]]\nid = "a"\ndecision = "deny"', 1, /no condition: it would match every call/],
    [rule('command = "ls | sh"'), 4, /not one simple command/, /no pipes/],
    [rule('command = [\n  "ls",\n  "rm $X",\n]'), 6, /"rm \$X" is not one simple command/],
    [rule('match = "exact"\ntool = "x"'), 4, /there is no command/],
    [rule("command = 3"), 4, /command is not a command, or a list/],
    [rule("command = []"), 4, /command is not a command, or a list/],
    [rule('fact = "netwrok"'), 4, /"netwrok" is not a fact/, /did you mean network\?/],
    [rule('host = "https://a.example/"'), 4, /is not a host/],
    [rule('mcp = "tracker"'), 4, /is not SERVER\/TOOL/],
    [rule('read = "~other/x"'), 4, /is not a path pattern/],
    [rule('sends_out = "yes"'), 4, /sends_out is not true or false/],
    [rule('project = "here"\ncommand = "ls"'), 4, /is not the absolute path/],
    [rule('command = "ls"\nnetwork = "all"'), 5, /goes with decision = "allow"/],
    [rule('command = "ls"\nfinal = true'), 5, /only built-in rules can be final/],
    ['[[rule]]\nid = "builtin:x"\ndecision = "deny"\ncommand = "ls"', 2, /those of the built-in rules/],
    [`${rule('command = "ls"')}\n${rule('command = "rm"')}`, 6, /there is a rule "a" already/],
    [rule('command = "ls"\nexamples = [\n  "ls -l",\n  "rm x",\n]'), 7, /example of the rule "a" isn't matched: rm x/],
    [rule('command = "rm"\ncounterexamples = ["echo rm", "sudo rm x"]'), 5, /counterexample of the rule "a" is matched: sudo rm x/],
    [
      '[[rule]]\nid = "a"\ndecision = "allow"\ncommand = "npm install"\nexamples = ["npm install"]',
      5,
      /is matched, but not allowed: Needs the network/,
    ],
    [rule('command = "ls"\nexamples = [{ tool = "x" }]'), 5, /this is no call/],
    ["[[rule]]\nid = a\n", 2, /not valid TOML/],
  ];
  for (const [text, line, message, hint] of cases) {
    test(`${String(message)} at line ${line}`, async () => {
      await mine(text);
      const place = { home, userHome: home, project, isTrusted: false, env: {} };
      const error = await loadPolicy(place).then(
        () => null,
        (found: unknown) => found as { code: string; message: string; hint?: string },
      );
      expect(error).toMatchObject({ code: "policy_invalid" });
      expect(error?.message).toContain(`${join(home, "policy/mine.toml")}:${line}: `);
      expect(error?.message).toMatch(message);
      if (hint !== undefined) expect(error?.hint).toMatch(hint);
    });
  }

  test("is told by policy test with everything that is wrong, and by every command that needs it", async () => {
    await mine(`${rule("command = 3")}\n[[rule]]\nid = "b"\ndecision = "no"\ncommand = "ls"`);
    const tested = await run(["test"]);
    expect([tested.status, tested.out.match(/mine\.toml:\d+/g)]).toEqual([2, ["mine.toml:4", "mine.toml:7"]]);
    expect((await run(["check", "ls"])).status).toBe(2);
    expect((await run(["show"])).err).toMatch(/policy_invalid/);
  });

  test("odd files: no UTF-8, a folder, one that everybody can write, a missing one of the organisation", async () => {
    await writeFile(join(home, "policy/a.toml"), Buffer.from([0x5b, 0xff, 0xfe]));
    await mkdir(join(home, "policy/b.toml"));
    await mine(rule('command = "ls"'), "c.toml");
    await chmod(join(home, "policy/c.toml"), 0o666);
    const { out, status } = await run(["test"], { env: { HOLDFAST_POLICY: join(folder, "none.toml") } });
    expect(status).toBe(2);
    expect(out).toMatch(/none\.toml: there is no such file/);
    expect(out).toMatch(/a\.toml:1: this is not UTF-8/);
    expect(out).toMatch(/b\.toml.*is not a file/);
    expect(out).toMatch(/c\.toml: everybody can write this file/);
  });
});

describe("whose rules count", () => {
  const decided = async (command: string, env: Record<string, string> = {}) =>
    JSON.parse((await run(["check", "--json", command], { env })).out) as { decision: string; rule: string; source: string };

  test("the organisation's over the user's, over the built-in ones; each named with its file and line", async () => {
    expect(await decided("npm publish")).toMatchObject({ decision: "review", rule: "builtin:remote-change" });
    await mine('# mine\n[[rule]]\nid = "publish"\ndecision = "allow"\ncommand = "npm publish"\nnetwork = "all"\n');
    expect(await decided("npm publish")).toMatchObject({ decision: "allow", source: `${join(home, "policy/mine.toml")}:2` });
    const organisation = join(folder, "organisation.toml");
    await writeFile(
      organisation,
      '[[rule]]\nid = "no-publish"\ndecision = "deny"\ncommand = "npm publish"\nmodel = "Ask the release team."\n',
    );
    expect(await decided("npm publish", { HOLDFAST_POLICY: organisation })).toMatchObject({
      decision: "deny",
      rule: "no-publish",
      forModel: "Ask the release team.",
    });
  });

  test("a project's only where it is trusted, and never to allow; its file is the file itself", async () => {
    await own(rule('command = "ls"'));
    expect((await run(["check", "ls"])).err).toContain("not trusted");
    expect(await decided("ls")).toMatchObject({ decision: "allow" });
    expect((await run(["check", "--trust-project", "--json", "ls"])).out).toContain('"decision":"deny"');
    await own('[[rule]]\nid = "a"\ndecision = "allow"\ncommand = "git push"\n');
    expect((await run(["check", "--trust-project", "ls"])).err).toMatch(/policy\.toml:3: a project's rules can only make things stricter/);
    await rm(join(project, ".holdfast/policy.toml"));
    await writeFile(join(folder, "elsewhere.toml"), rule('command = "ls"'));
    await symlink(join(folder, "elsewhere.toml"), join(project, ".holdfast/policy.toml"));
    expect((await run(["check", "--trust-project", "ls"])).err).toMatch(/reached by a link/);
  });

  test("a pattern through a link is one for where the link leads", async () => {
    await mkdir(join(folder, "real-notes"));
    await symlink(join(folder, "real-notes"), join(home, "notes"));
    await mine('[[rule]]\nid = "notes"\ndecision = "allow"\nwrite = "~/notes/**"\n');
    expect((await run(["check", "--tool", "write_file", "--path", join(home, "notes/a.md")])).out).toMatch(/^allow {2}notes/);
  });

  test("what a person allowed for a project is kept with the user, holds there alone, and stays one rule in one write", async () => {
    const command = "grep -n 'on.*x' \"f\\\\g\" $'\\u202e'";
    const one = { decision: "allow", command, match: "exact", project } as const;
    const path = await appendAllowed(home, { id: "allowed-1", ...one });
    await Promise.all(
      [2, 3, 4].map((number) => appendAllowed(home, { id: `allowed-${number}`, ...one, command: "npm publish", network: "all" })),
    );
    expect(await readFile(path, "utf8")).not.toContain("\u202e");
    // Kept twice it is one.
    await appendAllowed(home, { id: "allowed-1", ...one });
    expect(await decided("npm publish")).toMatchObject({ decision: "allow", rule: expect.stringMatching(/^allowed-/) as string });
    const other = join(folder, "other");
    await mkdir(join(other, ".git"), { recursive: true });
    expect((await run(["check", "-C", other, "npm publish"])).out).toMatch(/^review/);
  });
});

describe("holdfast policy", () => {
  test("check explains each command, its program, what is true of it, and who decides", async () => {
    const { out, status } = await run(["check", "env A=1 ls | tee out.txt && git push > /etc/x"]);
    expect(status).toBe(0);
    expect(out).toMatch(/^review {2}builtin:outside-write \(builtin\/effect\.toml:\d+\)\n/);
    expect(out).toMatch(/\d\. ls\n {3}program: \/\S*ls, run by env\n/);
    expect(out).toMatch(/\. git push\n {3}program: \S+\n {3}remote_change: git push\n {5}→ review builtin:remote-change/);
    expect(out).toMatch(/risk high: reaches beyond this machine; it can't be taken back/);
    expect((await run(["check", "echo 'x"])).out).toMatch(/can't be read: syntax/);
  });

  test("check speaks of file tools, requests, MCP tools, and other modes", async () => {
    expect((await run(["check", "--tool", "write_file", "--path", ".git/config"])).out).toMatch(/^review {2}builtin:protected-write/);
    expect((await run(["check", "--tool", "http_request", "--method", "post", "--host", "a.example"])).out).toMatch(
      /^review {2}builtin:remote-change/,
    );
    expect((await run(["check", "--mcp", "tracker/create"])).out).toMatch(/^review {2}builtin:mcp-call/);
    expect((await run(["check", "--mode", "plan", "git push"])).out).toMatch(/^deny {2}builtin:plan-effect/);
    expect((await run(["check", "--mode", "full", "npm test"])).out).toMatch(/^allow {2}builtin:unconfined/);
    expect((await run(["check"])).status).toBe(2);
    expect((await run(["chek", "ls"])).status).toBe(2);
  });

  test("check --batch answers line by line, by given rules alone where a line brings them, and tells what is wrong", async () => {
    const lines = [
      { id: 1, command: "git status -s", rules: [{ rule: "git status", match: "prefix" }] },
      { id: 2, command: "git status; rm -rf src", rules: [{ rule: "git status", match: "prefix" }] },
      { id: 3, command: "npm run test:unit", rules: [{ words: ["npm", "run", "test:*"], match: "glob" }] },
      { id: 4, command: "ls", rules: ["cat", "grep"] },
      { id: 5, command: "ls" },
      { id: 6, command: "touch a", mode: "full" },
      { id: 7, command: "rm src/a.ts", mode: "off" },
      { id: 8, command: "git push", rules: [{ decision: "deny", command: "git push", reason: "No {what}." }] },
      { id: 9, command: "ls", rules: [{ rule: "ls; id", match: "exact" }] },
      { id: 10, command: "ls", mode: "fast" },
      { id: 11 },
    ];
    const input = `${lines.map((line) => JSON.stringify(line)).join("\n")}\nnot json\n`;
    const { out, status } = await run(["check", "--batch"], { input });
    const answers = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answers.slice(0, 8).map(({ id, decision }) => [id, decision])).toEqual([
      [1, "allow"],
      [2, "review"],
      [3, "allow"],
      [4, "review"],
      [5, "allow"],
      [6, "allow"],
      [7, "review"],
      [8, "deny"],
    ]);
    expect(answers[7]).toEqual({ id: 8, decision: "deny", rule: "rule-1", reason: "No git push." });
    expect(answers.slice(8).map(({ id, error }) => [id, typeof error])).toEqual([
      [9, "string"],
      [10, "string"],
      [11, "string"],
      [null, "string"],
    ]);
    expect(status).toBe(2);
  });

  test("show gives every rule with its origin, as text that is a rule file again", async () => {
    await mine(rule('command = "npm run \'a b\':*"\nmatch = "glob"\nreason = "Say \\u202e \\"no\\"."\nsends_out = true'));
    const text = (await run(["show"])).out;
    const { tree } = await parseToml(text.replaceAll("{ ", "{"), "shown");
    const shown = readRules(tree, { name: "shown", authority: "builtin", lineOf: () => 1 });
    expect(shown.problems).toEqual([]);
    const json = (await run(["show", "--json"])).out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(json).toHaveLength(shown.rules.length);
    expect(json[0]).toMatchObject({ authority: "user", source: `${join(home, "policy/mine.toml")}:1`, id: "a", match: "glob" });
    for (const one of shown.rules) expect(renderRule(ruleDataOf(one))).toContain(`id = "${one.id}"`);
    expect(text).not.toContain("\u202e");
  });

  test("test tries all examples, the built-in rules' too", async () => {
    await mine(rule('command = "rm"\nexamples = ["rm x"]'));
    const { out, status } = await run(["test"]);
    expect([status, /^1 rule in 1 file and \d+ built-in ones, \d+ examples: all hold\n$/.test(out)]).toEqual([0, true]);
    await mine(rule('command = "rm"\nexamples = ["ls"]'));
    expect((await run(["test"])).status).toBe(1);
  });
});
