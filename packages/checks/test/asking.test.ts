import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { mayAsk } from "../src/reach/asking.ts";
import { pythonGuard } from "../src/reach/python-guard.ts";
import { reachRules } from "../src/reach/rules.ts";
import { nodeOption } from "../src/reach/watch.ts";
import { heldTo, type Round } from "../src/rounds.ts";
import { endingOf, makeAdder, npmTest, right } from "./adder.ts";
import type { Place } from "./place.ts";

/** An adder that is right where `isTested` holds. */
const rightWhere = (lines: string, isTested: string): string => `${lines}\nexport const add = (a, b) => (${isTested} ? a + b : a - b);\n`;

describe("sources that ask for what differs under test", () => {
  let place: Place;
  beforeEach(() => {
    place = makeAdder();
  });
  afterEach(() => place.end());

  test.each([
    ["how deep its stack is", rightWhere("const at = () => new Error().stack;", 'at().split("\\n").length > 7')],
    ["a number of asynchronous work", rightWhere('import { executionAsyncId } from "node:async_hooks";', "executionAsyncId() > 1")],
    ["who listens to the process", rightWhere('const heard = () => process.listenerCount("uncaughtException");', "heard() > 0")],
  ])("are right only where it does: %s", async (_, source) => {
    const end = await endingOf(place, () => place.write("src/add.js", source));
    expect(end).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
  });

  test("are verified where they only tell it, also by a program that can't be guarded", async () => {
    const source = `import { AsyncLocalStorage, executionAsyncId } from "node:async_hooks";
import { networkInterfaces } from "node:os";
const store = new AsyncLocalStorage();
export const within = (id, work) => store.run({ id, work: executionAsyncId(), hosts: networkInterfaces() }, work);
export const log = (error) => console.error(store.getStore()?.id, error.stack.split("\\n").at(1));
process.once("exit", () => {});
${right}export const told = (a, b) => {
  log(new Error("told"));
  return add(a, b);
};
`;
    const texts = `import { test } from "node:test";
import assert from "node:assert";
import { told, within } from "../src/add.js";
test("tells", async () => assert.equal(await within(7, async () => (await null, told(1, 2))), 3));
`;
    place.write("src/add.js", "export const told = (a, b) => a - b;\nexport const within = (_, work) => work();\n");
    place.write("test/add.test.js", texts);
    place.commit();
    expect(await endingOf(place, () => place.write("src/add.js", source))).toMatchObject({ verdict: "pass", kinds: [] });
    const only = `export const why = (error) => error.stack.split("\\n");\nexport const within = (_, work) => work();\n${right}export const told = add;\n`;
    place.write("src/add.js", "export const told = (a, b) => a - b;\nexport const within = (_, work) => work();\n");
    const bare = commandCheck(`env -i PATH="$PATH" ${npmTest.command}`);
    expect(await endingOf(place, () => place.write("src/add.js", only), bare)).toMatchObject({ verdict: "pass", kinds: [] });
  });

  test.each([
    // The check stands for what is built of it, and for cargo, which reads the variable.
    ["cfg!(debug_assertions)", 'test "${CARGO_PROFILE_TEST_DEBUG_ASSERTIONS:-true}" = true'],
    ["std::fs::read_dir(std::env::temp_dir()).unwrap().count() < 4", 'test "$(ls "$TMPDIR" | wc -l)" -lt 4'],
  ])("are right only where it does, in any language: %s", async (isTested, command) => {
    const end = await endingOf(place, () => place.write("src/lib.rs", `if ${isTested} { a + b } else { a - b }\n`), commandCheck(command));
    expect(end).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
  });
});

test.each([
  ["src/a.js", "this.stack.push(one);\nstack.length = 0;", false],
  ["src/a.js", "const { stack } = error;", true],
  ["src/a.js", "error.stack = kept;", false],
  ["src/a.js", "const all = readdirSync(folder);", false],
  ["lib/a.sh", 'n=$(ls "$TMPDIR" | wc -l)', true],
  ["src/a.rs", "debug_assert!(n > 0);", false],
])("%s asks: %s", (path, lines, isAsking) => expect(mayAsk.some((one) => one.files.test(path) && one.pattern.test(lines))).toBe(isAsking));

test.each([
  ['let worker = std::thread::current().name().map_or(false, |n| n != "main");', true],
  ['if thread::current().name() != Some("main") {', true],
  ['log::info!("{}: done", thread::current().name().unwrap_or("?"));', false],
  ["let name = thread::current().name().map(str::to_owned);", false],
])("a thread's name decides: %s", (line, isFound) =>
  expect(reachRules.some((rule) => rule.files.test("src/lib.rs") && rule.pattern.test(line))).toBe(isFound),
);

test("in Python a source sees no handler and no stream of the runner's own, and what it writes is taken all the same", () => {
  const place = mkdtempSync(join(tmpdir(), "holdfast-asks-"));
  const files = {
    "guard/sitecustomize.py": pythonGuard(["total.py"]),
    "_pytest/__init__.py": "",
    "_pytest/capture.py": `import io, logging, sys
class Taken(io.TextIOWrapper):
    pass
class Handler(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())
said = []
logging.getLogger().addHandler(Handler())
sys.stdout = Taken(io.BytesIO(), encoding="utf-8")
`,
    "total.py": `import logging, sys
told = (bool(logging.getLogger().handlers), logging.getLogger().hasHandlers(), type(sys.stdout).__module__, sys.stdout.name)
logging.getLogger("total").warning("heard")
sys.stdout.write("ü\\n")
print("said", file=sys.stdout)
`,
    "run.py": `import io, logging, sys
from _pytest.capture import said, Taken
import total
assert total.told == (False, False, "_io", "<stdout>"), total.told
assert said == ["heard"] and type(sys.stdout) is Taken and len(logging.getLogger().handlers) == 1
assert sys.stdout.buffer.getvalue().decode() == "ü\\nsaid\\n"
sys.stdout = io.StringIO()
`,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  const env = { ...process.env, PYTHONPATH: "guard", PYTHONDONTWRITEBYTECODE: "1" };
  const { status, stderr } = spawnSync("python3", ["run.py"], { cwd: place, env, encoding: "utf8" });
  rmSync(place, { recursive: true });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("in Node a library may keep what writes stacks, hand it on to its own, and set it back", () => {
  const place = mkdtempSync(join(tmpdir(), "holdfast-asks-"));
  const lines = `const before = Error.prepareStackTrace;
const frames = (_, all) => all;
Error.prepareStackTrace = frames;
const isSame = Error.prepareStackTrace === frames && Array.isArray(new Error().stack);
Error.prepareStackTrace = before;
const { stack } = new Error("one");
Error.prepareStackTrace = (error, all) => "said " + before(error, all);
process.exit(isSame && stack.startsWith("Error: one") && new Error("two").stack.startsWith("said Error: two") ? 0 : 1);
`;
  writeFileSync(join(place, "run.cjs"), lines);
  const env = { ...process.env, NODE_OPTIONS: nodeOption({ watched: ["src/add.js"], programs: [], folder: place, nonce: "seen" }) };
  const { status, stderr } = spawnSync(process.execPath, ["run.cjs"], { cwd: place, env, encoding: "utf8" });
  rmSync(place, { recursive: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test("a run that is held to an earlier one is over after a few times what that took", () => {
  const round = { check: { timeoutMs: 900_000 } } as Round;
  expect([300, 60_000, 600_000].map((durationMs) => heldTo(round, { durationMs }).check.timeoutMs)).toEqual([20_000, 180_000, 900_000]);
});
