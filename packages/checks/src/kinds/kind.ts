import type { CheckDefinition, Evidence, Weakness } from "@holdfast/protocol";
import type { Baseline, VerifierContext } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { storedInputs } from "../baseline.ts";
import { definitionDigest } from "../definition.ts";
import { subjectOf } from "../subject.ts";
import type { CheckKind, Finding, VerifierInput } from "../verifier-input.ts";

/** Runs a look, and binds what it found to the tree before and after it. */
export async function evidenceOf<T extends CheckDefinition>(
  kind: CheckKind<T>,
  input: VerifierInput,
  check: T,
  baseline: Baseline,
  context: VerifierContext,
  signal: AbortSignal,
): Promise<Evidence> {
  const { observer, clock } = input;
  const started = clock.now();
  const subject = async (): Promise<string> =>
    subjectOf(await observer.snapshot(baseline.manifest), storedInputs(baseline.inputs).outputs, observer);
  const subjectBefore = await subject();
  const { passed, says, weaknesses = [], notes = [], accepted = [], observed = "" } = await kind(input, check, baseline, context, signal);
  const subjectAfter = await subject();
  const moved: Weakness[] =
    subjectBefore === subjectAfter ? [] : [{ kind: "check_changes_subject", detail: "files changed while it looked" }];
  return {
    checkId: check.id,
    phase: "final",
    subjectBefore,
    subjectAfter,
    inputs: sha256(observed),
    definition: definitionDigest(check),
    run: {
      exitCode: null,
      signal: null,
      timedOut: false,
      durationMs: clock.now() - started,
      passed,
      counts: null,
      tail: says,
      output: "",
    },
    originalInputsRun: null,
    repeats: [],
    weaknesses: passed ? [...weaknesses, ...moved] : [],
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
    ...(accepted.length === 0 ? {} : { accepted: [...accepted] }),
    sandboxed: true,
    gitTree: null,
    at: clock.now(),
  };
}

/** `says` of a look with several parts: what doesn't hold, a line each, or that all of it does. */
export function finding(problems: readonly string[], well: string, most = 50): Finding {
  if (problems.length === 0) return { passed: true, says: well };
  const more = problems.length > most ? [`and ${problems.length - most} more`] : [];
  return { passed: false, says: [...problems.slice(0, most), ...more].join("\n") };
}
