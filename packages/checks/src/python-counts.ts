import { add, addName, before, type Reader } from "./tally.ts";

/** Since version 9 a summary counts each subtest that failed among the tests, and tells those that passed apart. */
export function pytest(): Reader {
  let parts = 0;
  return (line, tally) => {
    const summary =
      /^(?:=+ )?((?:\d+ (?:subtests )?(?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+|no tests (?:ran|collected)(?: \(\d+ deselected\))?) in \d+\.\d+s/.exec(
        line,
      )?.[1];
    if (/^SUBFAILED\b/.test(line)) parts += 1;
    if (summary !== undefined) {
      const [passed, failed] = [before(summary, "passed|xpassed|xfailed"), before(summary, "failed|errors?")];
      const others = Math.max(0, failed - parts);
      add(tally, { ...whole(passed + others, Math.max(others, Math.min(failed, 1))), skipped: before(summary, "skipped") });
      parts = 0;
    }
    const [, name, word] = /^(\S+::.+?) (PASSED|FAILED|XFAIL|XPASS)\b/.exec(line) ?? [];
    if (name !== undefined) addName(tally, name, word !== "FAILED");
  };
}

/** Of so many tests, of which parts may have failed. */
function whole(tests: number, failed: number): { passed: number; failed: number } {
  const broken = Math.min(failed, Math.max(tests, 1));
  return { passed: Math.max(0, tests - broken), failed: broken };
}

/** Python's unittest: `Ran 3 tests in …`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`. */
export function unittest(): Reader {
  let ran: number | null = null;
  return (line, tally) => {
    const count = /^Ran (\d+) tests? in [\d.]+s$/.exec(line)?.[1];
    if (count !== undefined) ran = Number(count);
    const end = /^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/.exec(line);
    if (ran === null || end === null) return;
    const of = (words: string): number =>
      [...(end[1] ?? "").matchAll(new RegExp(`\\b(?:${words})=(\\d+)`, "g"))].reduce((sum, m) => sum + Number(m[1]), 0);
    const failed = of("failures|errors|unexpected successes");
    const skipped = of("skipped");
    // Subtests that failed count as failures, and not as tests.
    add(tally, { ...whole(Math.max(0, ran - skipped), failed), skipped });
    ran = null;
  };
}
