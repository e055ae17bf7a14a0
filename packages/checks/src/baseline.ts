import type { CheckDefinition, Evidence, Json, RecordedRun, RunCheck, Weakness } from "@holdfast/protocol";
import type { Baseline, GitState, VerifierContext } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { needsRunning } from "./definition.ts";
import { matcher } from "./glob.ts";
import { type CheckInputs, findInputs, type Workplace } from "./inputs.ts";
import { standsOutside, type Stood } from "./kinds/unchanged.ts";
import { ownReport, type OwnReport, outputsOf } from "./own-report.ts";
import { counter, type Round, type Rounds } from "./rounds.ts";
import type { VerifierInput } from "./verifier-input.ts";
import { changedKeys, type Signatures, takeSignatures } from "./signatures.ts";
import { subjectOf } from "./subject.ts";
import { gitDigest, gitStateFor, usesGit } from "./through-git.ts";
import { dependenciesInScope } from "./toolchains.ts";
import { findTools } from "./tools-found.ts";

/** What the baseline stores for later rounds, besides its manifest. */
export interface StoredInputs {
  readonly version: 1;
  /** Outputs of all checks: none of them is part of any check's subject. */
  readonly outputs: readonly string[];
  /** Reports that checks write; `outputs` names them too. */
  readonly reports: readonly OwnReport[];
  readonly around: Readonly<Record<string, string>>;
  readonly builds: Readonly<Record<string, string>>;
  /** Keys of `builds` that the baseline's own runs left otherwise than they found them. */
  readonly written: readonly string[];
  /** Programs and what else is outside the workspace; null in sessions from before it was kept. */
  readonly tools: Readonly<Record<string, string>> | null;
  /** What `files` checks want unchanged and the manifest doesn't list. */
  readonly stood: Stood;
  /** Git's own state, where a check asks git. */
  readonly git: GitState | null;
}

/** A failing baseline is run again where that is quick, to know a flaky check from the start. */
const repeatWithinMs = 60_000;

/**
 * The tree before the session's work: subject, content of the checks' inputs, and (where `runs`) the checks' results.
 * Where there is an earlier baseline its tree stays the one that counts; new checks run on the tree of now.
 */
export async function takeBaseline(
  input: VerifierInput,
  rounds: Rounds,
  wanted: readonly CheckDefinition[],
  runs: boolean,
  context: VerifierContext,
  signal: AbortSignal,
): Promise<Baseline> {
  const { observer, files } = input;
  const checks = wanted.filter((check): check is RunCheck => check.kind === "command" || check.kind === "tests");
  const earlier = context.earlier ?? null;
  const stored = storedInputs(earlier?.inputs ?? null);
  const outputs = [...new Set([...stored.outputs, ...checks.flatMap((check) => outputsOf(check, files))])].sort();
  const snapshot = await observer.snapshot(earlier?.manifest ?? null);
  const first = earlier?.manifest ?? snapshot.manifest;
  const evidence = (earlier?.evidence ?? []).filter((one) => checks.some((check) => check.id === one.checkId));
  const found: (readonly [RunCheck, CheckInputs])[] = [];
  for (const check of checks) found.push([check, await findInputs(check, first, observer, files)]);

  const isDependency = matcher(dependenciesInScope);
  const entries = found.flatMap(([, { inputs }]) => [...inputs.values()].map(({ entry }) => entry));
  const manifest = await observer.keep(
    first,
    entries.filter((entry) => !isDependency(entry.path)),
  );
  const named = found.map(([, one]) => one.named);
  let atStart: Signatures | null = null;
  const all = found.map(([, one]) => one);
  const git = await gitStateFor(all, manifest, observer, files);
  if (runs) {
    const signatures = (atStart = await takeSignatures(observer, files, named));
    await rounds.whilePaused(context, async () => {
      for (const [check, one] of found) {
        // What it needs is not there yet.
        if (needsRunning(check) || evidence.some((known) => known.checkId === check.id)) continue;
        const round = {
          check,
          context,
          signal,
          scope: manifest,
          outputs,
          inputs: inputsDigest(one, signatures, context.runs, usesGit(one) ? git : null),
          next: counter(),
        };
        evidence.push(await runBaseline(rounds, round));
      }
    });
  }
  // Taken after the runs: what they wrote into ignored places is the runtime's own doing.
  const { around, builds } = await takeSignatures(observer, files, named);
  const kept: StoredInputs = {
    version: 1,
    outputs,
    reports: reportsOf(checks, stored.reports, files),
    // Of a session that had no check before, only the tree is known.
    around: earlier === null || earlier.inputs === null ? around : stored.around,
    builds: { ...builds, ...stored.builds },
    written: [...new Set([...stored.written, ...(atStart === null ? [] : changedKeys(atStart.builds, builds))])].sort(),
    tools: { ...(await findTools(observer, files, named, manifest)).signatures, ...stored.tools },
    stood: { ...(await standsOutside(wanted, manifest, snapshot.manifest, observer, files)), ...stored.stood },
    git: stored.git ?? git,
  };
  const subject = earlier?.subject ?? (await subjectOf(snapshot, outputs, observer));
  return { subject, manifest, evidence, inputs: kept as unknown as Json };
}

function reportsOf(checks: readonly RunCheck[], stored: readonly OwnReport[], files: Workplace): OwnReport[] {
  const all = [...stored, ...checks.flatMap((check) => ownReport(check, files) ?? [])];
  return [...new Map(all.map((report) => [JSON.stringify([report.root, report.path, report.format]), report])).values()];
}

async function runBaseline(rounds: Rounds, round: Round): Promise<Evidence> {
  let bound = await rounds.inWorkspace(round);
  const repeats = [bound.run];
  if (!bound.run.passed && !bound.run.timedOut && bound.run.durationMs <= repeatWithinMs) {
    bound = await rounds.inWorkspace(round);
    repeats.push(bound.run);
  }
  const weaknesses: Weakness[] = [];
  if (repeats.some((run) => run.passed !== bound.run.passed)) {
    weaknesses.push({ kind: "flaky", detail: "it failed and then passed before anything was changed" });
  }
  return rounds.evidence(round, "baseline", bound, { originalInputsRun: null, repeats, weaknesses });
}

export function storedInputs(inputs: Json): StoredInputs {
  const stored = inputs as unknown as Partial<StoredInputs> | null;
  return {
    version: 1,
    outputs: stored?.outputs ?? [],
    reports: stored?.reports ?? [],
    around: stored?.around ?? {},
    builds: stored?.builds ?? {},
    written: stored?.written ?? [],
    tools: stored?.tools ?? null,
    stood: stored?.stood ?? {},
    git: stored?.git ?? null,
  };
}

/**
 * Build output is left out: a check writes it, so it would tell one round from the next. What recorded builds left is told by
 * them; git's state, where a check asks git, is told by `git`.
 */
export function inputsDigest(found: CheckInputs, signatures: Signatures, runs: readonly RecordedRun[], git: GitState | null): string {
  const inputs = [...found.inputs].map(([key, { digest }]) => `${key}\t${digest}`).sort();
  const around = Object.entries(signatures.around).map(([key, value]) => `${key}\t${value}`);
  const builds = runs.filter(({ subject }) => subject !== null).map((run) => JSON.stringify([run.subject, run.folders]));
  const more = [...builds, ...(git === null ? [] : [gitDigest(git)])];
  return sha256([...inputs, "", ...around.sort(), ...(more.length === 0 ? [] : ["", ...more])].join("\n"));
}
