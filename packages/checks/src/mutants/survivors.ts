import type { CheckRun } from "@holdfast/protocol";
import type { Place, ScratchChange } from "@holdfast/runtime";
import { executed, showsFailures } from "../count-weakness.ts";
import { stripControls } from "../counts.ts";
import { matcher } from "../glob.ts";
import type { CheckInput, CheckInputs } from "../inputs.ts";
import { nameOf } from "../paths.ts";
import { heldTo, type Round, type Rounds } from "../rounds.ts";
import { isTooDeep, tokensOf } from "../tests/tokens.ts";
import { testsIn, type Unit } from "../tests/units.ts";
import * as toolchains from "../toolchains.ts";
import type { VerifierInput } from "../verifier-input.ts";
import { failedIn, failingLines, namesFile } from "./failing.ts";
import { type Edit, edited, type Sites } from "./edit.ts";
import { sitesIn } from "./sites.ts";

/*
 * Whether tests that failed at the baseline and pass now can still fail: mutation testing, of the tests. They run once more with
 * what they expect changed (`3` becomes `4`), or an assertion turned round where it expects no value. Whatever keeps failures
 * from being told lets these mutants survive; how it does so is of no matter, and no source has to be read for it.
 */

interface Mutant {
  /** The test's; empty where only a whole script is known. */
  readonly name: string;
  /** With these made, the test must fail. */
  readonly edits: readonly Edit[];
}

interface MutatedFile {
  readonly input: CheckInput;
  readonly text: string;
  readonly mutants: readonly Mutant[];
}

const mostBytes = 256 * 1024;
const mostFiles = 200;
const isSkipped = matcher([...toolchains.runnerFiles, ...toolchains.fixtures]);
/** What reads tests without running them. */
const readers =
  /\b(?:tsc|vue-tsc|eslint|oxlint|biome|prettier|oxfmt|stylelint|ruff|mypy|flake8|pylint|pyright|black|shellcheck|rubocop|clippy|gofmt|rustfmt|knip)\b|\b(?:node|deno)\s+(?:--)?check\b|\bnode\s+-c\b|\bpy_compile\b|\bcompileall\b|\b(?:ba|da|z|k)?sh\s+-n\b|\bperl\s+-c|\bcargo\s+(?:check|build)\b|\bgo\s+(?:vet|build)\b/;

/** Mutants of the tests that failed. None where nothing shows which did, or nothing in them can be changed. */
export async function findMutants(
  { inputs, named }: CheckInputs,
  { output, hasCounts }: { readonly output: string; readonly hasCounts: boolean },
  read: (input: CheckInput) => Promise<string | null>,
): Promise<MutatedFile[]> {
  if (!hasCounts && readers.test(named.text)) return [];
  const found: FoundFile[] = [];
  for (const input of inputs.values()) {
    const { entry, part } = input;
    if (part !== null || entry.size > mostBytes || isSkipped(entry.path) || found.length >= mostFiles) continue;
    if (entry.kind !== "file" && entry.kind !== "executable") continue;
    const text = await read(input);
    const path = text === null ? null : asCode(entry.path, text);
    if (text === null || path === null || isTooDeep(tokensOf(path, text))) continue;
    found.push({ input, text, units: testsIn(path, text).units, ...sitesIn(path, text) });
  }
  if (!hasCounts) return ofScripts(found.filter(({ input: { entry } }) => named.files.has(entry.path) || namesFile(output, entry.path)));
  const lines = failingLines(output);
  const known = new Set(
    failedIn(
      lines,
      found.flatMap(({ units }) => units),
    ),
  );
  const failed = ofTests(found, (_, unit) => known.has(unit));
  // A test that could not be loaded is named by its file.
  return failed.length > 0 ? failed : ofTests(found, ({ input }) => namesFile(lines, input.entry.path));
}

interface FoundFile extends Sites {
  readonly input: CheckInput;
  readonly text: string;
  readonly units: readonly Unit[];
}

function ofTests(found: readonly FoundFile[], isMeant: (file: FoundFile, unit: Unit) => boolean): MutatedFile[] {
  const files = found.map((file) => {
    const within = (edits: readonly Edit[], unit: Unit): Edit[] => edits.filter(({ from, end }) => from >= unit.from && end <= unit.end);
    const mutants = file.units
      .filter((unit) => isMeant(file, unit))
      .map((unit) => ({
        name: unit.name,
        edits: [within(file.values, unit), within(file.turns, unit)].find((edits) => edits.length > 0) ?? [],
      }));
    return { input: file.input, text: file.text, mutants: mutants.filter(({ edits }) => edits.length > 0) };
  });
  return files.filter(({ mutants }) => mutants.length > 0);
}

/** Turning round is for scripts that expect no value: with both, one could undo the other. */
function ofScripts(found: readonly FoundFile[]): MutatedFile[] {
  const hasValues = found.some(({ values }) => values.length > 0);
  const files = found.map(({ input, text, values, turns }) => ({ input, text, edits: hasValues ? values : turns }));
  return files.filter(({ edits }) => edits.length > 0).map(({ input, text, edits }) => ({ input, text, mutants: [{ name: "", edits }] }));
}

/** The path by which a program is known as one of its language; null for what isn't read. */
function asCode(path: string, text: string): string | null {
  if (/\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|java|kts?|scala|groovy|cc?|cpp|swift|cs|php|rb|exs?|pl|pm|t|sh|bash|zsh|bats)$/.test(path))
    return path;
  if (nameOf(path).includes(".")) return null;
  const program = /^#![^\n]*\b(node|python|perl|sh|bash|zsh|dash|ruby)/.exec(text)?.[1];
  const endings: Readonly<Record<string, string>> = { node: ".js", python: ".py", perl: ".pl", ruby: ".rb" };
  return program === undefined ? null : `${path}${endings[program] ?? ".sh"}`;
}

interface Surroundings {
  /** The failed run at the baseline, and the one that passed. */
  readonly first: CheckRun;
  readonly last: CheckRun;
  readonly manifest: string;
  /** What takes away all that earlier runs and builds left. */
  readonly cleared: () => Promise<{ readonly changes: readonly ScratchChange[]; readonly without: readonly Place[] }>;
}

/** Runs the mutants; returns the tests that passed all the same, by name (or by their files). */
export async function survivors(
  { observer, blobs }: VerifierInput,
  rounds: Rounds,
  round: Round,
  inputs: CheckInputs,
  { first, last, manifest, cleared }: Surroundings,
): Promise<string[]> {
  const bytes = await blobs.get(first.output);
  const output = bytes === null ? "" : stripControls(new TextDecoder().decode(bytes));
  const hasCounts = first.counts !== null || last.counts !== null;
  const files = await findMutants(inputs, { output, hasCounts }, async ({ entry }) => {
    const content = await observer.content(manifest, entry);
    return content === null ? null : new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
  });
  if (files.length === 0) return [];
  const changes = files.map(({ input: { entry }, text, mutants }): ScratchChange => {
    const edits = mutants.flatMap((mutant) => mutant.edits);
    return { root: entry.root, path: entry.path, kind: entry.kind, content: new TextEncoder().encode(edited(text, edits)) };
  });
  const tests = new Set(files.flatMap(({ input, mutants }) => mutants.map(({ name }) => name || input.entry.path)));
  // A test that fails may leave something open that its end would have closed.
  const held = heldTo(round, last);
  const survive = async (more: readonly ScratchChange[], without: readonly Place[]): Promise<boolean> => {
    const run = await rounds.inCopy(held, manifest, [...changes, ...more], without);
    if (run.passed) return !showsFailures(null, run);
    // One that ended before all had run, or could not be loaded, says nothing of single tests.
    const [ran, wanted] = [await executed(run, last, blobs), await executed(last, null, blobs)];
    return hasCounts && run.counts !== null && ran !== null && wanted !== null && ran >= wanted && run.counts.failed < tests.size;
  };
  if (!(await survive([], []))) return [];
  // A stamp of an earlier run may have spared this one.
  const { changes: more, without } = await cleared();
  return more.length + without.length === 0 || (await survive(more, without)) ? [...tests] : [];
}
