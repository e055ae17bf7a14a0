import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import type { CheckInput } from "../inputs.ts";
import { keyOf } from "../inputs.ts";
import { sourceFolder } from "../loads.ts";
import { folderOf, nameOf } from "../paths.ts";
import { judges } from "./judging.ts";

/** Code that helps tests, by name or folder; where sources lie, only what has no other use. */
const helping = /assert|expect|matcher|harness|mock|stub|fake|testing/i;
const helpingOutside = /helper|support|compar|setup/i;
/** Data that tests compare with, wherever it lies; elsewhere than among sources, all data that only tests name. */
const expected = /expect|golden|snapshot|fixture|sample|approved|reference|baseline|want(?:ed)?|cases?|answers?/i;
const isData =
  /\.(?:json[l5c]?|ndjson|[cpt]sv|ya?ml|toml|xml|html|txt|out|md|rst|dat|data|tpl|tmpl|in|ini|cfg|conf|properties|lst|list|ref|exp|hex|bin|base64|stamp|ok)$|(?:^|\/)\.?[^./]+$/;
const isCode = /\.(?:[cm]?[jt]sx?|py|rb|pl|pm|php|go|rs|sh|bash)$/;
/** Languages in which a file is loaded by a name in quotes, behind a word such as `import`, or both. */
const isLoaded = /\.(?:[cm]?[jt]sx?|py|rb|pl|pm|sh|bash)$/;
/** Sources that are looked through for whoever else uses a file; past it, tests alone decide. */
const mostSources = 2_000;
const mostBytes = 256 * 1024;

/** A changed file outside all patterns, with its text before (null where there was none) and now. */
export interface Changed {
  readonly entry: ManifestEntry;
  readonly was: string | null;
  readonly is: string;
}

/**
 * Whether it is a part of the tests: their helper, or what they compare with. Where the check's definition `declares` its
 * inputs, only names that say so count.
 */
export async function isSupport(
  files: CheckFiles,
  manifest: string,
  changed: Changed,
  inputs: ReadonlyMap<string, CheckInput>,
  testText: string,
  declares: boolean,
): Promise<boolean> {
  const { entry } = changed;
  const near = entry.path.split("/").slice(-2).join("/");
  const stem = stemOf(entry.path);
  const mention = new RegExp(`(?<![\\w-])${escaped(stem)}(?![\\w-])`);
  // A test that is named after it tests it.
  if ([...inputs.values()].some((input) => mention.test(nameOf(input.entry.path).replace(/^test_|_test(?=\.)/g, "")))) return false;
  const isCodeFile = isCode.test(entry.path);
  // A script may load all that is in a folder.
  const isOfFolder = isCodeFile && !mention.test(testText) && !declares && inNamedFolder(entry.path, testText);
  if (isCodeFile && !isOfFolder && !mention.test(testText)) return false;
  const others = (await files.list(manifest)).filter(
    (one) =>
      one.root === entry.root && one.path !== entry.path && !inputs.has(keyOf(one)) && one.size <= mostBytes && isCode.test(one.path),
  );
  if (isCodeFile) {
    const isNear = sourceFolder.test(entry.path) ? helping.test(near) : helping.test(near) || helpingOutside.test(near);
    const isRows = !declares && isTable(changed.was);
    const mayHelp =
      (isNear && !sourceFolder.test(entry.path)) || ((isNear || isRows) && (await helpsOthers(files, manifest, stem, inputs, others)));
    if (!mayHelp && (declares || !judges(changed.was ?? "", changed.is, escaped(stem), testText))) return false;
  } else {
    if (!isData.test(entry.path) || entry.kind === "executable") return false;
    const isMeant = expected.test(near)
      ? mention.test(testText)
      : // A line that leads to no test speaks of what it tests.
        !declares && inputs.size > 0 && !sourceFolder.test(entry.path) && isNamed(entry.path, testText);
    if (!isMeant) return false;
  }
  const load = loadOf(stem);
  for (const other of others.slice(0, mostSources)) {
    const bytes = await files.content(manifest, other);
    const uses = isLoaded.test(entry.path) && isLoaded.test(other.path) ? load : mention;
    if (bytes !== null && uses.test(new TextDecoder().decode(bytes))) return false;
  }
  return true;
}

/** Whether a test loads other code beside it: where it is all that its tests load, it is what they test. */
async function helpsOthers(
  files: CheckFiles,
  manifest: string,
  stem: string,
  inputs: ReadonlyMap<string, CheckInput>,
  others: readonly ManifestEntry[],
): Promise<boolean> {
  const load = loadOf(stem);
  const loads = others.slice(0, mostSources).map(({ path }) => loadOf(stemOf(path)));
  for (const { entry, part } of inputs.values()) {
    const bytes = part === null && entry.size <= mostBytes ? await files.content(manifest, entry) : null;
    const text = bytes === null ? "" : new TextDecoder().decode(bytes);
    if (load.test(text) && loads.some((one) => one.test(text))) return true;
  }
  return false;
}

/** Cases in a file of code: it holds rows, and nothing that could be called. */
function isTable(text: string | null): boolean {
  return text !== null && /(?:=|\bdefault)\s*[[(]/.test(text) && !/\bfunction\b|=>|\bdef\b|\bsub\b|\bclass\b|\)\s*\{/.test(text);
}

function stemOf(path: string): string {
  return nameOf(path).replace(/(?<=.)\.\w+$/, "");
}

/** Finds a file that is loaded by its name. */
function loadOf(stem: string): RegExp {
  return new RegExp(`(?:["'\`/.]|\\b(?:import|from|use|require|source|mod)\\s+)[\\w./:-]*(?<![\\w-])${escaped(stem)}(?![\\w-])`);
}

/** Data is named by its whole name, or by the folder it lies in. */
function isNamed(path: string, testText: string): boolean {
  return new RegExp(`(?<![\\w.-])${escaped(nameOf(path))}(?![\\w-])`).test(testText) || inNamedFolder(path, testText);
}

function inNamedFolder(path: string, testText: string): boolean {
  const folder = nameOf(folderOf(path));
  return folder !== "" && !sourceFolder.test(path) && new RegExp(`["'\`/ ]${escaped(folder)}(?:["'\`/ ]|$)`, "m").test(testText);
}

/** As a part of a pattern. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
