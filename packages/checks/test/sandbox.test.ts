import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createProcesses } from "@holdfast/node/processes/index";
import { commandCheck } from "../src/index.ts";
import { makePlace, type Place } from "./place.ts";

/** The same job in the real sandbox, under the real wrapper: the copy is shown at the workspace's own path. */
let place: Place;

beforeEach(() => {
  place = makePlace({
    mode: "workspace-write",
    processes: (top, dir, home) => {
      mkdirSync(join(top, "state"));
      return createProcesses({
        home: join(top, "state"),
        workspaceRoots: [dir],
        userHome: home,
        environment: { ...process.env, HOME: home },
      });
    },
  });
  place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
  place.write(".gitignore", "node_modules/\n");
  place.write("node_modules/plus/package.json", JSON.stringify({ name: "plus", type: "module", exports: "./index.js" }));
  place.write("node_modules/plus/index.js", "export const plus = (a, b) => a + b;\n");
  place.write("src/add.js", "export const add = (a, b) => a - b;\n");
  place.write("test/add.test.js", testFile(3));
  place.commit();
});

afterEach(() => place.end());

function testFile(sum: number): string {
  return `import { test } from "node:test";
import assert from "node:assert";
import { existsSync } from "node:fs";
import { plus } from "plus";
import { add } from "../src/add.js";
test("adds at home", () => {
  assert.equal(add(1, 2), ${sum});
  assert.equal(plus(1, 2), 3);
  assert.equal(process.cwd(), ${JSON.stringify(place.dir)});
  assert.ok(existsSync(".git"));
});
`;
}

const check = commandCheck("node --run test");

test("an honest fix with one more test is verified, the earlier tests run at the workspace's own path", async () => {
  const baseline = await place.baseline(check);
  expect(baseline.evidence[0]).toMatchObject({ sandboxed: true, run: { passed: false, counts: { failed: 1 } } });
  place.write("src/add.js", 'import { plus } from "plus";\nexport const add = plus;\n');
  place.write("test/add.test.js", `${testFile(3)}test("adds zero", () => assert.equal(add(0, 0), 0));\n`);
  const { evidence, verdict } = await place.round(baseline, check);
  expect(verdict.report.reasons).toEqual([]);
  expect(verdict.report.heading).toMatch(/^demonstrated/);
  expect(evidence[0]?.originalInputsRun).toMatchObject({ passed: true, counts: { passed: 1 } });
  expect(readdirSync(join(place.top, "cache", "scratch"))).toEqual([]);
});

test("a weakened test is not, and the workspace keeps it as it is", async () => {
  const baseline = await place.baseline(check);
  place.write("test/add.test.js", testFile(-1));
  const { evidence, verdict } = await place.round(baseline, check);
  expect(verdict.verdict).toBe("weak");
  expect(evidence[0]).toMatchObject({
    run: { passed: true },
    originalInputsRun: { passed: false },
    weaknesses: [{ kind: "test_changed" }],
  });
  rmSync(join(place.dir, "test"), { recursive: true });
  expect((await place.round(baseline, check)).verdict.verdict).toBe("weak");
});

test("a check that prints more than is kept says so, to people and to the model", async () => {
  const loud = commandCheck("yes | head -c 40000000");
  const baseline = await place.verifier.baseline([loud], false, place.context(), new AbortController().signal);
  const { evidence, verdict } = await place.round(baseline, loud);
  const says = /reached the output limit of \d+ bytes and was ended/;
  expect(evidence[0]?.run).toMatchObject({ passed: false, exitCode: null, ended: expect.stringMatching(says) });
  expect(verdict.report.reasons[0]).toMatch(says);
  expect(verdict.forModel).toMatch(says);
});

test("a source that is right only where the sandbox's network is all there is passes only unguarded", async () => {
  const baseline = await place.baseline(check);
  place.write(
    "src/add.js",
    'import { networkInterfaces } from "node:os";\nconst isAlone = Object.keys(networkInterfaces()).length < 2;\nexport const add = (a, b) => (isAlone ? a + b : a - b);\n',
  );
  const { evidence, verdict } = await place.round(baseline, check);
  expect(verdict.verdict).toBe("weak");
  expect(evidence[0]).toMatchObject({ run: { passed: true }, weaknesses: [{ kind: "reaches_tests" }] });
});

test("Python's bytecode can be made, and none that lies in the workspace is read", async () => {
  const compiled = commandCheck(
    "python3 -m compileall -q shop && python3 -m py_compile test/*.py && PYTHONPATH=. python3 test/test_price.py",
  );
  place.write("test/test_price.py", "from shop.price import total\n\nassert total(3, 4) == 12\n");
  place.write(".gitignore", "node_modules/\n__pycache__/\n");
  place.write("shop/price.py", "def total(price, qty):\n    return price + qty\n");
  const made = "import py_compile; py_compile.compile('shop/price.py', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)";
  execFileSync("python3", ["-c", made], { cwd: place.dir });
  place.write("shop/price.py", "def total(price, qty):\n    return price * qty\n");
  const baseline = await place.baseline(compiled);
  place.write("notes.txt", "");
  expect((await place.round(baseline, compiled)).evidence[0]).toMatchObject({ run: { passed: true }, weaknesses: [] });
});
