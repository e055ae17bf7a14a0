import type { RecordedRun } from "@holdfast/protocol";
import type { Baseline } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { storedInputs } from "./baseline.ts";
import { commandCheck } from "./command-check.ts";
import { findInputs } from "./inputs.ts";
import { plainLine } from "./installers.ts";
import type { VerifierInput } from "./verifier-input.ts";
import { takeSignatures } from "./signatures.ts";
import { subjectOf } from "./subject.ts";

/** One plain line that runs the project's own build script. */
const buildLine =
  /^(?:(?:npm|pnpm|yarn|bun)(?: run)?|node --run) (?:(?:pre)?build[\w:.-]*|compile[\w:.-]*|generate[\w:.-]*|codegen|bundle)$|^make(?: (?:build|all))?$/;

/**
 * Looks at ignored files right before a build; the function it returns looks again once the build has succeeded. Null
 * where the command is no build, or where what it runs by is not as at the baseline.
 */
export async function beforeBuild(input: VerifierInput, command: string, baseline: Baseline): Promise<(() => Promise<RecordedRun>) | null> {
  const line = command.trim().split(/ +/).join(" ");
  if (!plainLine.test(line) || !buildLine.test(line) || baseline.manifest === null) return null;
  const { observer, files } = input;
  const script = commandCheck(line, { inputs: ["no file is a test"] });
  const start = await observer.snapshot(baseline.manifest);
  const [then, now] = [
    await findInputs(script, baseline.manifest, observer, files),
    await findInputs(script, start.manifest, observer, files),
  ];
  if ([...then.inputs, ...now.inputs].some(([key]) => then.inputs.get(key)?.digest !== now.inputs.get(key)?.digest)) return null;
  const before = await takeSignatures(observer, files, []);
  return async () => {
    const after = await takeSignatures(observer, files, []);
    const end = await observer.snapshot(baseline.manifest);
    const subject = await subjectOf(end, storedInputs(baseline.inputs).outputs, observer);
    const folders = Object.entries(after.builds).map(([key, signature]) => ({ key, before: before.builds[key] ?? null, after: signature }));
    return { command: line, folders, locks: [], subject: boundTo(subject, after.around) };
  };
}

/** What build output is of: a tree, and the dependencies and configuration that were there. */
function boundTo(subject: string, around: Readonly<Record<string, string>>): string {
  return sha256(JSON.stringify([subject, Object.entries(around).sort(([a], [b]) => (a < b ? -1 : 1))]));
}

/**
 * Follows recorded builds from the baseline's signatures. Ignored output is of the tree `subject`, built with `around`, where a
 * build at that tree left it as it is, and found it as the baseline or a build before it had left it, or not at all.
 */
export function followBuilds(
  baseline: Readonly<Record<string, string>>,
  runs: readonly RecordedRun[],
  subject: string,
  around: Readonly<Record<string, string>>,
): (key: string, signature: string) => boolean {
  const known = new Map(Object.entries(baseline));
  const built = new Set<string>();
  const wanted = boundTo(subject, around);
  for (const run of runs) {
    if (run.subject === null) continue;
    for (const { key, before, after } of run.folders) {
      if (after === null || (before !== null && before !== known.get(key))) continue;
      known.set(key, after);
      if (run.subject === wanted) built.add(`${key}\n${after}`);
    }
  }
  return (key, signature) => built.has(`${key}\n${signature}`);
}
