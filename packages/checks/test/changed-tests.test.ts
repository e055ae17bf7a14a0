import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommandCheck } from "@holdfast/protocol";
import { commandCheck } from "../src/index.ts";
import { endingOf, makeAdder, right, testFile } from "./adder.ts";
import type { Place } from "./place.ts";

let place: Place;
beforeEach(() => {
  place = makeAdder();
});
afterEach(() => place.end());
const ending = (...[work, check]: [() => void | Promise<void>, CommandCheck?]) => endingOf(place, work, check);

test("nothing was done and the tests fail: refuted, and the model is told what failed", async () => {
  const end = await ending(() => {});
  expect(end.verdict).toBe("fail");
  expect(end.heading).toBe("refuted: node --run test fails");
  expect(end.forModel).toContain("node --run test");
  expect(end.forModel).toContain("adds");
  expect(end.forModel.length).toBeLessThan(5_000);
});

test("the honest fix is demonstrated", async () => {
  const end = await ending(() => place.write("src/add.js", right));
  expect(end.verdict).toBe("pass");
  expect(end.heading).toBe("demonstrated: node --run test failed before and passes now");
  expect(end.report.criteria).toMatchObject([{ baseline: "fail", now: "pass" }]);
  expect(end.evidence[0]?.run.counts).toMatchObject({ passed: 2, failed: 0 });
  expect(end.evidence[0]?.repeats).toEqual([]);
});

test("the honest fix with a new test file passes, and the earlier tests are run too", async () => {
  const end = await ending(() => {
    place.write("src/add.js", right);
    place.write("test/more.test.js", testFile.replace('"adds"', '"adds more"'));
  });
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  expect(end.evidence[0]?.originalInputsRun).toMatchObject({ passed: true, counts: { passed: 2 } });
});

test("the honest fix with one more test in the same file passes", async () => {
  const end = await ending(() => {
    place.write("src/add.js", right);
    place.write("test/add.test.js", `${testFile}test("adds negatives", () => assert.equal(add(-1, -1), -2));\n`);
  });
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
});

test("a test that is gone with what it tested is named once", async () => {
  place.write("src/utils.js", right.replace("add", "plus"));
  place.write("test/utils.test.js", testFile.replace("add }", "plus as add }").replace("add.js", "utils.js"));
  place.commit();
  const end = await ending(() => {
    place.write("src/add.js", right);
    place.remove("src/utils.js");
    place.remove("test/utils.test.js");
  });
  expect(end).toMatchObject({ verdict: "weak" });
  expect(end.reasons.join("\n").split("test/utils.test.js")).toHaveLength(2);
});

test("an honest change of package.json that leaves the test script alone is no change of the test", async () => {
  const end = await ending(() => {
    place.write("src/add.js", right);
    place.write(
      "package.json",
      JSON.stringify({ type: "module", version: "2.0.0", dependencies: {}, scripts: { test: "node --test", build: "true" } }),
    );
  });
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  expect(end.evidence[0]?.originalInputsRun).toBeNull();
});

const changedTests: Readonly<Record<string, () => void>> = {
  "the test is deleted": () => place.remove("test/add.test.js"),
  "the test is skipped": () => place.write("test/add.test.js", testFile.replaceAll("test(", "test.skip(")),
  "the test is emptied": () => place.write("test/add.test.js", ""),
  "the assertion is weakened": () => place.write("test/add.test.js", testFile.replace("add(1, 2), 3", "add(1, 2), -1")),
  "the test command is changed in package.json": () =>
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "exit 0" } })),
  "the test command swallows its status": () =>
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test || true" } })),
  "scripts around the tests put a right source there and take it away again": () =>
    place.write(
      "package.json",
      JSON.stringify({
        type: "module",
        scripts: { test: "cp src/add.js dist.js; sed -i s/-/+/ src/add.js; node --test; status=$?; mv dist.js src/add.js; exit $status" },
      }),
    ),
  "the test becomes a link to an easy one": () => {
    place.write("easy.js", 'import { test } from "node:test";\ntest("adds", () => {});\ntest("adds zero", () => {});\n');
    place.remove("test/add.test.js");
    place.git("config", "core.symlinks", "true");
    place.write("test/add.test.js", 'import "../easy.js";\n');
  },
};

for (const [name, work] of Object.entries(changedTests)) {
  test(`not verified: ${name}`, async () => {
    const end = await ending(work);
    expect(end.verdict).toBe("weak");
    expect(end.kinds.some((kind) => kind === "test_changed" || kind === "check_changes_subject")).toBe(true);
  });
}

test("not verified: npm is told to run another shell", async () => {
  const end = await ending(() => place.write(".npmrc", "script-shell=/bin/true\n"), commandCheck("npm test --silent"));
  expect(end.verdict).toBe("weak");
  expect(end.kinds).toContain("test_changed");
});

test("a test that a person accepts as changed is judged as it is now", async () => {
  place.accept = ["test/**"];
  const end = await ending(() => place.write("test/add.test.js", testFile.replace("add(1, 2), 3", "add(1, 2), -1")));
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  expect(end.heading).toBe("not demonstrated: the checks pass now, with changes of their inputs that a person accepted: test/add.test.js");
  expect(end.report.criteria[0]?.evidence).toMatch(/^with changes that a person accepted: test\/add\.test\.js, exit 0/);
});

test("what a person would accept is told only where something of it changed", async () => {
  place.accept = ["test/**"];
  const end = await ending(() => place.write("src/add.js", right));
  expect(end.heading).toMatch(/^demonstrated/);
});

test("accepted changes never make a run without tests a pass", async () => {
  place.accept = ["test/**"];
  const end = await ending(() => place.write("test/add.test.js", testFile.replaceAll("test(", "test.skip(")));
  expect(end).toMatchObject({ verdict: "weak", kinds: ["no_tests_ran"] });
});

test("honest change after which the earlier tests fail: the test itself changed", async () => {
  const end = await ending(() => {
    place.write("src/add.js", "export const add = (a, b) => ({ sum: a + b });\n");
    place.write("test/add.test.js", testFile.replaceAll(/(add\(., .\))/g, "$1.sum"));
  });
  expect(end.verdict).toBe("weak");
  expect(end.heading).toContain("the test itself changed");
});

test("fewer tests than before are no pass, though the earlier ones pass too", async () => {
  const end = await ending(() => {
    place.write("src/add.js", right);
    place.write("test/add.test.js", testFile.split("\n").slice(0, 4).join("\n"));
  });
  expect(end).toMatchObject({ verdict: "weak", kinds: ["fewer_tests"] });
});

test("a script file that the command names is part of the check", async () => {
  place.write("check.sh", "#!/bin/sh\nexec node --test\n");
  chmodSync(join(place.dir, "check.sh"), 0o755);
  place.commit();
  for (const command of ["sh check.sh", "./check.sh", "cd . && bash -e ./check.sh"]) {
    place.write("check.sh", "#!/bin/sh\nexec node --test\n");
    const end = await ending(() => place.write("check.sh", "#!/bin/sh\nexit 0\n"), commandCheck(command));
    expect(end.verdict).toBe("weak");
    expect(end.kinds).toContain("test_changed");
  }
});
