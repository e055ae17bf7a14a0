import type { RunCheck, Weakness } from "@holdfast/protocol";
import type { Baseline, VerifierContext } from "@holdfast/runtime";
import { storedInputs } from "./baseline.ts";
import { needsRunning } from "./definition.ts";
import { subjectOf } from "./subject.ts";
import type { VerifierInput } from "./verifier-input.ts";

/** Of what a check needs: the running commands, which go on meanwhile, and why it can't be run with them; empty where it can. */
export interface Needed {
  readonly refs: readonly string[];
  readonly unmet: readonly string[];
}

/**
 * Finds what a check needs, by the whole line: another program that answers in its place is not what a person named. What
 * began on another tree may answer from that one, so it must have begun on this.
 */
export async function findNeeded(input: VerifierInput, check: RunCheck, baseline: Baseline, context: VerifierContext): Promise<Needed> {
  if (!needsRunning(check)) return { refs: [], unmet: [] };
  const { observer, processes } = input;
  const subject = await subjectOf(await observer.snapshot(baseline.manifest), storedInputs(baseline.inputs).outputs, observer);
  const refs: string[] = [];
  const unmet: string[] = [];
  for (const line of (check.needs ?? []).map((need) => need.trim())) {
    const known = (context.needed ?? []).filter((one) => one.line === line);
    const states = await Promise.all(known.map(({ callId, attempt }) => processes.record(context.session, callId, attempt)));
    const running = known.filter((_, index) => states[index]?.type === "running");
    refs.push(...running.map(({ ref }) => ref));
    if (running.length === 0) unmet.push(`it needs \`${line}\` running in the session, in the folder of the checks`);
    else if (running.some((one) => one.subject !== subject))
      unmet.push(`\`${line}\` was started before files last changed, and may not serve what they are now`);
  }
  return { refs, unmet };
}

/** For a person, beside the result. */
export function notesOf({ needs = [] }: RunCheck): string[] {
  return needs.map((line) => `while \`${line.trim()}\` ran`);
}

/** Why a check was not run. The model can still start what it needs. */
export function unmetNeeds(unmet: readonly string[]): Weakness {
  return { kind: "needs_unmet", detail: `it was not run: ${unmet.join("; ")}` };
}
