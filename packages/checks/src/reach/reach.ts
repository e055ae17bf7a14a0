import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import type { CheckInput, CheckInputs } from "../inputs.ts";
import type { InputChange } from "../original.ts";
import { keyOf } from "../inputs.ts";
import type { FilePart } from "../parts.ts";
import { nameOf } from "../paths.ts";
import { inlineTests } from "./inline.ts";
import { mayDiffer, mayReach, reachRules } from "./rules.ts";
import { isSupport } from "./support.ts";

/** A changed file that is no input of the check, with the lines that it did not have at the baseline. */
interface ChangedSource {
  readonly entry: ManifestEntry;
  /** The new lines alone. */
  readonly text: string;
  /** Null where it wasn't there, or is no longer stored. */
  readonly was: string | null;
  readonly is: string;
}

export interface Reach {
  /** Files that reach into the tests, with what they do. */
  readonly reaching: readonly { readonly entry: ManifestEntry; readonly what: string; readonly part: FilePart | null }[];
  /** Paths of files that may do so in a way that only a watched run can show. */
  readonly mayReach: readonly string[];
  /** Something new can make one run differ from the next. */
  readonly mayDiffer: boolean;
}

/** Larger files are data, or made by a program. */
const mostBytes = 512 * 1024;

/** Reads what the changed sources have new. `testText`: the check's command and the tests, which may load a script into their own process. */
export async function findReach(
  files: CheckFiles,
  manifests: { readonly before: string; readonly after: string },
  inputs: ReadonlyMap<string, CheckInput>,
  testText: string,
): Promise<Reach> {
  const reaching: Reach["reaching"][number][] = [];
  const may: string[] = [];
  let differs = false;
  for (const { entry, text, was, is } of await changedSources(files, manifests, inputs)) {
    const rule = reachRules.find(
      (one) => one.files.test(entry.path) && one.pattern.test(text) && (one.onlySourced !== true || isSourced(entry.path, testText)),
    );
    const inline = inlineTests(entry.path);
    if (rule !== undefined) reaching.push({ entry, what: rule.id, part: null });
    else if (inline !== null && was !== null && inline.read(was) !== inline.read(is))
      reaching.push({ entry, what: "holds tests", part: inline });
    else if (await isSupport(files, manifests.after, entry, inputs, testText))
      reaching.push({ entry, what: "is a part of the tests", part: null });
    else if (mayReach.some((one) => one.files.test(entry.path) && one.pattern.test(text))) may.push(entry.path);
    differs ||= mayDiffer.test(text);
  }
  return { reaching, mayReach: may, mayDiffer: differs };
}

async function changedSources(
  files: CheckFiles,
  { before, after }: { readonly before: string; readonly after: string },
  inputs: ReadonlyMap<string, CheckInput>,
): Promise<ChangedSource[]> {
  if (before === after) return [];
  const old = new Map((await files.list(before)).map((entry) => [keyOf(entry), entry]));
  const changed: ChangedSource[] = [];
  for (const entry of await files.list(after)) {
    const key = keyOf(entry);
    const earlier = old.get(key);
    if (inputs.has(key) || earlier?.digest === entry.digest || entry.size > mostBytes) continue;
    if (entry.kind !== "file" && entry.kind !== "executable") continue;
    const [was, is] = [earlier === undefined ? null : await textOf(files, before, entry), await textOf(files, after, entry)];
    if (is === null) continue;
    const known = new Set(was === null ? [] : linesOf(was));
    const text = linesOf(is)
      .filter((line) => !known.has(line))
      .join("\n");
    changed.push({ entry, text, was, is });
  }
  return changed;
}

async function textOf(files: CheckFiles, manifest: string, entry: ManifestEntry): Promise<string | null> {
  const bytes = await files.content(manifest, entry);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

/** Whether `. lib/x.sh` or `source lib/x.sh` stands in the text. */
function isSourced(path: string, text: string): boolean {
  const name = nameOf(path).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`(?:^|[\\s;&|(])(?:\\.|source)\\s+\\S*${name}\\b`, "m").test(text);
}

/** The check's command with all that it leads to, and the tests: where it stands what they load. */
export async function testText(files: CheckFiles, manifest: string, { inputs, named }: CheckInputs): Promise<string> {
  let text = named.text;
  for (const { entry, part } of inputs.values()) {
    if (part !== null || entry.size > mostBytes) continue;
    const bytes = await files.content(manifest, entry);
    if (bytes !== null) text += `\n${new TextDecoder().decode(bytes)}`;
  }
  return text;
}

/** Files that act on the tests, as changed inputs. */
export async function asInputs(files: CheckFiles, before: string, reaching: Reach["reaching"]): Promise<InputChange[]> {
  if (reaching.length === 0) return [];
  const old = new Map((await files.list(before)).map((entry) => [keyOf(entry), entry]));
  return reaching.map(({ entry, part }) => {
    const asInput = (one: ManifestEntry): CheckInput => ({ entry: one, part, digest: `${one.kind}:${one.digest}`, isShadow: false });
    const earlier = old.get(keyOf(entry));
    return { path: entry.path, before: earlier === undefined ? null : asInput(earlier), after: asInput(entry) };
  });
}
