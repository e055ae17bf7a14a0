import type { Evidence, InspectedCheck } from "@holdfast/protocol";
import type { Baseline, VerifierContext } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { quotedPath } from "@holdfast/runtime/paths/quoted";
import { storedInputs } from "./baseline.ts";
import { definitionDigest } from "./definition.ts";
import type { VerifierInput } from "./verifier-input.ts";
import { subjectOf } from "./subject.ts";

/** Files named in the evidence's text; the rest is counted. */
const mostNamed = 100;

/** Holds what the model was shown of each change against all there is of it. Nothing runs. */
export async function checkInspected(
  { observer, clock }: VerifierInput,
  check: InspectedCheck,
  baseline: Baseline,
  context: VerifierContext,
): Promise<Evidence> {
  const started = clock.now();
  const missing = check.files.flatMap(({ path, digest, parts }) => {
    const shown = new Set(context.inspected.filter((one) => one.path === path && one.digest === digest).map(({ part }) => part));
    const name = quotedPath(path);
    return shown.size >= parts ? [] : [shown.size === 0 ? name : `${name} (${shown.size} of ${parts} parts)`];
  });
  const subject = await subjectOf(await observer.snapshot(baseline.manifest), storedInputs(baseline.inputs).outputs, observer);
  const read = `${check.files.length - missing.length} of ${check.files.length} changed files read`;
  const list = missing.slice(0, mostNamed).map((path) => `\n  ${path}`);
  const more = missing.length > mostNamed ? `\n  and ${missing.length - mostNamed} more` : "";
  return {
    checkId: check.id,
    phase: "final",
    subjectBefore: subject,
    subjectAfter: subject,
    inputs: sha256(JSON.stringify(context.inspected)),
    definition: definitionDigest(check),
    run: {
      exitCode: null,
      signal: null,
      timedOut: false,
      durationMs: clock.now() - started,
      passed: missing.length === 0,
      counts: null,
      tail: missing.length === 0 ? read : `${read}; not read:${list.join("")}${more}`,
      output: "",
    },
    originalInputsRun: null,
    repeats: [],
    weaknesses: [],
    sandboxed: true,
    gitTree: null,
    at: clock.now(),
  };
}
