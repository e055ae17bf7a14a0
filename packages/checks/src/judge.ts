import type { CheckDefinition, CheckRun, Criterion, Evidence, Report } from "@holdfast/protocol";
import type { Baseline, Verdict, Verifier } from "@holdfast/runtime";
import { certainStatus } from "@holdfast/runtime/certain-status";
import { some } from "./subject.ts";

/** Output of failed checks that the model is shown, in characters, for all of them together. */
const forModelSize = 4_000;

type Now = Criterion["now"];

interface Row {
  readonly check: CheckDefinition;
  readonly before: Evidence | null;
  readonly after: Evidence | null;
  readonly now: Now;
  /** Why `now` is not `pass`; empty where it is about nothing that was changed. */
  readonly reasons: readonly string[];
}

/** Checks whose evidence is of another tree than the last one's: a later check changed the tree after they ran. */
export function staleChecks(evidence: readonly Evidence[]): string[] {
  const last = latest(evidence);
  return evidence.filter((one) => one.subjectAfter !== last?.subjectAfter).map((one) => one.checkId);
}

/** A constraint that holds and a check that the model proposed add to what must hold; neither shows that the work was done. */
export function proves({ constraint, authority }: CheckDefinition): boolean {
  return constraint === undefined && (authority === "user" || authority === "project" || authority === "system");
}

function latest(evidence: readonly Evidence[]): Evidence | null {
  return evidence.reduce<Evidence | null>((last, one) => (last === null || one.at >= last.at ? one : last), null);
}

/** What a round's evidence amounts to. Pure; every word of the report follows from its input. */
export function judge({ checks, baseline, evidence, subject, changes, changesKnown, message }: Parameters<Verifier["judge"]>[0]): Verdict {
  const stale = new Set(staleChecks(evidence.filter((one) => checks.some((check) => check.id === one.checkId && check.kind !== "stated"))));
  const rows = checks.map((check) => rowOf(check, baseline, evidence, stale, subject));
  const counted = rows.filter((row) => row.check.isRequired && row.after?.applies !== false);
  const failed = counted.filter((row) => row.now === "fail");
  const weak = counted.filter((row) => row.now === "weak" || row.now === "not run");
  const proving = rows.filter((row) => row.check.isRequired && proves(row.check));
  const isProven = counted.some((row) => proves(row.check));
  const verdict = failed.length > 0 ? "fail" : weak.length > 0 ? "weak" : isProven ? "pass" : proving.length > 0 ? "weak" : "none";
  const report: Report = {
    heading: headingOf(verdict, counted, failed, weak, changes.length === 0 && changesKnown, proving.length > 0),
    message,
    criteria: rows.map(criterionOf),
    changes,
    changesKnown,
    subject: latest(evidence)?.subjectAfter ?? null,
    reasons: rows.flatMap((row) => row.reasons.map((reason) => (checks.length > 1 ? `${row.check.name}: ${reason}` : reason))),
  };
  const lacking = verdict === "weak" ? weak.filter(({ after }) => after !== null && isUnmet(after)) : [];
  return { verdict, report, forModel: lacking.length > 0 ? forLacking(lacking) : forModel(failed), isLacking: lacking.length > 0 };
}

function rowOf(
  check: CheckDefinition,
  baseline: Baseline | null,
  evidence: readonly Evidence[],
  stale: ReadonlySet<string>,
  subject: string | null,
): Row {
  if (check.kind === "stated") return { check, before: null, after: null, now: "not judged", reasons: [] };
  const before = baseline?.evidence.find((one) => one.checkId === check.id) ?? null;
  const after = evidence.findLast((one) => one.checkId === check.id) ?? null;
  if (after === null) return { check, before, after, now: "not run", reasons: ["it was not run"] };
  if (after.applies === false) return { check, before, after, now: "not run", reasons: [] };
  const reasons = after.weaknesses.map((weakness) => weakness.detail);
  const passes = after.run.passed || after.repeats.some((run) => run.passed);
  if (isUnmet(after)) return { check, before, after, now: "not run", reasons };
  if (!passes) return { check, before, after, now: "fail", reasons: [`failed: ${describe(check, after.run)}`] };
  if (stale.has(check.id)) reasons.push("a later check changed files after it ran");
  else if (subject !== null && after.subjectAfter !== subject) reasons.push("files changed after it ran, before the turn ended");
  else if (before !== null && !after.run.passed && reasons.length === 0) reasons.push("its runs disagree");
  const isSameTree = before !== null && before.subjectAfter === after.subjectBefore && before.inputs === after.inputs;
  if (isSameTree && !before.run.passed && reasons.length === 0) reasons.push("flaky: it failed before and passes now on the same files");
  return { check, before, after, now: reasons.length > 0 || !after.run.passed ? "weak" : "pass", reasons };
}

function headingOf(
  verdict: Verdict["verdict"],
  rows: readonly Row[],
  failed: readonly Row[],
  weak: readonly Row[],
  isUnchanged: boolean,
  hasChecks: boolean,
): string {
  if (verdict === "none" || (rows.length === 0 && !hasChecks))
    return isUnchanged ? "nothing to verify" : "not verified: no check was asked for";
  if (verdict === "weak" && weak.length === 0) return "not verified: no check is about what was changed";
  if (verdict === "fail") return `refuted: ${failed.map((row) => row.check.name).join(", ")} ${failed.length === 1 ? "fails" : "fail"}`;
  if (verdict === "weak") return `not proven: ${weak[0]?.reasons[0] ?? ""}`;
  // Where the test itself was changed, before and now are two different tests.
  const accepted = [...new Set(rows.flatMap(({ after }) => after?.accepted ?? []))];
  const shown = rows.filter(
    ({ before, after }) => before !== null && !before.run.passed && before.weaknesses.length === 0 && after?.accepted === undefined,
  );
  if (shown.length > 0)
    return `demonstrated: ${shown.map((row) => row.check.name).join(", ")} failed before and ${shown.length === 1 ? "passes" : "pass"} now`;
  const [only] = rows;
  if (rows.length === 1 && only?.check.kind === "inspected") {
    const { files, range } = only.check;
    return `inspected: all ${files.length} changed files of ${range} were read`;
  }
  const what = isUnchanged ? "nothing was changed, and " : "";
  if (accepted.length > 0)
    return `not demonstrated: the checks pass now, with changes of their inputs that a person accepted: ${some(accepted)}`;
  if (rows.every((row) => row.before === null)) return `not demonstrated: ${what}the checks pass now; how they were before is not known`;
  return `not demonstrated: ${what}the checks passed before as well`;
}

function criterionOf({ check, before, after, now }: Row): Criterion {
  const notes: string[] = [];
  if (check.kind === "stated") notes.push("the model was told; no code can judge it");
  if (check.constraint !== undefined) notes.push(`a constraint, ${sourceOf(check.constraint.source)}`);
  if (check.authority === "tool")
    notes.push(`proposed by the model: ${isTrivial(check) ? "it passes whatever is done" : "it proves nothing alone"}`);
  if (after?.accepted !== undefined) notes.push(`with changes that a person accepted: ${some(after.accepted)}`);
  if (after !== null && !runs(check, after)) notes.push(after.run.tail, ...(after.notes ?? []));
  else if (after !== null) {
    notes.push(describeRun(after.run));
    if (after.originalInputsRun !== null) notes.push(`with the earlier tests: ${after.originalInputsRun.passed ? "passes" : "fails"}`);
    notes.push(...(after.notes ?? []));
    if (!after.sandboxed) notes.push("run without a sandbox");
    notes.push(`on ${after.subjectAfter.slice(0, 12)}`);
  }
  return {
    checkId: check.id,
    name: check.name,
    baseline: before === null ? "not taken" : before.run.passed ? "pass" : "fail",
    now,
    evidence: notes.join(", "),
  };
}

/** Whether a command ends well whatever the workspace holds. */
function isTrivial(check: CheckDefinition): boolean {
  return check.kind === "command" && certainStatus(check.command) === 0;
}

function sourceOf(source: "flag" | "config" | "words"): string {
  return source === "flag" ? "by --constraint" : source === "config" ? "by config" : "in your words";
}

function describe(check: CheckDefinition, run: CheckRun): string {
  return check.kind === "command" || check.kind === "tests" ? describeRun(run) : run.tail;
}

/** Whether its evidence is of a command's run. */
function runs(check: CheckDefinition, evidence: Evidence): boolean {
  return evidence.applies !== false && !isUnmet(evidence) && (check.kind === "command" || check.kind === "tests");
}

/** In a few words: how it ended, what it counted, how long it took. */
export function describeRun(run: CheckRun): string {
  const end = run.timedOut
    ? "timed out"
    : run.signal !== null
      ? `ended by ${run.signal}`
      : run.exitCode === null
        ? (run.ended ?? "ended without an exit status")
        : `exit ${run.exitCode}`;
  const { counts } = run;
  const shown =
    counts === null
      ? (run.reportProblem ?? "no counts shown")
      : [`${counts.passed} passed`, `${counts.failed} failed`, ...(counts.skipped > 0 ? [`${counts.skipped} skipped`] : [])].join(", ");
  const against = counts === null || run.reportProblem === undefined ? "" : `, ${run.reportProblem}`;
  return `${end}, ${shown}${against}, ${(run.durationMs / 1000).toFixed(1)} s`;
}

function isUnmet({ weaknesses }: Evidence): boolean {
  return weaknesses.some(({ kind }) => kind === "needs_unmet");
}

/** What the model can still bring about: a command that a check needs. */
function forLacking(rows: readonly Row[]): string {
  const parts = rows.map(({ check, reasons }) => `The check "${check.name}": ${reasons.join("; ")}.`);
  return `${parts.join("\n")}\n\nAfter your last change stop what still runs of it, start it anew with run_command, by exactly this line and in the first working folder, and leave it running. The same checks will be run again when you are done.`;
}

function forModel(failed: readonly Row[]): string {
  if (failed.length === 0) return "";
  const room = Math.floor(forModelSize / failed.length);
  const parts = failed.map(({ check, after }) => {
    const run = after?.run;
    if (run === undefined) return "";
    if (check.kind !== "command" && check.kind !== "tests" && check.kind !== "inspected")
      return `The check "${check.name}" failed: ${run.tail}`;
    if (check.kind === "inspected") return `Not every change of ${check.range} was read with read_change: ${run.tail}`;
    const tail = run.tail.length > room ? `[…]${run.tail.slice(-room)}` : run.tail;
    return `The check \`${check.command}\` failed (${describeRun(run)}). The end of its output:\n${tail.trimEnd()}`;
  });
  return `${parts.join("\n\n")}\n\nThe work is not done while a check fails. The same checks will be run again when you are done.`;
}
