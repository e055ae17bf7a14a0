import type { CheckRun, Weakness } from "@holdfast/protocol";
import type { BlobStore } from "@holdfast/runtime";
import { parseFailed, parseSummaries } from "./counts.ts";
import { some } from "./subject.ts";
import type { Summary } from "./tally.ts";

/** Runners that sum up once for each binary or test: how often says nothing. */
const sumsUpOften: ReadonlySet<string> = new Set(["cargo", "go", "tap", "mocha"]);

/**
 * How many tests a run executed; null where it shows no counts. Held to an earlier run of the same tests: what is tested
 * may print summaries itself, so a runner that was not there does not count, and of more summaries than before only
 * the smallest do. What a runner sums up only where something failed, no pass is held to.
 */
export async function executed(run: CheckRun | null, earlier: CheckRun | null, blobs: BlobStore): Promise<number | null> {
  if (run === null || run.counts === null) return null;
  const now = await summariesOf(run, blobs);
  const ofFailures = now.filter(({ onlyOnFailure }) => onlyOnFailure);
  if (ofFailures.length > 0 && ofFailures.length === now.length) return null;
  const all = ofFailures.reduce((sum, { ran }) => sum - ran, run.counts.passed + run.counts.failed);
  if (earlier === null || earlier.counts === null) return all;
  const before = (await summariesOf(earlier, blobs)).filter(({ onlyOnFailure }) => !onlyOnFailure);
  if (before.length === 0) return all;
  let sum = 0;
  for (const runner of new Set(before.map((summary) => summary.runner))) {
    const counts = now.filter((summary) => summary.runner === runner).map((summary) => summary.ran);
    const often = before.filter((summary) => summary.runner === runner).length;
    if (!sumsUpOften.has(runner)) counts.sort((a, b) => a - b).splice(often);
    for (const count of counts) sum += count;
  }
  return sum;
}

async function summariesOf(run: CheckRun, blobs: BlobStore): Promise<readonly Summary[]> {
  return parseSummaries(await outputOf(run, blobs));
}

async function outputOf(run: CheckRun, blobs: BlobStore): Promise<string> {
  const output = await blobs.get(run.output);
  return output === null ? "" : new TextDecoder().decode(output);
}

/**
 * A run that executed no test, or fewer than the baseline, is no pass. Where the earlier version of the tests could not
 * be run (nothing changed, or the tests are inside source files), summaries and names are held to the baseline's too. `known`: the
 * run whose shown failures don't matter.
 */
export async function countWeakness(
  first: CheckRun | null,
  now: CheckRun,
  isSameTests: boolean,
  blobs: BlobStore,
  known: CheckRun | null = first,
): Promise<Weakness | null> {
  const before = await executed(first, null, blobs);
  const after = await executed(now, isSameTests ? first : null, blobs);
  if (showsFailures(known, now)) {
    const failed = now.counts?.failed ?? 0;
    return {
      kind: "failures_shown",
      detail: `it ended with status 0, and its output shows ${failed} failed ${failed === 1 ? "test" : "tests"}`,
    };
  }
  if (after === 0) return { kind: "no_tests_ran", detail: "no test ran" };
  if (before === null || before === 0) return null;
  if (after === null) return { kind: "fewer_tests", detail: `the first run showed ${before} tests, this one shows no counts` };
  if (after < before) return { kind: "fewer_tests", detail: `${before} tests ran before, ${after} now` };
  const [old, next] = [first?.counts?.names, now.counts?.names];
  if (!isSameTests || old === undefined || next === undefined) return null;
  const ran = new Set(next);
  // A test that failed may have said in its name why, or what it got: no fewer ran, so another name stands for it.
  const failed = first === null ? null : parseFailed(await outputOf(first, blobs));
  const gone = old.filter((name) => !ran.has(name) && failed?.has(name) !== true);
  return gone.length === 0 ? null : { kind: "fewer_tests", detail: `these tests no longer ran: ${some(gone)}` };
}

/** What ends well whatever it is given, at the end of a pipe. */
const filters =
  "tee|cat|tail|head|sed|awk|gawk|mawk|cut|tr|sort|uniq|wc|nl|fold|fmt|column|ts|pr|rev|tac|less|more|pv|strings|expand|paste";
const endsInFilter = new RegExp(String.raw`(?<!\|)\|&?\s*(?:[\w./]*/)?(?:${filters})\b[^|;&\n]*(?:[;&\n)]|$)`);

/** Whether a command line, or a script that it leads to, ends with the status of a filter and not of what is before the pipe. */
export function endsAsFilter(text: string): boolean {
  return endsInFilter.test(text) && !/\bpipefail\b|\bPIPESTATUS\b/.test(text);
}

/** Whether a run that ended well shows failed tests, more than one that its runner let end well before the work. */
export function showsFailures(first: CheckRun | null, now: CheckRun): boolean {
  return (now.counts?.failed ?? 0) > (first?.passed === true ? (first.counts?.failed ?? 0) : 0);
}
