import { expect, test } from "vitest";
import { contradictions, type Done } from "../src/claims.ts";

const call = (command: string) => ({ name: "run_command", input: JSON.stringify({ command }) });
const done = (more: Partial<Done> = {}): Done => ({
  calls: [],
  isWhole: true,
  changes: [{ path: "src/a.ts", change: "modified", added: 1, removed: 1 }],
  changesKnown: true,
  ...more,
});
const says = (message: string, more: Partial<Done> = {}) => contradictions(message, done(more)).map((one) => one.says);

test.each([
  "I ran the tests and they pass.",
  "I've re-ran all unit tests.",
  "Then we ran the whole test suite.",
  "I've just re-run the full test suite.",
  "We have run the tests.",
  "Fixed.\n\n- Finally, I ran the tests",
  "The bug is gone and I ran the tests: no failures.",
])("%s: no command did", (message) => {
  expect(says(message)).toEqual(["says that tests were run: no command of this session ran any"]);
  expect(says(message, { calls: [call("ls -l; cat src/a.ts | head"), { name: "read_file", input: "{}" }] })).toHaveLength(1);
});

test.each(["npm test", "sh check.sh", "cd x && ./run", "make", "FOO=1 node a.js"])(
  "after `%s` nothing is marked: it may have been the tests",
  (command) => {
    expect(says("I ran the tests and they pass.", { calls: [call(command)] })).toEqual([]);
  },
);

test.each([
  "I ran no tests.",
  "Run the tests to see it.",
  "I didn't run the tests.",
  "The tests were run by you.",
  "I ran out of time before the tests.",
  "I have not changed `src/b.ts`.",
  "I looked at `src/b.ts`. I changed nothing in it.",
  "I updated the call because `src/b.ts` expects it.",
  "I changed src/b.ts",
  "I did not say that I ran the tests.",
  "You asked whether I ran the tests: no.",
  "If I ran the tests, they would fail.",
  "If all else is right\nI ran the tests in vain.",
  "Before this session I ran the tests.",
  "I ran the tests last week.",
  "Do you think so, and I ran the tests?",
  'They write "I ran the tests".',
  "```\nI ran the tests\n```",
  "> I ran the tests",
  "Should I have changed `src/b.ts`?",
  "It looks as though I edited `src/b.ts`, but the edit was refused.",
  "I edited `src/b.ts`, but the edit was refused.",
  "Nobody can claim I changed `src/b.ts`.",
  "I ran the tests, or so it seems; actually I did not.",
  "I ran the tests; no, we never did.",
  "I edited `src/b.ts`, or rather `src/a.ts`.",
  "I edited `src/b.ts` (I actually didn't).",
  "The commit in which I fixed `src/b.ts` last week is bad.",
])("nothing is marked where it is not certain: %s", (message) => expect(says(message)).toEqual([]));

test("a file that is as it was is named, and one that changed is not", () => {
  expect(contradictions("I edited `src/a.ts` and `src/b.ts`.", done())).toEqual([
    { says: "says that it changed src/b.ts: it is as it was", path: "src/b.ts" },
  ]);
  expect(says("I've updated `a.ts`.")).toEqual([]);
});

test.each([
  ["cat src/b.ts", 1],
  ["cd src && head -5 b.ts 2>&1 | grep -n x 2>/dev/null", 1],
  ["cat src/a.ts > src/b.ts", 0],
  ["cat src/b.ts | tee x", 0],
  ['echo "$(rm src/b.ts)"', 0],
  ["PATH=. cat src/b.ts", 0],
  ["./cat src/b.ts", 0],
  ["sh fix.sh src/b.ts", 0],
])("after `%s`: %d", (command, marks) => {
  expect(says("I edited `src/b.ts`.", { calls: [call(command)] })).toHaveLength(marks);
});

test("what is said beside a claim doesn't take it back", () => {
  expect(says("I ran the tests, and I did not find a failure.")).toHaveLength(1);
  expect(says("I edited `src/b.ts`, and we have never seen it fail.")).toHaveLength(1);
});

test("a call that names the file may have changed it, and a log that is not whole says nothing", () => {
  const message = "I edited `src/b.ts`, and I ran the tests.";
  expect(says(message, { calls: [call("sed -i s/a/b/ src/b.ts")] })).toEqual([
    "says that tests were run: no command of this session ran any",
  ]);
  expect(says(message, { isWhole: false })).toEqual([]);
  expect(says("I edited `src/b.ts`.", { changesKnown: false })).toEqual([]);
});
