import type { RunCheck, CheckRun, Evidence, Weakness } from "@holdfast/protocol";
import type { Baseline, VerifierContext } from "@holdfast/runtime";
import { createAccepted } from "./accepted.ts";
import { inputsDigest, storedInputs, type StoredInputs } from "./baseline.ts";
import { countWeakness, endsAsFilter, executed, showsFailures } from "./count-weakness.ts";
import { followBuilds } from "./builds.ts";
import { type CheckInputs, findInputs, keyOf } from "./inputs.ts";
import { leftOutputs, newTargets } from "./left-outputs.ts";
import { outputsOf, ownReport } from "./own-report.ts";
import { followInstalls } from "./installs.ts";
import { changedInputs, isSamePlace, restoredInputs } from "./original.ts";
import { asInputs, findReach, type Reach, testText } from "./reach/reach.ts";
import { namedOutside, type NewLines } from "./reach/outside.ts";
import { namedEmptyFolders } from "./reach/empty-folders.ts";
import { guardedRun } from "./reach/guarded.ts";
import { survivors } from "./mutants/survivors.ts";
import { runAgain, runUntilKnown } from "./repeats.ts";
import { type BoundRun, counter, type Round, type Rounds } from "./rounds.ts";
import type { VerifierInput } from "./verifier-input.ts";
import { changedKeys, namedUnsigned, type Signatures, takeSignatures } from "./signatures.ts";
import { changedTools, findTools } from "./tools-found.ts";
import { movedFiles, some } from "./subject.ts";
import { gitStateFor, weighGit } from "./through-git.ts";

/** A check that takes longer is not run once more only to be watched. */
const watchedUpToMs = 5 * 60_000;

/** What a passing run is held against. */
interface Held {
  readonly input: VerifierInput;
  readonly rounds: Rounds;
  readonly round: Round;
  readonly bound: BoundRun;
  readonly now: CheckInputs;
  readonly manifest: string;
  /** The check's run at the baseline, where there was one. */
  readonly first: CheckRun | null;
  /** The same where it was on the baseline's tree: a check that came later ran first on what the session had made of it. */
  readonly original: CheckRun | null;
  /** The same where failures that it showed are known not to matter: the status that it ended with was its runner's. */
  readonly known: CheckRun | null;
  readonly isAccepted: (path: string) => boolean;
}

/** Runs a check after the work, as often as it takes to know what its result is worth, and says why it may be worth less. */
export async function checkFinal(
  input: VerifierInput,
  rounds: Rounds,
  check: RunCheck,
  baseline: Baseline,
  context: VerifierContext,
  signal: AbortSignal,
): Promise<Evidence> {
  const { observer, files } = input;
  const stored = storedInputs(baseline.inputs);
  const outputs = [...new Set([...stored.outputs, ...outputsOf(check, files)])].sort();
  const first = baseline.evidence.find((evidence) => evidence.checkId === check.id) ?? null;
  const start = await observer.snapshot(baseline.manifest);
  const now = await findInputs(check, start.manifest, observer, files);
  const signatures = await takeSignatures(observer, files, [now.named]);
  const git = await gitStateFor([now], start.manifest, observer, files);
  const round: Round = {
    check,
    context,
    signal,
    scope: baseline.manifest,
    outputs,
    inputs: inputsDigest(now, signatures, context.runs, git),
    next: counter(),
  };

  const wasFlaky = first?.weaknesses.some((weakness) => weakness.kind === "flaky") ?? false;
  const { bound, repeats, hasFailedHere, hasFailedOnTree } = await runUntilKnown(rounds, round, start, wasFlaky);
  const weaknesses: Weakness[] = [];
  const passes = repeats.filter((run) => run.passed).length;
  // Something that no tree holds explains it, such as a recorded build; or chance.
  const isExplained = hasFailedOnTree || (first?.run.passed === false && first.subjectAfter === bound.subjectBefore);
  if (passes > 0 && passes < repeats.length) weaknesses.push({ kind: "flaky", detail: `${passes} of ${repeats.length} runs passed` });
  else if (passes > 0 && hasFailedHere) weaknesses.push({ kind: "flaky", detail: "it failed before on exactly this tree" });
  if (passes > 0 && bound.subjectBefore !== bound.subjectAfter) {
    const names = await movedFiles(bound.before.manifest, bound.after.manifest, outputs, observer);
    weaknesses.push({ kind: "check_changes_subject", detail: `files changed while it ran: ${some(names)}` });
  }
  let originalInputsRun: CheckRun | null = null;
  let notes: readonly string[] = [];
  const accepted = createAccepted(context.acceptCheckChanges);
  if (bound.run.passed && weaknesses.length === 0 && baseline.manifest !== null) {
    const { isAccepted } = accepted;
    const original = first?.subjectBefore === baseline.subject ? first.run : null;
    const known = endsAsFilter(now.named.text) ? null : (first?.run ?? null);
    const { manifest } = baseline;
    const held: Held = { input, rounds, round, bound, now, manifest, first: first?.run ?? null, original, known, isAccepted };
    const tests = await weighInputs(held);
    originalInputsRun = tests.originalInputsRun;
    if ((tests.mayDiffer || isExplained) && tests.weaknesses.length === 0) weaknesses.push(...(await runAgain(rounds, round, repeats)));
    const installed = await followInstalls(input, stored.around, context.runs, {
      before: baseline.manifest,
      after: bound.after.manifest,
    });
    notes = installed.notes;
    const expected = { ...stored, around: installed.around };
    const isBuilt = followBuilds(stored.builds, context.runs, bound.subjectBefore, installed.around);
    weaknesses.push(...tests.weaknesses);
    const trees = { before: manifest, after: bound.after };
    weaknesses.push(...(await weighGit(observer, files, trees, now, { before: stored.git, now: git }, isAccepted)));
    weaknesses.push(...(await weighSurroundings(held, expected, baseline.subject, signatures, isBuilt, tests.newLines)));
    if (weaknesses.length === 0) weaknesses.push(...(await weighMutants(held)));
    const end = await observer.snapshot(baseline.manifest);
    const names = await movedFiles(bound.after.manifest, end.manifest, outputs, observer);
    if (names.length > 0) weaknesses.push({ kind: "check_changes_subject", detail: `files changed after it ran: ${some(names)}` });
  }
  return rounds.evidence(round, "final", bound, { originalInputsRun, repeats, weaknesses, notes, accepted: [...accepted.paths].sort() });
}

/** Where the check's inputs changed, their earlier version must pass over the final tree too. */
async function weighInputs(held: Held): Promise<{
  readonly weaknesses: Weakness[];
  readonly originalInputsRun: CheckRun | null;
  readonly mayDiffer: boolean;
  readonly newLines: readonly NewLines[];
}> {
  const { input, rounds, round, bound, now, manifest, first, original, known, isAccepted } = held;
  const { observer, files } = input;
  const before = await findInputs(round.check, manifest, observer, files, { scripts: now.named.scripts });
  const after = await findInputs(round.check, bound.after.manifest, observer, files, before.named);
  const all = changedInputs(before.inputs, after.inputs);
  const changes = all.filter((change) => !isAccepted(change.path));
  const weaknesses: Weakness[] = [];
  if (before.named.isCut || after.named.isCut)
    weaknesses.push({ kind: "inputs_changed", detail: "it leads to more scripts than are followed: whether they changed is not known" });
  const changed = (what: string, names: readonly string[]): void => {
    weaknesses.push({ kind: "test_changed", detail: `the test itself changed${what}: ${some(names)}` });
  };

  const manifests = { before: manifest, after: bound.after.manifest };
  const declares = round.check.inputs.length > 0;
  const reach = await findReach(observer, manifests, after.inputs, await testText(observer, manifests.after, after), {
    looked: after.named.looked,
    declares,
    commands: after.named.text,
  });
  const reaching = reach.reaching.filter(({ entry }) => !isAccepted(entry.path));
  // A test that is gone is a changed input already.
  changes.push(...(await asInputs(observer, manifest, reaching)).filter((change) => !all.some((one) => isSamePlace(one, change))));

  let originalInputsRun: CheckRun | null = null;
  if (changes.length > 0) {
    const names = changes.map(({ path }) => {
      const reached = reaching.find(({ entry }) => entry.path === path);
      return reached === undefined ? path : `${path} (it ${reached.what})`;
    });
    const restored = await restoredInputs(changes, { before: manifest, after: bound.after.manifest }, observer);
    if (restored.missing.length > 0) changed(", and its earlier version is no longer stored", restored.missing);
    else {
      originalInputsRun = await rounds.inCopy(round, bound.after.manifest, restored.changes, []);
      const [ran, wanted] = [await executed(originalInputsRun, original, input.blobs), await executed(original, null, input.blobs)];
      if (!originalInputsRun.passed) changed(", and its earlier version does not pass", names);
      else if (showsFailures(known, originalInputsRun)) changed(", and failures show where its earlier version runs", names);
      else if (wanted !== null && wanted > (ran ?? 0)) changed(", and not all of its earlier version ran", names);
    }
  }
  // Changes that a person accepted are a stated reason for fewer tests, never for none.
  const hasAccepted = all.length > changes.length;
  const counted = await countWeakness(first, bound.run, originalInputsRun === null, input.blobs, known);
  if (counted !== null && !(hasAccepted && counted.kind === "fewer_tests")) weaknesses.push(counted);
  const watched = reach.mayReach.filter((path) => !isAccepted(path));
  const asking = reach.mayAsk.filter((path) => !isAccepted(path));
  if (weaknesses.length === 0 && watched.length + asking.length > 0 && bound.run.durationMs <= watchedUpToMs)
    weaknesses.push(...(await weighWatched(held, watched, asking, reach)));
  return { weaknesses, originalInputsRun, mayDiffer: reach.mayDiffer, newLines: reach.newLines };
}

/** Sources that could act on their tests must pass where they can't; a run that can't show that it was guarded proves nothing. Those that only ask need not show it: most who ask only tell. */
async function weighWatched(
  { input, rounds, round, bound, now, first, known }: Held,
  watched: readonly string[],
  asking: readonly string[],
  { opened, compared }: Pick<Reach, "opened" | "compared">,
): Promise<Weakness[]> {
  const { run, isGuarded } = await guardedRun(input, rounds, round, bound.run, bound.after.manifest, now, {
    watched,
    asking,
    opened,
    compared,
  });
  const [ran, wanted] = [await executed(run, first, input.blobs), await executed(bound.run, first, input.blobs)];
  const all = some([...watched, ...asking]);
  if (!run.passed || showsFailures(known, run) || (wanted !== null && wanted > (ran ?? 0)))
    return [
      {
        kind: "reaches_tests",
        detail: `it passes only while these sources can act on their own tests, or see that they are tested: ${all}`,
      },
    ];
  if (isGuarded) return [];
  return [{ kind: "reaches_tests", detail: `it could not be run so that these sources can't act on their own tests: ${some(watched)}` }];
}

/** Tests that failed before must be able to fail still: whatever keeps failures from being told keeps them from failing here, too. */
async function weighMutants({ input, rounds, round, bound, now, first, manifest }: Held): Promise<Weakness[]> {
  if (first === null || first.passed || bound.run.durationMs > watchedUpToMs) return [];
  const after = bound.after.manifest;
  const trees = { baseline: manifest, before: after, after };
  const outputs = outputsOf(round.check, input.files);
  const own = ownReport(round.check, input.files)?.path ?? null;
  const survived = await survivors(input, rounds, round, now, {
    first,
    last: bound.run,
    manifest: after,
    cleared: async () => ({
      changes: [...(await newTargets(input.observer, now, trees)), ...(await leftOutputs(input.observer, outputs, own, trees))],
      without: (await takeSignatures(input.observer, input.files, [now.named])).buildPlaces,
    }),
  });
  if (survived.length === 0) return [];
  const detail = `its tests can't fail any more: with what they expect changed, they pass as well: ${some(survived)}`;
  return [{ kind: "reaches_tests", detail }];
}

/** What is ignored but decides: dependencies and configuration as at the baseline or as recorded installs left them, build output made from this tree. */
async function weighSurroundings(
  held: Held,
  stored: StoredInputs,
  baselineSubject: string,
  atStart: Signatures,
  isBuilt: (key: string, signature: string) => boolean,
  newLines: readonly NewLines[],
): Promise<Weakness[]> {
  const { input, rounds, round, bound, now, first, isAccepted } = held;
  const atEnd = await takeSignatures(input.observer, input.files, [now.named]);
  const weaknesses: Weakness[] = [];
  const pathOf = (key: string): string => key.slice(key.indexOf(":") + 1);
  const around = changedKeys(stored.around, atStart.around).filter((key) => !isAccepted(pathOf(key)));
  if (around.length > 0)
    weaknesses.push({ kind: "inputs_changed", detail: `what the check uses changed in this session: ${some(around)}` });

  const tools =
    stored.tools === null
      ? []
      : changedTools(stored.tools, await findTools(input.observer, input.files, [now.named], bound.after.manifest));
  if (tools.length > 0)
    weaknesses.push({
      kind: "inputs_changed",
      detail: `programs or settings outside the workspace changed in this session: ${some(tools)}`,
    });

  const outside = (await namedOutside(input.observer, input.files, newLines)).filter((path) => !isAccepted(path));
  if (outside.length > 0)
    weaknesses.push({ kind: "inputs_changed", detail: `sources use what lies outside the workspace now: ${some(outside)}` });

  const unbuilt = Object.entries(atStart.builds).filter(([key, signature]) => {
    const isTouched = stored.builds[key] !== signature;
    const isMeant = atStart.named.has(key) || stored.written.includes(key);
    const isOld = isMeant && baselineSubject !== bound.subjectBefore && atEnd.builds[key] === signature;
    return (isTouched || isOld) && !isBuilt(key, signature) && !isAccepted(pathOf(key));
  });
  const unsigned = await namedUnsigned(input.observer, newLines.map(({ text }) => text).join("\n"));
  if (unsigned.caches.length > 0)
    weaknesses.push({ kind: "stale_build", detail: `sources use what tools keep for themselves: ${some(unsigned.caches.map(keyOf))}` });
  const folders = await namedEmptyFolders(input.observer, bound.after.manifest, input.files, newLines);
  const reports = [...unsigned.reports, ...folders].filter(({ path }) => !isAccepted(path));
  const trees = { baseline: held.manifest, before: bound.before.manifest, after: bound.after.manifest };
  const own = ownReport(round.check, input.files)?.path ?? null;
  const outputs = outputsOf(round.check, input.files);
  const left = [...(await newTargets(input.observer, now, trees)), ...(await leftOutputs(input.observer, outputs, own, trees))];
  if (unbuilt.length === 0 && reports.length === 0 && left.length === 0) return weaknesses;
  // A check that builds what it needs, or needs none of it, passes without the old output too, with as many tests.
  const keys = [...unbuilt.map(([key]) => key), ...[...reports, ...left].map(keyOf)];
  const places = [...atStart.buildPlaces.filter((place) => keys.includes(keyOf(place))), ...reports];
  const clean = await rounds.inCopy(round, bound.after.manifest, left, places);
  const [ran, wanted] = [await executed(clean, first, input.blobs), await executed(bound.run, first, input.blobs)];
  if (!clean.passed || (wanted !== null && wanted > (ran ?? 0)))
    weaknesses.push({ kind: "stale_build", detail: `stale build: nothing shows that it was made from this tree: ${some(keys)}` });
  return weaknesses;
}
