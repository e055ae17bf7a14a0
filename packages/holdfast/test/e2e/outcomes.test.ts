import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createPlace } from "./run.ts";

const files = {
  "package.json": '{ "name": "sum", "type": "module", "scripts": { "test": "node --test" } }\n',
  "sum.js": "export const sum = (a, b) => a - b;\n",
  "test/sum.test.js":
    'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "../sum.js";\ntest("sums", () => assert.equal(sum(1, 2), 3));\n',
};
const fix = { name: "edit_file", input: { path: "sum.js", edits: [{ old: "a - b", new: "a + b" }] } };

test("a model that says all 42 tests pass and does nothing is refuted by a failing check, and the message says what failed", async () => {
  const place = await createPlace(() => ({ text: "All 42 tests pass." }), files);
  const { code, stderr } = await place.exec("--check", "npm test", "Fix sum");
  expect(code).toBe(3);
  expect(stderr).toContain("npm test");
  expect(stderr).toMatch(/refuted/i);
  expect(place.server.requests).toHaveLength(4);
  expect(JSON.stringify(place.server.requests.at(-1))).toContain("sums");
});

test("the same words with a passing check are verified, headed not demonstrated", async () => {
  const place = await createPlace(() => ({ text: "All 42 tests pass." }), { ...files, "sum.js": "export const sum = (a, b) => a + b;\n" });
  const { code, stderr } = await place.exec("--check", "npm test", "Fix sum");
  expect(code).toBe(0);
  expect(stderr).toMatch(/not demonstrated/i);
});

test("the same words without a check: nothing to verify", async () => {
  const place = await createPlace(() => ({ text: "All 42 tests pass." }), files);
  const { code, stdout, stderr } = await place.exec("Fix sum");
  expect(code).toBe(0);
  expect(stdout).toBe("All 42 tests pass.\n");
  expect(stderr).toMatch(/nothing to verify/i);
});

test("a fix is verified red to green, with the change in the summary; the JSON events say so too", async () => {
  const place = await createPlace((results) => (results.length < 1 ? { calls: [fix] } : { text: "Fixed the sign." }), files);
  const { code, stdout, stderr } = await place.exec("--json", "--check", "npm test", "Fix sum");
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; item?: { type: string; changes?: unknown } });
  expect(lines[0]?.type).toBe("thread.started");
  expect(lines.at(-1)?.type).toBe("turn.completed");
  expect(lines.map((line) => line.type)).toContain("check.completed");
  expect(lines.some((line) => line.item?.type === "file_change")).toBe(true);
  expect(readFileSync(join(place.workspace, "sum.js"), "utf8")).toContain("a + b");
});

test("a test changed to pass is no proof: unverified, and the status says the evidence is weak", async () => {
  const cheat = { name: "edit_file", input: { path: "test/sum.test.js", edits: [{ old: "sum(1, 2), 3", new: "sum(1, 2), -1" }] } };
  const place = await createPlace((results) => (results.length < 1 ? { calls: [cheat] } : { text: "Green now." }), files);
  const { code, stderr } = await place.exec("--check", "npm test", "Fix sum");
  expect(code).toBe(6);
  expect(stderr).toMatch(/the test itself changed/i);
});

describe("dependencies installed during the turn", () => {
  const shell = (command: string) => ({ name: "run_command", input: { command } });
  const install = "npm ci --no-audit --no-fund";
  const withPackage = {
    ...files,
    ".gitignore": "node_modules/\n",
    "package.json": '{ "name": "sum", "type": "module", "scripts": { "test": "node --test" }, "dependencies": { "plus": "file:plus" } }\n',
    "package-lock.json": JSON.stringify({
      name: "sum",
      lockfileVersion: 3,
      packages: {
        "": { name: "sum", dependencies: { plus: "file:plus" } },
        "node_modules/plus": { resolved: "plus", link: true },
        plus: {},
      },
    }),
    "plus/package.json": '{ "name": "plus", "type": "module", "exports": "./index.js" }\n',
    "plus/index.js": "export const plus = (a, b) => a + b;\n",
    "sum.js": 'import { plus } from "plus";\nexport const sum = (a, b) => plus(a, -b);\n',
  };
  const fixed = { name: "edit_file", input: { path: "sum.js", edits: [{ old: "a, -b", new: "a, b" }] } };
  const endOf = async (...commands: string[]) => {
    const calls = [fixed, ...commands.map(shell)];
    const place = await createPlace((results) => {
      const call = calls[results.length];
      return call === undefined ? { text: "Done." } : { calls: [call] };
    }, withPackage);
    return place.exec("--approvals", "allow", "--check", "npm test", "Fix sum");
  };

  test("by one recorded install are no weakness, and the report names it", async () => {
    const { code, stderr } = await endOf(install);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(stderr.replace(/\s+/g, " ")).toContain(`dependencies by \`${install}\``);
  });

  test("with an edit in the same command are weak", async () => {
    const { code, stderr } = await endOf(`${install} && echo 1 > node_modules/x.js`);
    expect({ code, stderr: code === 6 ? "" : stderr }).toEqual({ code: 6, stderr: "" });
  });
});

test("give_up fails the turn; a reached limit exhausts it; both say why", async () => {
  const gives = await createPlace(() => ({ calls: [{ name: "give_up", input: { reason: "there is no such bug" } }] }));
  const gave = await gives.exec("go");
  expect(gave.code).toBe(1);
  expect(gave.stderr).toContain("there is no such bug");
  const loops = await createPlace((results) => ({ calls: [{ name: "run_command", input: { command: `echo ${results.length}` } }] }));
  const limited = await loops.exec("--max-steps", "3", "go");
  expect(limited.code).toBe(5);
  expect(limited.stderr).toContain("--max-steps");
  const commented = (n: number) => ({ name: "run_command", input: { command: `cat README.md # look ${n}` } });
  const circles = await createPlace((results) => (results.length < 9 ? { calls: [commented(results.length)] } : { text: "Done." }));
  const circled = await circles.exec("go");
  expect(circled.code).toBe(5);
  expect(circled.stderr).toContain("the same result from run_command cat README.md");
});

test("undo puts back what the turn's edits changed, and refuses where a person changed it since", async () => {
  const place = await createPlace((results) => (results.length < 1 ? { calls: [fix] } : { text: "Done." }), files);
  await place.exec("Fix sum");
  const path = join(place.workspace, "sum.js");
  writeFileSync(path, "export const sum = () => 3;\n");
  const refused = await place.start(["undo"]).finished;
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("sum.js");
  writeFileSync(path, files["sum.js"].replace("a - b", "a + b"));
  expect((await place.start(["undo"]).finished).code).toBe(0);
  expect(readFileSync(path, "utf8")).toBe(files["sum.js"]);
});

test("a key in the environment reaches no command, no event and no output", async () => {
  const place = await createPlace((results) =>
    results.length < 1 ? { calls: [{ name: "run_command", input: { command: "env; cat /proc/self/environ" } }] } : { text: "Done." },
  );
  const { stdout, stderr } = await place.exec("go");
  expect(stdout + stderr + JSON.stringify(place.server.requests)).not.toContain("e2e-key");
});

test("a model that gives up because of a refused call ends blocked, and turn.completed is not said", async () => {
  const reset = { name: "run_command", input: { command: "git reset --hard" } };
  const place = await createPlace((results) => {
    const refused = /call_[0-9a-z]+/.exec(results.at(-1) ?? "")?.[0];
    return { calls: [refused === undefined ? reset : { name: "give_up", input: { reason: "needs the reset", blocked_by: refused } }] };
  }, files);
  const { code, stdout } = await place.exec("--json", "Fix sum");
  expect(code).toBe(7);
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ type: "turn.failed", error: { code: "blocked" } });
  expect(stdout).not.toContain('"turn.completed"');
});
