import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace, type Place } from "./run.ts";

const files = {
  "sum.sh": "echo $(($1 - $2))\n",
  "test/sum.sh": '#!/bin/sh\n[ "$(sh sum.sh 1 2)" = 3 ] && echo "1..1\nok 1 - sums"\n',
};
const fix = { name: "edit_file", input: { path: "sum.sh", edits: [{ old: "$1 - $2", new: "$1 + $2" }] } };

test("one job, three endings: a lie, an honest giving up, an honest success: 3, 1, 0", async () => {
  const lie = await createPlace(() => ({ text: "Fixed; all tests pass." }), files);
  const gaveUp = await createPlace(() => ({ calls: [{ name: "give_up", input: { reason: "I can't tell what a sum is" } }] }), files);
  const success = await createPlace((results) => (results.length < 1 ? { calls: [fix] } : { text: "Fixed the sign." }), files);
  const codes = [];
  for (const place of [lie, gaveUp, success]) codes.push((await place.exec("--check", "sh test/sum.sh", "Fix sum")).code);
  expect(codes).toEqual([3, 1, 0]);
}, 120_000);

function configure({ home }: Place, text: string): void {
  mkdirSync(join(home, ".holdfast"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, ".holdfast/config.toml"), text, { mode: 0o600 });
}

const named = `
[checks.named.sums]
kind = "tests"
command = "sh test/sum.sh"
when = ["*.sh"]
[checks.named.small]
kind = "diff"
only = ["sum.sh"]
max_lines = 4
[checks.named.place]
kind = "files"
exists = ["sum.sh"]
unchanged = ["test/sum.sh"]
`;

test("checks of the config are shown before any model is asked", async () => {
  const place = await createPlace(() => ({ text: "never asked" }), files);
  configure(place, named);
  const { code, stdout } = await place.exec("--plan-checks", "--check", "true");
  expect({ code, lines: stdout.trim().split("\n") }).toEqual({
    code: 0,
    lines: [
      "sums  tests: sh test/sum.sh, when *.sh changed (yours)",
      "small  diff: only sum.sh; at most 4 lines; tests are kept; no secret is added (yours)",
      "place  files: sum.sh, test/sum.sh (yours)",
      "true  command: true (yours)",
    ],
  });
  expect(place.server.requests).toEqual([]);
}, 120_000);

test("constraints of words, flags and config: what code can judge is held, the rest is told and shown as not judged", async () => {
  const more = { name: "write_file", input: { path: "more.sh", content: "echo 1\n" } };
  const words = "Fix sum, but don't touch more.sh. Don't change how it is called.";
  const broken = await createPlace((results) => (results.length < 1 ? { calls: [fix, more] } : { text: "Fixed." }), files);
  configure(broken, '[checks]\nconstraints = ["keep it portable"]\n');
  const plan = await broken.exec("--plan-checks", "--constraint", "no new dependencies", words);
  expect(plan.stdout.trim().split("\n")).toEqual([
    "keep it portable  constraint, stated: told to the model, not judged (yours)",
    "no new dependencies  constraint, diff: no dependency is added (yours)",
    "don't touch more.sh  constraint, diff: never /more.sh, /more.sh/** (yours)",
    "Don't change how it is called  constraint, stated: told to the model, not judged (yours)",
  ]);
  const { code, stderr } = await broken.exec("--constraint", "no new dependencies", "--check", "sh test/sum.sh", words);
  expect({ code, isNamed: stderr.includes("more.sh was added, and may not change") }).toEqual({ code: 3, isNamed: true });
  expect(stderr).toContain("not judged");
  const asked = JSON.stringify(broken.server.requests[0]);
  expect(asked).toContain("Constraints of this work: keep it portable; no new dependencies");

  const held = await createPlace((results) => (results.length < 1 ? { calls: [fix] } : { text: "Fixed." }), files);
  expect((await held.exec("--check", "sh test/sum.sh", words)).code).toBe(0);
  const unproven = await held.exec("Say something, but don't touch more.sh.");
  expect({ code: unproven.code, isUnverified: unproven.stderr.includes("unverified") }).toEqual({ code: 0, isUnverified: true });
}, 120_000);

test("checks run in the order that they are named in", async () => {
  const place = await createPlace(() => ({ text: "Nothing to do." }), files);
  const commands = ["true 3", "true 1", "true 4", "true 2", "true 5"];
  const { stdout } = await place.exec("--json", ...commands.flatMap((command) => ["--check", command]), "Look");
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; check: { name: string; phase: string } });
  const run = events.flatMap(({ type, check }) => (type === "check.completed" && check.phase === "final" ? [check.name] : []));
  expect(run).toEqual(commands);
}, 120_000);

test("a check that the model proposes is held like the user's, under the same policy, and proves nothing alone", async () => {
  const propose = (command: string) => ({ name: "use_tool", input: { name: "propose_check", input: { command } } });
  const run = (calls: readonly object[]) =>
    createPlace(
      (results) => (results.length < calls.length ? { calls: [calls[results.length] as typeof fix] } : { text: "Fixed the sign." }),
      files,
    );
  const more = await run([propose("test -f NOTES.md"), fix]);
  const missed = await more.exec("--check", "sh test/sum.sh", "Fix sum");
  expect({ code: missed.code, isNamed: missed.stderr.includes("test -f NOTES.md fails") }).toEqual({ code: 3, isNamed: true });

  const both = await run([propose("test -s sum.sh"), fix]);
  const proven = await both.exec("--check", "sh test/sum.sh", "Fix sum");
  expect({ code: proven.code, isShown: proven.stderr.includes("proposed by the model") }).toEqual({ code: 0, isShown: true });

  const alone = await run([propose("true"), fix]);
  const { code, stderr } = await alone.exec("Fix sum");
  expect({ code, isUnverified: stderr.includes("unverified"), isMarked: stderr.includes("passes whatever") }).toEqual({
    code: 0,
    isUnverified: true,
    isMarked: true,
  });

  const refused = await run([propose("git push --force"), fix]);
  expect((await refused.exec("--plan-checks")).stdout).toContain("no check");
  const denied = await refused.exec("--check", "sh test/sum.sh", "Fix sum");
  expect({ code: denied.code, isAdded: denied.stderr.includes("proposed by the model") }).toEqual({ code: 0, isAdded: false });
}, 180_000);

test("named checks of all kinds decide together", async () => {
  const honest = await createPlace((results) => (results.length < 1 ? { calls: [fix] } : { text: "Fixed the sign." }), files);
  configure(honest, named);
  expect((await honest.exec("Fix sum")).code).toBe(0);
  const more = { name: "write_file", input: { path: "more.sh", content: "1\n2\n3\n4\n5\n" } };
  const loose = await createPlace((results) => (results.length < 1 ? { calls: [fix, more] } : { text: "Fixed the sign." }), files);
  configure(loose, named);
  const { code, stderr } = await loose.exec("Fix sum");
  expect(code).toBe(3);
  expect(stderr).toContain("more.sh was added, and may not change");
}, 120_000);

test("checks that come later, and those of a fork, are held to the tree before the session's first effect", async () => {
  const look = { name: "read_file", input: { path: "test/sum.sh" } };
  const weaken = { name: "edit_file", input: { path: "test/sum.sh", edits: [{ old: "= 3", new: "= -1" }] } };
  const place = await createPlace((_, sampling) => [{ calls: [look] }, { calls: [weaken] }][sampling - 1] ?? { text: "Done." }, files);
  expect((await place.exec("Tidy up")).code).toBe(0);
  const session = await place.session();
  const forked = await place.start(["fork", session, "--at", "1.1"]).finished;
  const fork = /ses_[0-9a-z]+/.exec(forked.stdout.replace(session, ""))?.[0] ?? "";
  for (const one of [session, fork]) {
    const { code, stderr } = await place.exec("resume", one, "--check", "sh test/sum.sh", "Go on");
    expect({ one, code, isNamed: stderr.includes("the test itself changed") }).toEqual({ one, code: 6, isNamed: true });
  }
}, 120_000);

test("words that the log contradicts are marked, and others are left alone", async () => {
  const words = "I edited `sum.sh` and `test/sum.sh`. I ran the tests, and all of them pass.";
  const place = await createPlace((results) => (results.length < 1 ? { calls: [fix] } : { text: words }), files);
  const { stdout, stderr } = await place.exec("Fix sum");
  expect(stdout).toContain(words);
  expect(stderr).toContain("says that it changed test/sum.sh: it is as it was");
  expect(stderr).toContain("says that tests were run: no command of this session ran any");
  expect(stderr).not.toContain("changed sum.sh: it");
}, 120_000);

const port = 20_000 + (process.pid % 10_000);
const serving = `import { createServer } from "node:http";
import { answer } from "./answer.js";
createServer((_, response) => response.end(answer)).listen(${port}, "127.0.0.1");
`;
const asking = `const response = await fetch("http://127.0.0.1:${port}/");
process.exit((await response.text()) === "right" ? 0 : 1);
`;

test("a check that needs a server is run against the one that the session left running, on its network; without it, nothing is verified", async () => {
  const web = {
    "package.json": '{ "type": "module" }',
    "answer.js": 'export const answer = "wrong";\n',
    "serve.js": serving,
    "ask.js": asking,
  };
  const config = '[checks.named.page]\ncommand = "node ask.js"\nneeds = ["node serve.js"]\n';
  const right = { name: "edit_file", input: { path: "answer.js", edits: [{ old: "wrong", new: "right" }] } };
  const serve = { name: "run_command", input: { command: "node serve.js", yield_s: 1 } };
  // It starts the server too early, and is told; then after its last change.
  const told = await createPlace((results, sampling) => {
    if (sampling === 1) return { calls: [serve] };
    if (sampling === 2) return { calls: [right] };
    if (sampling === 3) return { text: "Done." };
    const handle = /read_output (\S+)/.exec(results.join("\n"))?.[1] ?? "";
    if (sampling === 4) return { calls: [{ name: "read_output", input: { handle, stop: true } }] };
    return sampling === 5 ? { calls: [serve] } : { text: "Done." };
  }, web);
  configure(told, config);
  const { code, stderr } = await told.exec("Let it answer right.");
  expect({ code, shown: stderr.replace(/\s+/g, " ") }).toMatchObject({
    code: 0,
    shown: expect.stringMatching(/was started before files last changed.*while `node serve.js` ran/) as string,
  });
  expect(JSON.stringify(told.server.requests[0])).toContain("leave it running");

  const without = await createPlace((results) => (results.length < 1 ? { calls: [right] } : { text: "Done." }), web);
  configure(without, config);
  const ended = await without.exec("Let it answer right.");
  expect({ code: ended.code, shown: ended.stderr.replace(/\s+/g, " ") }).toMatchObject({
    code: 6,
    shown: expect.stringContaining("it needs `node serve.js` running in the session") as string,
  });
}, 120_000);
