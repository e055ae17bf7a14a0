import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import type { CheckInput } from "../inputs.ts";
import { keyOf } from "../inputs.ts";
import { nameOf } from "../paths.ts";

/** Code that helps tests, by name or folder; where sources lie, only what has no other use. */
const helping = /assert|expect|matcher|harness|mock|stub|fake|testing/i;
const helpingOutside = /helper|support|compar|setup/i;
const sourceFolder = /^(?:.*\/)?(?:src|lib|app|pkg|internal)\//;
/** Data that tests compare with. */
const expected = /expect|golden|snapshot|fixture|sample|approved|reference|baseline|want(?:ed)?|cases?|answers?/i;
const isData = /\.(?:json|jsonl|csv|tsv|ya?ml|toml|xml|html|txt|out|md)$/;
const isCode = /\.(?:[cm]?[jt]sx?|py|rb|pl|pm|php|go|rs|sh)$/;
/** Sources that are looked through for whoever else uses a file; past it, tests alone decide. */
const mostSources = 2_000;
const mostBytes = 256 * 1024;

/** Whether a changed file outside all patterns is a part of the tests: their helper, or what they compare with. */
export async function isSupport(
  files: CheckFiles,
  manifest: string,
  entry: ManifestEntry,
  inputs: ReadonlyMap<string, CheckInput>,
  testText: string,
): Promise<boolean> {
  const near = entry.path.split("/").slice(-2).join("/");
  const hasName = isData.test(entry.path)
    ? expected.test(near)
    : isCode.test(entry.path) && (helping.test(near) || (helpingOutside.test(near) && !sourceFolder.test(entry.path)));
  const name = nameOf(entry.path);
  const stem = name.replace(/\.\w+$/, "");
  const mention = new RegExp(`(?<![\\w-])${stem.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-])`);
  if (!hasName || !mention.test(testText)) return false;
  // A test that is named after it tests it.
  if ([...inputs.values()].some((input) => mention.test(nameOf(input.entry.path).replace(/^test_|_test(?=\.)/g, "")))) return false;
  const others = (await files.list(manifest)).filter(
    (one) =>
      one.root === entry.root && one.path !== entry.path && !inputs.has(keyOf(one)) && one.size <= mostBytes && isCode.test(one.path),
  );
  for (const other of others.slice(0, mostSources)) {
    const bytes = await files.content(manifest, other);
    if (bytes !== null && mention.test(new TextDecoder().decode(bytes))) return false;
  }
  return true;
}
