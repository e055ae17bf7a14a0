import { expect, test } from "vitest";
import { decideWith, rulesOf } from "./given-rules.ts";
import { decide } from "./world.ts";

const refused = rulesOf("user", { command: ["rm", "git push"] });

async function expectEach(commands: readonly string[], expected: string): Promise<void> {
  for (const command of commands) expect([command, await decideWith(refused, command)]).toEqual([command, expected]);
}

test("what a program is told to run by an option is refused as if it stood there, in every spelling of the option", async () => {
  await expectEach(
    [
      "git rebase -x'rm -rf src' main",
      "git rebase -i -x'git push' main",
      "git rebase -ix 'git push' main",
      "git rebase -ix'git push' main",
      "git rebase --ex='git push' main",
      "git -C sub rebase --exe 'git push' main",
      "git difftool -x 'git push' -y",
      "git difftool -yx 'git push'",
      "git difftool --extc='rm -rf src'",
      "git submodule --quiet foreach 'git push'",
      "git filter-branch --tree-f 'rm -rf src'",
      "git grep -nO'rm -rf src' x",
      "go test -exec 'rm -rf src' ./...",
      "go build --toolexec='git push'",
      "go vet -vettool rm",
      "sort -u --compress-prog=rm a",
      "strace -fo '|git push' ls",
      "npx --call='git push'",
      "npx -yc'git push'",
      "npm exec --cal 'git push'",
      "lerna exec 'git push'",
      "nx exec -- git push",
      "composer exec -- rm -rf src",
      "rustup run stable rm -rf src",
      "just --command git push",
      "/usr/lib/git-core/git-push origin main",
    ],
    "deny user-1",
  );
  await expectEach(
    [
      "git rebase -x 'npm test' main",
      "git difftool -yx 'diff -u'",
      "go test -exec echo ./...",
      "strace -fo out.txt ls",
      "nx test app",
      "tar -cI 'zstd -T0' -f a b",
    ],
    "allow builtin:confined",
  );
});

test("what may be run by a setting, or by an operand of an unknown program, is asked about where a rule refuses it", async () => {
  const tests = rulesOf("user", { command: ["pytest", "npm run e2e"] });
  for (const command of ["fakeroot npm run e2e", "make TEST='npm run e2e'", "RUNNER='npm run e2e' node a.js", "python3 -m pytest -q"])
    expect([command, await decideWith(tests, command)]).toEqual([command, "review user-1"]);
  for (const command of [
    "make RM='git push'",
    "make CC=rm",
    "cmake -DCMAKE_C_COMPILER_LAUNCHER=rm .",
    "mvn exec:exec -Dexec.executable=rm",
  ])
    expect([command, (await decideWith(refused, command)).split(" ")[0]]).toEqual([command, "review"]);
  for (const command of [
    "make CC='gcc -m32' SHELL=/bin/bash test",
    "./configure CC=gcc CFLAGS=-O2",
    "cmake -DCMAKE_CXX_COMPILER=/usr/bin/clang++ -B build",
    "CMD='npm test' node a.js",
    "python3 -m pytest -q",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});

test("a makefile, or another tool's script, that only exists while the line runs is code that nobody sees", async () => {
  for (const command of [
    "make -f - <<< 'all:; rm -rf src'",
    "make -sf- <<< 'all:; rm -rf src'",
    "make --makef=/dev/stdin <<< 'all:; rm -rf src'",
    "printf 'all:; rm -rf src' | make -f -",
    "make -f <(echo 'all:; rm -rf src')",
    "make --ev='all:; rm -rf src'",
    "gmake -sE 'all:; rm -rf src'",
    "just --justfile - <<< 'all:'",
    "cmake -P /dev/stdin <<< 'file(REMOVE a)'",
    "gdb <<< 'shell rm -rf src'",
    "sed -f - a <<< 'e rm -rf src'",
  ])
    expect([command, (await decide(command)).rule?.id]).toEqual([command, "builtin:hidden-code"]);
  for (const command of ["make -f build.mk -j4", "cmake -P build.cmake", "gdb -batch -ex bt ./a.out", "sed -f a.sed a"])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});
