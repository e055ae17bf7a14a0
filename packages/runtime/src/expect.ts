import type { CallOutcome, Expectation, Judgement, TestCounts } from "@holdfast/protocol";
import { certainStatus } from "./certain-status.ts";
import type { Bounded } from "./ports/bounded.ts";

interface Part {
  readonly expected: string;
  readonly observed: string;
  /** Null where what was observed doesn't tell. */
  readonly isMet: boolean | null;
}

/** What the runtime saw beside the outcome. */
export interface Observed {
  /** The command line, where the call was one. */
  readonly command?: string | undefined;
  /** Test counts in the output; null where it shows none. */
  readonly counts: TestCounts | null;
  /** What ends a pattern that takes too long. Where nothing does, none is judged. */
  readonly bounded?: Bounded | undefined;
}

/**
 * Holds what a call said it would show against what was observed; null where it said nothing. One that would be met whatever
 * happens is marked as trivial: it is told nobody as a success.
 */
export function judgeExpectation(
  expect: Expectation | undefined,
  outcome: CallOutcome,
  observed: Observed = { counts: null },
): Judgement | null {
  if (expect === undefined) return null;
  const parts = [
    ...endParts(expect, outcome),
    ...outputParts(expect, outcome, observed),
    ...fileParts(expect, outcome),
    ...testParts(expect, outcome, observed),
  ];
  if (parts.length === 0) return null;
  const verdict = parts.some((part) => part.isMet === false) ? "unmet" : parts.some((part) => part.isMet === null) ? "unknown" : "met";
  const join = (side: "expected" | "observed"): string => parts.map((part) => part[side]).join(", ");
  return {
    verdict,
    expected: join("expected"),
    observed: join("observed"),
    ...(verdict === "unmet" ? causeOf(outcome) : {}),
    ...(isTrivial(expect, outcome, observed) ? { isTrivial: true as const } : {}),
  };
}

function endParts({ exitCode, status }: Expectation, outcome: CallOutcome): Part[] {
  const parts: Part[] = [];
  if (exitCode !== undefined) {
    const code = outcome.exitCode;
    parts.push({
      expected: `exit status ${exitCode}`,
      observed: code == null ? "no exit status" : `exit status ${code}`,
      isMet: code === undefined ? null : code === exitCode,
    });
  }
  if (status !== undefined) {
    const seen = outcome.httpStatus;
    parts.push({
      expected: `status ${status}`,
      observed: seen === undefined ? "no answer" : `status ${seen}`,
      isMet: seen === undefined ? null : seen === status,
    });
  }
  return parts;
}

function outputParts({ outputContains, outputMatches }: Expectation, outcome: CallOutcome, { bounded }: Observed): Part[] {
  const part = (what: string, isThere: boolean): Part => ({
    expected: `output ${what}`,
    observed: isThere ? "output with it" : "output without it",
    // The text may be a part of the output: what is not in the part may still be in the whole.
    isMet: isThere || (outcome.output === undefined && outcome.task === undefined ? false : null),
  });
  const parts: Part[] = [];
  if (outputContains !== undefined) parts.push(part(`with ${JSON.stringify(outputContains)}`, outcome.text.includes(outputContains)));
  if (outputMatches !== undefined) {
    const pattern = patternOf(outputMatches);
    const found = pattern === null ? null : bounded?.(() => pattern.test(outcome.text));
    if (found != null) parts.push(part(`matching ${outputMatches}`, found.value));
    else {
      const why = bounded === undefined ? "patterns can't be tried here" : "the pattern took too long";
      const observed = pattern === null ? "that is no regular expression" : `not judged: ${why}`;
      parts.push({ expected: `output matching ${outputMatches}`, observed, isMet: null });
    }
  }
  return parts;
}

type FileSeen = NonNullable<CallOutcome["files"]>[number];

/** Of a command that still runs only what has come about is told: what has not may still. */
function fileParts({ fileChanged, fileUnchanged, fileExists }: Expectation, outcome: CallOutcome): Part[] {
  const seen = (path: string) => outcome.files?.find((file) => file.path === path);
  const runs = outcome.task !== undefined;
  const later = runs ? " so far: the command still runs" : "";
  const parts: Part[] = [];
  if (fileChanged !== undefined) {
    const file = seen(fileChanged);
    const named = outcome.changed?.some((one) => one.path === fileChanged || one.path.endsWith(`/${fileChanged}`));
    const isSeen = file === undefined ? (named ?? null) : isOther(file);
    parts.push({
      expected: `${fileChanged} changed`,
      observed: isSeen === true ? `${fileChanged} changed` : `${fileChanged} not seen to change${later}`,
      isMet: isSeen === false && runs ? null : isSeen,
    });
  }
  if (fileUnchanged !== undefined) {
    const file = seen(fileUnchanged);
    const isSeen = file === undefined ? null : isOther(file);
    parts.push({
      expected: `${fileUnchanged} unchanged`,
      observed: isSeen === true ? `${fileUnchanged} changed` : `${fileUnchanged} not seen to change${later}`,
      isMet: isSeen === null || (!isSeen && runs) ? null : !isSeen,
    });
  }
  if (fileExists !== undefined) {
    const file = seen(fileExists);
    const isThere = file === undefined ? null : file.after !== null;
    parts.push({
      expected: `${fileExists} exists`,
      observed: isThere === null ? "not looked at" : isThere ? `${fileExists} is there` : `${fileExists} is not there${later}`,
      isMet: isThere === false && runs ? null : isThere,
    });
  }
  return parts;
}

/** Whether it is another than before: in content, in mode, or by a link that took its place. */
function isOther({ before, after, isOtherForm }: FileSeen): boolean {
  return before !== after || isOtherForm === true;
}

function testParts({ testsPassed }: Expectation, { task }: CallOutcome, { counts }: Observed): Part[] {
  if (testsPassed !== true) return [];
  if (counts === null) return [{ expected: "passed tests", observed: "no test counts", isMet: null }];
  const isWell = counts.failed === 0 && (counts.passed > 0 || task !== undefined);
  return [
    {
      expected: "passed tests",
      observed: `${counts.passed} passed, ${counts.failed} failed${task === undefined ? "" : " so far: the command still runs"}`,
      isMet: isWell && task !== undefined ? null : isWell,
    },
  ];
}

/** Paths that the runtime has to look at before and after the call. */
export function expectedFiles(expect: Expectation | undefined): string[] {
  return [expect?.fileChanged, expect?.fileUnchanged, expect?.fileExists].filter((path) => path !== undefined);
}

/** Whether it would be met whatever the call does. */
function isTrivial(expect: Expectation, outcome: CallOutcome, { command, bounded }: Observed): boolean {
  const { exitCode, outputContains, outputMatches, fileExists, ...others } = expect;
  if (Object.values(others).some((value) => value !== undefined)) return false;
  const isPrinted = (text: string): boolean =>
    text.trim() === "" || (command !== undefined && /\b(?:echo|printf)\b/.test(command) && command.includes(text));
  const real = [
    exitCode !== undefined && (command === undefined || certainStatus(command) !== exitCode),
    fileExists !== undefined && !isAsBefore(fileExists, outcome),
    outputContains !== undefined && !isPrinted(outputContains),
    outputMatches !== undefined && bounded?.(() => patternOf(outputMatches)?.test(""))?.value !== true,
  ];
  return !real.includes(true);
}

/** Whether a file was there before the call just as it is after it. */
function isAsBefore(path: string, { files }: CallOutcome): boolean {
  const file = files?.find((one) => one.path === path);
  return file !== undefined && file.before !== null && !isOther(file);
}

function patternOf(source: string): RegExp | null {
  try {
    return new RegExp(source, "m");
  } catch {
    return null;
  }
}

function causeOf(outcome: CallOutcome): Pick<Judgement, "cause"> {
  if (outcome.status === "denied") return { cause: "denied" };
  if (outcome.timedOut === true || outcome.signal != null) return { cause: "environment" };
  // RFC 9110, 15: who may not, what was wrong with the request, and what is wrong on the other side.
  const status = outcome.httpStatus ?? 0;
  if (status === 401 || status === 403) return { cause: "denied" };
  if (status === 429 || status >= 500) return { cause: "environment" };
  if (status >= 400) return { cause: "wrong_input" };
  if (outcome.exitCode === 126 || outcome.exitCode === 127) return { cause: "environment" };
  return { cause: "wrong_belief" };
}
