import { expect, test } from "vitest";
import { home, request } from "../src/examples/machine.ts";
import { createPolicy, readDataRules } from "../src/index.ts";
import { decide } from "./world.ts";

/** What a rule that allows these words by themselves says to a command. */
async function byRule(rule: string, command: string): Promise<string> {
  const { rules } = readDataRules([{ rule, match: "prefix" }], "data");
  return (await createPolicy({ home, rules, isAlone: true }).decide(request(command))).decision;
}

test("an awk statement goes on behind a line's end where awk says so, and so does what it prints to", async () => {
  for (const sign of [",", " &&", " ||", " ?"]) {
    const command = `awk '{print 1${sign}\n2 > "src/a.ts"}' a`;
    expect([command, (await decide(command)).provenRead]).toEqual([command, false]);
    expect(await byRule("awk", command)).toBe("review");
  }
  const comment = `awk '{ # ${"x".repeat(70)}\nprint 1 > "src/a.ts"}' a`;
  expect((await decide(comment)).provenRead).toBe(false);
  const apostrophe = `awk '{ # ${"x".repeat(70)} "\nprint 1 > "src/a.ts" #"\n}' a`;
  expect((await decide(apostrophe)).provenRead).toBe(false);
  for (const command of ["awk '{print\nx = 3 > 2}' a", "awk '{print $1\nx = 3 > 2}' a", `awk '{print 1, # ${'a"b '.repeat(30)}\n2}' a`])
    expect([command, (await decide(command)).provenRead]).toEqual([command, true]);
});

test("a value that runs a command once it is taken for a number is code that nobody sees", async () => {
  for (const command of [
    "x='a[$(git push)]'; [[ x -eq 0 ]]",
    "x='a[$(rm -rf src)]'; echo $((x))",
    "declare -i n='a[b[0]+`id`]'",
    "for x in 'a[$(id)]'; do ((x)); done",
    "a=('b[$(id)]'); echo $((a))",
    "set -- 'a[$(id)]'; (( $1 ))",
    "read x <<< 'a[$(id)]'; (( x ))",
  ])
    for (const setting of [{}, { mode: "off" }, { isPlanning: true, mode: "read-only" }] as const)
      expect([command, (await decide(command, setting)).decision]).not.toEqual([command, "allow"]);
  expect((await decide("[[ x -eq 0 ]]")).provenRead).toBe(false);
  expect((await decide("[[ 3 -lt 4 && -f a.ts ]]")).provenRead).toBe(true);
  expect((await decide("x='[info] $(date)'; echo \"$x\"")).decision).toBe("allow");
});

test("a word behind make's -j and -l is what is made, unless it is a number", async () => {
  for (const command of ["make -j deploy", "make -l deploy", "make -sj release", "gmake --jobs deploy", "make deploy -- -n"])
    expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
  for (const command of ["make -j 4 test", "make -j4", "make -l 2 test", "make -n deploy", "just -l deploy"])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
  expect(await byRule("make test", "make test -j deploy")).toBe("review");
  for (const command of ["make test -j", "make test -j 4", "make test -sj8"]) expect(await byRule("make test", command)).toBe("allow");
});

test("the beginning of a long option is that option where it speaks against a call, and none where it speaks for it", async () => {
  for (const command of [
    "git reset --har",
    "git checkout --forc main",
    "git switch --disc main",
    "git switch --force-c main",
    "git tag --del v1",
    "git fetch --upload-p=./x",
    "git push --exec=./x",
    "tar xf a.tar --direc=/etc",
    "tar xf a.tar --use=./x",
    "cp --targ=/etc a",
    "sed --in-p s/a/b/ /etc/x",
    "git clean -fd --dry",
    // What they exclude, or name, is called n.
    "git clean -fdx -en",
    "git clean -fd -- -n",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
  for (const command of ["git clean -fdn", "git clean -fd --dry-run", "git rm --cached a.ts", "git diff --text", "git grep --or -e a -e b"])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});

test("a shell's text is found where it is its input by another name, behind a taken back -n, and in its long options", async () => {
  for (const command of [
    "bash /dev/stdin <<< 'git push'",
    "sh /proc/self/fd/0 <<< 'git push'",
    "cat a | sh /dev/fd/0",
    "bash -n +n -c 'rm -rf src'",
    "fish --command 'git push'",
    "fish --init-command='git push' -c ls",
    "pwsh -Command 'git push'",
    "pwsh -EncodedCommand Z2l0",
    "cat a | pwsh",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
  for (const command of [
    "bash -n src/a.sh",
    "cat a | bash -n",
    'bash -n "$f"',
    "fish -n a.fish",
    "pwsh -Version",
    "pwsh -NoProfile -File build.ps1",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});

test("operands of an unknown program that read as a command line are asked about as one, and nothing is allowed by that", async () => {
  for (const command of [
    "fakeroot git push",
    "setpriv --reuid=1 rm -rf src",
    "systemd-inhibit npm publish",
    "bwrap --dev-bind / / git push",
    "aws-vault exec prod -- terraform apply",
    "coverage run -m twine upload dist/a",
    "ld-linux-x86-64.so.2 /usr/bin/git push",
    "cmake -E env git push",
    "conda run -n x git push",
    "perf stat git push",
    "tsp retry 3 nohup git push",
    "nodemon --exec 'git push'",
    "nodemon --exec='cd x && git push'",
    "npx concurrently 'npm test' 'npm publish'",
    "gdb -ex 'shell ls' a.out",
    "gosu root ls",
  ])
    for (const setting of [{}, { mode: "off" }] as const)
      expect([command, (await decide(command, setting)).decision]).toEqual([command, "review"]);
  for (const command of [
    "fakeroot git status",
    "retry 3 npm test",
    "watchexec -e ts -- npm test",
    "concurrently 'npm test' 'npm run lint'",
    "next start",
    "expo start --ios",
    "cz -m 'git push later'",
    "gum style 'rm -rf is dangerous'",
    "nodemon server.js",
    "cmake --build build",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
  expect(await byRule("fakeroot git push", "fakeroot git push")).toBe("review");
  expect(await byRule("fakeroot", "fakeroot git status")).toBe("allow");
});

test("code is read where it stands right behind its letter, and hidden where an interpreter reads it from a pipe", async () => {
  for (const command of [
    `python3 -uc'import os; os.remove("src/a.ts")'`,
    `python3 -c 'from os import remove; remove("src/a.ts")'`,
    `perl -lne'unlink $_' a`,
    `ruby -e'File.delete("src/a.ts")'`,
    `node -e'require("fs").rmSync("src")'`,
    `deno eval 'Deno.removeSync("src/a.ts")'`,
    `lua -e 'os.execute("git push")'`,
    "python3 -mpip install x",
    "python3 -Im pip install x",
    "cat a | python3",
    "cat a | node -",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
  for (const command of ["cat a | python3 -m json.tool", "python3 -mjson.tool a.json", "cat a | perl -pe's/a/b/'", "cat a | node src/a.ts"])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});

test("secrets are told in every way that jq, ps and git have of naming a file or the environment", async () => {
  for (const command of [
    "git show :.env",
    "git show :1:.env",
    "git show ':(top).env'",
    "git diff HEAD -- :.env",
    "git log -p -- '*.env'",
    "git log -p -- .e*",
    "git cat-file -p :.env",
    "git grep --no-index KEY ~",
    "git grep --no-index KEY /",
    "ps -eo pid,environ",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
  for (const command of [
    `jq -n 'import "credentials" as $d {search:"."}; $d'`,
    `jq -n 'include "m" {search:"."}; e'`,
    "jq -n '$ ENV'",
    "git cat-file --batch <<< HEAD:a",
  ])
    expect([command, (await decide(command)).provenRead]).toEqual([command, false]);
  for (const command of [
    "jq .include a.json",
    "git diff -- . ':!.env'",
    "git log --grep '.*'",
    "git grep '.*'",
    "git grep --no-index KEY src",
    "git show HEAD:src/a.ts",
    "ps -eo pid,comm",
  ])
    expect([command, (await decide(command)).provenRead]).toEqual([command, true]);
});

test("options and words by which everyday programs run others, remove or reach outside are known", async () => {
  for (const command of [
    "zip -m a.zip src/a.ts",
    "zip -T -TT 'git push' a.zip src",
    "split --filter='git push' a",
    "less +'!git push' a",
    "man -P ./x ls",
    "gcc -wrapper ./x a.c",
    "cmake -E rm -rf src",
    "cmake -E copy a /etc/x",
    "cmake --build build --target install",
    "tar xzfC a.tgz /etc",
    `sqlite3 a.db "select writefile('x', 1)"`,
    "psql -h localhost -c 'select pg_terminate_backend(1)'",
    "node --run deploy",
    "git clone --template=./x ../y",
    "git sparse-checkout set src",
    "cat terraform.tfvars",
    "cat server.pem",
    "echo $DB_PASS",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
  for (const command of [
    "zip -r a.zip src",
    "split -l 10 a",
    "less +F a",
    "man ls",
    "gcc -o a a.c",
    "cmake -E make_directory build",
    "cmake --build build --target all",
    "tar xzf a.tgz",
    "node --run test",
    "cat cert.pem",
    "echo $TESTS_PASSED",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});

test("behind a rule's words only what selects, shows or tests is covered: no other folder, module or secret", async () => {
  for (const [rule, covered, more] of [
    ["npm test", ["--project unit", "--coverage"], ["--project ../evil", "--project=/tmp/x", "-u", "--coverage=/tmp"]],
    ["git fetch", ["origin", "origin feat/x"], ["evil/x", "origin refs/../../x"]],
    ["git ls-remote", ["origin refs/heads/main"], ["sub/x", "refs/../../x"]],
    ["go test", [".", "./...", "-run X ./pkg/a"], ["example.com/evil", "./../x"]],
    ["go list", ["-m all", "./..."], ["-m -u all", "-m -versions x", "-export ./..."]],
    ["kubectl get", ["pods -n x"], ["secrets,pods", "pods,secrets", "-n x secret/db"]],
  ] as const) {
    const words = rule === "npm test" ? "npm test --" : rule;
    for (const each of covered) expect([each, await byRule(rule, `${words} ${each}`)]).toEqual([each, "allow"]);
    for (const each of more) expect([each, await byRule(rule, `${words} ${each}`)]).toEqual([each, "review"]);
  }
});

test("a link that the line makes is followed: what is done to it is done to the file behind it", async () => {
  for (const command of [
    "ln -s ~/.bashrc p && echo x > p",
    "ln -s /etc d && echo x > d/passwd",
    "ln -s ~/.bashrc && echo x > .bashrc",
    "ln ~/.bashrc p; tee -a ./p",
    "cp -s ~/.bashrc p; echo x >> p",
    "ln -s ~/.ssh/id_rsa k && cat k",
  ])
    for (const setting of [{}, { mode: "off" }] as const)
      expect([command, (await decide(command, setting)).decision]).toEqual([command, "review"]);
  for (const command of [
    "ln -s /usr/share/dict words && cat words/a",
    "ln -s src/a.ts b && echo x > c",
    "ln -s ../lib/a.js node_modules/a",
  ])
    expect([command, (await decide(command, { mode: "off" })).decision]).toEqual([command, "allow"]);
});
