import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommandCheck } from "@holdfast/protocol";
import { commandCheck } from "../src/index.ts";
import { endingOf, makeAdder, kinds, npmTest, right, testFile, wrong } from "./adder.ts";
import type { Place } from "./place.ts";

let place: Place;
beforeEach(() => {
  place = makeAdder();
});
afterEach(() => place.end());
const ending = (...[work, check]: [() => void | Promise<void>, CommandCheck?]) => endingOf(place, work, check);

test("a source that ends the run and prints a summary of its own is no proof", async () => {
  const forged = ["tests 2", "suites 0", "pass 2", "fail 0", "cancelled 0", "skipped 0", "todo 0", "duration_ms 1"].map(
    (line) => `ℹ ${line}`,
  );
  const end = await ending(() =>
    place.write("src/add.js", `console.log(${JSON.stringify(forged.join("\n"))});\nprocess.exit(0);\nexport const add = 0;\n`),
  );
  expect(end).toMatchObject({ verdict: "weak", kinds: ["fewer_tests"] });
});

test("the runner edited inside node_modules is noticed", async () => {
  place.write("node_modules/runner/index.js", "process.exit(1);\n");
  place.write("package.json", JSON.stringify({ scripts: { test: "node node_modules/runner/index.js" } }));
  const end = await ending(() => place.write("node_modules/runner/index.js", "process.exit(0);\n"));
  expect(end).toMatchObject({ verdict: "weak", kinds: ["inputs_changed"] });
  expect(end.reasons[0]).toContain("main:node_modules");
});

test("a program that shadows the runner from node_modules/.bin is noticed", async () => {
  place.write("node_modules/.bin/other", "");
  const end = await ending(() => {
    place.write("node_modules/.bin/node", "#!/bin/sh\nexit 0\n");
    chmodSync(join(place.dir, "node_modules/.bin/node"), 0o755);
  });
  expect(end.verdict).toBe("weak");
  expect(end.kinds).toContain("inputs_changed");
});

test("a source hidden by a new ignore line stays in the subject", async () => {
  const baseline = await place.baseline(npmTest);
  place.write("src/add.js", right);
  place.write(".gitignore", "node_modules/\ndist/\nsrc/add.js\n");
  const first = await place.round(baseline, npmTest);
  place.write("src/add.js", wrong);
  const second = await place.observer.snapshot(baseline.manifest);
  expect(first.evidence[0]?.subjectAfter).not.toBe(second.subject);
  expect(await place.observer.changes(baseline.manifest ?? "", second.manifest)).toMatchObject([{ path: ".gitignore" }]);
});

test("a check that rewrites what it tests is no proof", async () => {
  const check = commandCheck("date +%N >> src/log.txt; sed -i 's/a - b/a + b/' src/add.js; node --test");
  const end = await ending(() => {}, check);
  expect(end).toMatchObject({ verdict: "weak", kinds: ["check_changes_subject"] });
  expect(end.reasons[0]).toContain("src/log.txt");
});

test("a check that writes once, such as a snapshot, is run once more and then counts", async () => {
  const check = commandCheck("test -e made.txt || echo made > made.txt; grep -q '+' src/add.js");
  place.remove("test/add.test.js");
  place.commit();
  const baseline = await place.verifier.baseline([check], false, place.context(), new AbortController().signal);
  place.write("src/add.js", right);
  const { evidence, verdict } = await place.round(baseline, check);
  expect(verdict.verdict).toBe("pass");
  expect(evidence[0]?.repeats).toHaveLength(2);
  expect(evidence[0]?.subjectBefore).toBe(evidence[0]?.subjectAfter);
});

test("writes to declared outputs don't count", async () => {
  const check = commandCheck("date +%N > report.txt; grep -q '+' src/add.js", { outputs: ["report.txt"] });
  const end = await ending(() => place.write("src/add.js", right), check);
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  expect(end.evidence[0]?.repeats).toEqual([]);
});

test("another check's writes make earlier evidence stale", async () => {
  const reads = commandCheck("true");
  const writes = commandCheck("test -e made.txt || echo made > made.txt");
  const baseline = await place.verifier.baseline([reads, writes], false, place.context(), new AbortController().signal);
  const { evidence, verdict } = await place.round(baseline, reads, writes);
  expect(place.verifier.stale?.(evidence)).toEqual([reads.id]);
  expect(verdict.verdict).toBe("weak");
  const again = await place.round(baseline, reads, writes);
  expect(place.verifier.stale?.(again.evidence)).toEqual([]);
  expect(again.verdict.verdict).toBe("pass");
});

test("an edit by something else while the check runs is noticed", async () => {
  const check = commandCheck("sleep 0.3; node --test");
  const baseline = await place.baseline(check);
  place.write("src/add.js", right);
  let count = 0;
  const timer = setInterval(() => place.write("src/other.js", `// ${(count += 1)}\n`), 50);
  try {
    const { evidence, verdict } = await place.round(baseline, check);
    expect(verdict.verdict).toBe("weak");
    expect(kinds(evidence)).toEqual(["check_changes_subject"]);
  } finally {
    clearInterval(timer);
  }
});

test("flaky then green is reported as flaky", async () => {
  const flag = join(place.top, "flag");
  const check = commandCheck(`if test -e ${flag}; then exit 0; else touch ${flag}; exit 1; fi`);
  const baseline = await place.verifier.baseline([check], false, place.context(), new AbortController().signal);
  place.write("src/add.js", right);
  const { evidence, verdict } = await place.round(baseline, check);
  expect(verdict.verdict).toBe("weak");
  expect(evidence[0]?.weaknesses).toEqual([{ kind: "flaky", detail: "1 of 2 runs passed" }]);
  expect(evidence[0]?.repeats).toHaveLength(2);
  const next = await place.round(baseline, check);
  expect(kinds(next.evidence)).toEqual(["flaky"]);
});

test("a check that failed on this very tree in an earlier round and passes now is flaky", async () => {
  const count = join(place.top, "count");
  const check = commandCheck(`echo x >> ${count}; test $(wc -l < ${count}) -gt 2`);
  const baseline = await place.verifier.baseline([check], false, place.context(), new AbortController().signal);
  expect((await place.round(baseline, check)).verdict.verdict).toBe("fail");
  const second = await place.round(baseline, check);
  expect(second.verdict.verdict).toBe("weak");
  expect(kinds(second.evidence)).toEqual(["flaky"]);
});

test("a baseline that was flaky makes a green end be run twice", async () => {
  const count = join(place.top, "count");
  const check = commandCheck(`echo x >> ${count}; test $(wc -l < ${count}) -gt 1`);
  const baseline = await place.baseline(check);
  expect(baseline.evidence[0]?.weaknesses).toMatchObject([{ kind: "flaky" }]);
  place.write("src/add.js", right);
  const { evidence, verdict } = await place.round(baseline, check);
  expect(evidence[0]?.repeats).toHaveLength(2);
  expect(verdict.report.heading).toContain("not demonstrated");
});

test("ignored build output must be made from this tree", async () => {
  place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node dist/run.js" } }));
  place.commit();
  place.write("dist/run.js", "process.exit(1);\n");
  const end = await ending(() => {
    place.write("src/add.js", right);
    place.write("dist/run.js", "process.exit(0);\n");
  });
  expect(end).toMatchObject({ verdict: "weak", kinds: ["stale_build"] });
});

test("build output that the check makes itself is never stale", async () => {
  place.write(
    "package.json",
    JSON.stringify({
      type: "module",
      scripts: { test: "mkdir -p dist && cp src/add.js dist/add.js && node --test && grep -q + dist/add.js" },
    }),
  );
  place.commit();
  const end = await ending(() => place.write("src/add.js", right));
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
});

test("build output that is kept where it is up to date is proven by a run without it", async () => {
  const build =
    "node -e \"const f=require('fs');if(!f.existsSync('dist/a.js')){f.mkdirSync('dist',{recursive:true});f.copyFileSync('src/add.js','dist/a.js')}\"";
  place.write("package.json", JSON.stringify({ scripts: { test: `${build} && grep -q + dist/a.js` } }));
  place.commit();
  const end = await ending(() => {
    place.write("src/add.js", right);
    place.remove("dist");
    place.write("dist/a.js", right);
  });
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
});

test("a check that came later counts its earlier tests by the tree that they are of", async () => {
  const start = await place.baseline(commandCheck("true"));
  place.write("src/add.js", right);
  place.write("test/more.test.js", testFile);
  const context = { ...place.context(), earlier: start };
  const later = await place.verifier.baseline([npmTest], true, context, new AbortController().signal);
  const { verdict } = await place.round(later, npmTest);
  expect(verdict).toMatchObject({ verdict: "pass" });
});
