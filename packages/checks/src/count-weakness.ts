import type { CheckRun, Weakness } from "@holdfast/protocol";
import { executed } from "./original.ts";
import { some } from "./subject.ts";

/**
 * A run that executed no test, or fewer than the baseline, is no pass. Names are compared where both runs show all of
 * them and the tests could not be run in their earlier version (tests inside source files).
 */
export function countWeakness(baseline: CheckRun | null, now: CheckRun, comparesNames: boolean): Weakness | null {
  const [before, after] = [executed(baseline), executed(now)];
  if (after === 0) return { kind: "no_tests_ran", detail: "no test ran" };
  if (before === null || before === 0) return null;
  if (after === null) return { kind: "fewer_tests", detail: `the first run showed ${before} tests, this one shows no counts` };
  if (after < before) return { kind: "fewer_tests", detail: `${after} tests ran, ${before} before` };
  const [old, next] = [baseline?.counts?.names, now.counts?.names];
  if (!comparesNames || old === undefined || next === undefined) return null;
  const ran = new Set(next);
  const gone = old.filter((name) => !ran.has(name));
  return gone.length === 0 ? null : { kind: "fewer_tests", detail: `these tests no longer ran: ${some(gone)}` };
}
