import type { TestCounts } from "@holdfast/protocol";
import { pytest, unittest } from "./python-counts.ts";
import { add, addName, before, type Reader, type Summary, type Tally } from "./tally.ts";

/** Runs with more names than this are told by numbers alone. */
const mostNames = 2_000;
/** Output looked at for counts: its end, where runners sum up. */
const mostOutput = 4 * 1024 * 1024;

/**
 * Test counts from the output of common runners; null where none were found. Several runs in one output are added up
 * (a workspace of packages, one binary after another). `names` are those that ran, where the reporter prints all of them.
 */
export function parseCounts(output: string): TestCounts | null {
  const tally = readOutput(output);
  if (!tally.isKnown) return null;
  const { passed, failed, skipped, names } = tally;
  const showsAll = names.size > 0 && names.size >= passed + failed && names.size <= mostNames;
  return { passed, failed, skipped, ...(showsAll ? { names: [...names.keys()].sort() } : {}) };
}

/** Names of tests of which none passed. */
export function parseFailed(output: string): ReadonlySet<string> {
  return new Set([...readOutput(output).names].flatMap(([name, hasPassed]) => (hasPassed ? [] : [name])));
}

export function parseSummaries(output: string): readonly Summary[] {
  return readOutput(output).summaries;
}

function readOutput(output: string): Tally {
  const text = stripControls(output.slice(-mostOutput));
  // Plain `go test` and `mvn -q` print nothing of what passes.
  const talks = { go: /^=== |^\s*--- (?:PASS|SKIP): /m.test(text), maven: /^\[INFO\]/m.test(text) };
  const tally: Tally = { passed: 0, failed: 0, skipped: 0, isKnown: false, names: new Map(), summaries: [], runner: "", talks };
  const readers: Readonly<Record<string, Reader>> = {
    node: nodeTest(),
    vitest,
    jest,
    mocha,
    ava,
    pytest: pytest(),
    unittest: unittest(),
    go: goTest,
    cargo,
    jvm,
    ruby,
    phpunit,
    dotnet,
    deno,
    bun: bun(),
  };
  const list = Object.entries(readers);
  for (const line of text.split("\n")) {
    for (const [runner, read] of list) {
      tally.runner = runner;
      read(line, tally);
    }
  }
  tally.runner = "tap";
  if (!tally.isKnown) readTap(text, tally);
  tally.runner = "go";
  if (!tally.isKnown) readEmptyGo(text, tally);
  return tally;
}

/** Without terminal sequences; carriage returns end lines as they do on a screen. */
export function stripControls(text: string): string {
  return text
    .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, "")
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-Z\\-_]/g, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
}

/** node --test: `# pass 3` (TAP) or `ℹ pass 3` (spec). The block begins with `tests`, so a lone look-alike line counts for nothing. */
function nodeTest(): Reader {
  let block: { tests: number; pass: number; skipped: number } | null = null;
  return (line, tally) => {
    const [, word = "", count = ""] =
      /^[#ℹ] (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d+)(?:\.\d+)?$/u.exec(line) ?? [];
    const named = /^\s*(?:✔|✖|ok \d+ -|not ok \d+ -) (.+?)(?: \(\d[\d.]*m?s\))?$/u.exec(line)?.[1];
    // A file that could not be loaded is shown as a test with the file's name.
    if (named !== undefined && !/ # (SKIP|TODO)\b|\.[cm]?[jt]sx?$|^failing tests:$/i.test(named))
      addName(tally, named.trim(), !/^\s*(?:✖|not ok)/u.test(line));
    if (word === "tests") block = { tests: Number(count), pass: 0, skipped: 0 };
    else if (block !== null && word === "pass") block.pass = Number(count);
    else if (block !== null && (word === "skipped" || word === "todo")) block.skipped += Number(count);
    else if (block !== null && word === "duration_ms") {
      add(tally, { passed: block.pass, skipped: block.skipped, failed: Math.max(0, block.tests - block.pass - block.skipped) });
      block = null;
    }
  };
}

const vitest: Reader = (line, tally) => {
  if (/^\s*Tests {2}(?:\d+ (?:passed|failed|skipped|todo|expected fail)(?: \| )?)+ \(\d+\)$/.test(line)) {
    add(tally, { passed: before(line, "passed|expected fail"), failed: before(line, "failed"), skipped: before(line, "skipped|todo") });
  } else if (/^\s*Tests {2}no tests$/.test(line) || /^No test files found\b/.test(line)) add(tally, {});
};

const jest: Reader = (line, tally) => {
  if (/^Tests: +(?:\d+ \w+, )*\d+ total$/.test(line)) {
    add(tally, { passed: before(line, "passed"), failed: before(line, "failed"), skipped: before(line, "skipped|todo") });
  } else if (/^No tests found, exiting with code \d$/.test(line)) add(tally, {});
};

const mocha: Reader = (line, tally) => {
  const [, count, word] = /^ {2}(\d+) (passing|failing|pending)(?: \(\d+\w*\))?$/.exec(line) ?? [];
  if (word === "passing") add(tally, { passed: Number(count) });
  if (word === "failing") add(tally, { failed: Number(count) });
  if (word === "pending") add(tally, { skipped: Number(count) });
};

const ava: Reader = (line, tally) => {
  const [, count, word] = /^ {2}(\d+) tests? (passed|failed|skipped)$/.exec(line) ?? [];
  if (word !== undefined) add(tally, { [word]: Number(count) });
};

/** go test under -v or -json; plain `ok pkg` tells no counts. */
const goTest: Reader = (line, tally) => {
  const event = line.startsWith('{"') ? goEvent(line) : null;
  const [, word, name] = event ?? /^\s*--- (PASS|FAIL|SKIP): (\S+) \(/.exec(line) ?? [];
  if (name === undefined) return;
  if (word === "PASS") add(tally, { passed: 1 });
  if (word === "FAIL") add(tally, { failed: 1 }, event === null && !tally.talks.go);
  if (word === "SKIP") add(tally, { skipped: 1 });
  else addName(tally, name, word === "PASS");
};

function goEvent(line: string): readonly [string, string, string | undefined] | null {
  try {
    const event = JSON.parse(line) as { Action?: string; Package?: string; Test?: string };
    const words: Readonly<Record<string, string>> = { pass: "PASS", fail: "FAIL", skip: "SKIP" };
    const word = words[event.Action ?? ""];
    return word === undefined || event.Test === undefined ? null : [line, word, `${event.Package ?? ""}.${event.Test}`];
  } catch {
    return null;
  }
}

const cargo: Reader = (line, tally) => {
  const [, passed, failed, ignored] = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/.exec(line) ?? [];
  if (passed !== undefined) add(tally, { passed: Number(passed), failed: Number(failed), skipped: Number(ignored) });
  const [, name, word] = /^test (\S+)(?: - .*)? \.\.\. (ok|FAILED)$/.exec(line) ?? [];
  if (name !== undefined) addName(tally, name, word === "ok");
};

/** Maven's total is the line without a class; Gradle sums up only when something failed. */
const jvm: Reader = (line, tally) => {
  const [, level, run, failures, errors, skipped] =
    /^(?:\[(\w+)\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$/.exec(line) ?? [];
  if (run !== undefined) {
    const failed = Number(failures) + Number(errors);
    const counts = { passed: Number(run) - failed - Number(skipped), failed, skipped: Number(skipped) };
    add(tally, counts, level === "ERROR" && !tally.talks.maven);
  }
  const [, total, broken] = /^(\d+) tests completed, (\d+) failed/.exec(line) ?? [];
  if (total !== undefined) add(tally, { passed: Number(total) - Number(broken), failed: Number(broken) }, true);
};

const ruby: Reader = (line, tally) => {
  const [, examples, failures, pending] =
    /^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, \d+ errors? occurred outside of examples)?$/.exec(line) ?? [];
  if (examples !== undefined) {
    const skipped = Number(pending ?? 0);
    add(tally, { passed: Number(examples) - Number(failures) - skipped, failed: Number(failures), skipped });
  }
  const [, runs, failed, errors, skips] =
    /^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips$/.exec(line) ?? [];
  if (runs !== undefined) {
    const broken = Number(failed) + Number(errors);
    add(tally, { passed: Number(runs) - broken - Number(skips), failed: broken, skipped: Number(skips) });
  }
};

const phpunit: Reader = (line, tally) => {
  const ok = /^OK \((\d+) tests?, \d+ assertions?\)$/.exec(line)?.[1];
  if (ok !== undefined) add(tally, { passed: Number(ok) });
  const total = /^Tests: (\d+), Assertions: \d+/.exec(line)?.[1];
  if (total === undefined) return;
  const of = (word: string): number => Number(new RegExp(`\\b${word}: (\\d+)`).exec(line)?.[1] ?? 0);
  const failed = of("Failures") + of("Errors");
  const skipped = of("Skipped") + of("Incomplete");
  add(tally, { passed: Number(total) - failed - skipped, failed, skipped });
};

const dotnet: Reader = (line, tally) => {
  const [, failed, passed, skipped] =
    /^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+), Total: +\d+/.exec(line) ?? [];
  if (passed !== undefined) add(tally, { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) });
};

const deno: Reader = (line, tally) => {
  const [, passed, failed, ignored] =
    /^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?/.exec(line) ?? [];
  if (passed !== undefined) add(tally, { passed: Number(passed), failed: Number(failed), skipped: Number(ignored ?? 0) });
};

/** bun test: ` 3 pass`, ` 0 fail`, then `Ran 3 tests across 1 file.` */
function bun(): Reader {
  let block = { pass: 0, fail: 0, skip: 0 };
  return (line, tally) => {
    const [, count, word] = /^ +(\d+) (pass|fail|skip|todo)$/.exec(line) ?? [];
    if (word === "pass") block.pass = Number(count);
    else if (word === "fail") block.fail = Number(count);
    else if (word !== undefined) block.skip += Number(count);
    else if (/^Ran \d+ tests? across \d+ files?\./.test(line)) {
      add(tally, { passed: block.pass, failed: block.fail, skipped: block.skip });
      block = { pass: 0, fail: 0, skip: 0 };
    }
  };
}

/** Plain TAP without a known summary: its top-level test points (testanything.org, version 14). */
function readTap(text: string, tally: Tally): void {
  if (!/^(?:TAP version 1[34]|1\.\.\d+)/m.test(text)) return;
  const points = text.split("\n").filter((line) => /^(?:not )?ok\b/.test(line));
  // `prove -v` says `ok` behind each file too, and at the end how many tests there were.
  const proved = [...text.matchAll(/^Files=\d+, Tests=(\d+),/gm)].map(([, tests]) => Number(tests));
  let others = proved.length === 0 ? 0 : points.length - proved.reduce((sum, tests) => sum + tests, 0);
  for (const point of points) {
    if (point === "ok" && others > 0) others -= 1;
    else if (/# (?:skip|todo)/i.test(point)) add(tally, { skipped: 1 });
    else add(tally, point.startsWith("ok") ? { passed: 1 } : { failed: 1 });
  }
  if (/^1\.\.0/m.test(text) && !/^1\.\.0*[1-9]/m.test(text)) add(tally, {});
}

/** go test where no package has a test, or none that was asked for. */
function readEmptyGo(text: string, tally: Tally): void {
  const hasEmpty =
    /^(?:\?|ok) +\t\S+\t.*\[no test(?:s to run| files)\]$/m.test(text) || /^\t\S+\t+coverage: 0\.0% of statements$/m.test(text);
  if (hasEmpty && !/^ok +\t\S+\t(?:[\d.]+s|\(cached\))(?:\t+coverage: .*)?$/m.test(text)) add(tally, {});
}
