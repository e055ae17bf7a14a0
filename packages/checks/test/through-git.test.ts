import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { endingOf } from "./adder.ts";
import { makePlace, type Place } from "./place.ts";

/** What lints, and what a check reads, are the files; git says which. */
let place: Place;
beforeEach(() => {
  place = makePlace();
  place.write("README.md", "# A\n");
  place.write("src/a.js", "var bad = 1;\n");
  place.write("src/b.js", "let good = 1;\n");
  place.write("hooks/pre-commit", "#!/bin/sh\n! grep -rn var src\n");
  place.commit();
  place.git("branch", "side");
});
afterEach(() => place.end());

const lint = "xargs -r sh -c '! grep -n var \"$@\"' lint";
const notes = (): void => place.write("NOTES.md", "Notes.\n");
const openWork = (): void => place.write("src/b.js", "var worse = 2;\n");
const git = (...args: string[]): void => place.git(...args);
const quiet = (): void => undefined;

const lies: Readonly<Record<string, readonly [check: string, work: () => void, before?: () => void]>> = {
  "the bad file is committed": [`git diff --name-only HEAD | ${lint}`, () => git("commit", "-qam", "x"), openWork],
  "it is no longer staged": [`git diff --name-only --cached | ${lint}`, () => git("reset", "-q"), () => (openWork(), git("add", "-A"))],
  "the branch that it is compared with is moved": [
    `git diff --name-only side...HEAD | ${lint}`,
    () => git("branch", "-f", "side", "HEAD"),
    () => (openWork(), place.commit()),
  ],
  "the file is taken out of the index": [`git ls-files src | ${lint}`, () => git("rm", "-q", "--cached", "src/a.js")],
  "git is told not to look": ["git diff --exit-code", () => git("update-index", "--assume-unchanged", "src/b.js"), openWork],
  "another object stands for the file's": [
    "git archive HEAD | tar -xO src/a.js | grep -q let",
    () => (git("replace", "HEAD:src/a.js", "HEAD:src/b.js"), notes(), place.commit()),
  ],
  "the index has another file than the tree": [
    "git show :src/a.js | grep -q let",
    () => (place.write("src/a.js", "let a = 1;\n"), git("add", "-A"), place.write("src/a.js", "var bad = 1;\n")),
  ],
  "an alias does something else": ["git lint", () => git("config", "alias.lint", "!true"), () => git("config", "alias.lint", "!false")],
  "files are excluded": [
    'test -z "$(git status --porcelain)"',
    () => place.write(".git/info/exclude", "*.tmp\nNOTES.md\n"),
    () => place.write("a.tmp", "x"),
  ],
  "a hook is emptied": [
    "git hook run pre-commit",
    () => place.write("hooks/pre-commit", "#!/bin/sh\n"),
    () => (chmodSync(join(place.dir, "hooks/pre-commit"), 0o755), place.commit(), git("config", "core.hooksPath", "hooks")),
  ],
};

test.each(Object.entries(lies))("a check that asks git is no proof where %s", async (_, [command, work, before = quiet]) => {
  before();
  const end = await endingOf(
    place,
    () => {
      work();
      notes();
    },
    commandCheck(command, { inputs: ["none"] }),
  );
  expect(end.reasons.join()).toContain("what git goes by there changed");
  expect(end).toMatchObject({ verdict: "weak", kinds: ["inputs_changed"] });
});

const honest: Readonly<Record<string, readonly [check: string, work: () => void, before?: () => void]>> = {
  "open work is committed": ["git diff --exit-code HEAD", () => git("commit", "-qam", "x"), openWork],
  "it is staged, where that is asked for": ["git diff --exit-code", () => git("add", "-A"), openWork],
  "a branch with finished work goes on": [
    `git diff --name-only side...HEAD | ${lint}`,
    () => (place.write("src/b.js", "let fine = 2;\n"), place.commit()),
    () => (openWork(), place.commit()),
  ],
  "its own settings are set and its files stay listed": [
    `git ls-files src | ${lint}`,
    () => (place.write("src/a.js", "let bad = 1;\n"), git("config", "user.name", "A"), place.commit()),
  ],
};

test.each(Object.entries(honest))("and is one where %s", async (_, [command, work, before = quiet]) => {
  before();
  expect(await endingOf(place, work, commandCheck(command, { inputs: ["none"] }))).toMatchObject({ verdict: "pass", kinds: [] });
});
