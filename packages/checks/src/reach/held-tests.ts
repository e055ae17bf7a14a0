import { assertionsIn } from "../tests/assertions.ts";
import { textOf } from "../tests/growth.ts";
import { testsIn, type Unit } from "../tests/units.ts";
import { sourceFolder } from "../loads.ts";
import { sitesIn } from "../mutants/sites.ts";

/** What says that a file may hold tests, by its language; most files are read no further. */
const mayHold: readonly { readonly files: RegExp; readonly says: RegExp }[] = [
  { files: /\.rs$/, says: /#\[(?:\w+::)*\w*test\b/ },
  { files: /\.py$/, says: /^\s*(?:async\s+)?def\s+test|\bTestCase\b/m },
  { files: /\.(?:java|kts?|groovy|scala|cs)$/, says: /@(?:\w+\.)*\w*Test\b|\[(?:Fact|Theory|Test\w*)\b/ },
  {
    files: /\.[cm]?[jt]sx?$/,
    says: /["'](?:node:test|vitest|@jest\/globals|bun:test|mocha|ava|tape?|uvu)["']|^(?:describe|suite|context|it|test)(?:\.\w+)*\(\s*["'`]/m,
  },
  { files: /\.go$/, says: /\*testing\.T\b/ },
];
const programs = /\.(?:c|cc|cpp)$/;

/**
 * Whether a file that no pattern knows holds tests, and one of them is gone or says something else: Rust's `src/tests.rs`,
 * `qa/prices.py` that a configuration leads to, a program in C that asserts.
 */
export function changesTests(path: string, was: string | null, is: string): boolean {
  if (was === null) return false;
  if (programs.test(path)) return !sourceFolder.test(path) && asserted(path, was) !== asserted(path, is);
  if (!mayHold.some(({ files, says }) => files.test(path) && says.test(was))) return false;
  const keyOf = (unit: Unit): string => `${unit.name} | ${textOf(unit)}`;
  const before = testsIn(path, was).units.filter(({ statements }) => assertionsIn(statements) > 0);
  const after = new Set(before.length === 0 ? [] : testsIn(path, is).units.map(keyOf));
  return before.some((unit) => !after.has(keyOf(unit)));
}

/** What a program asserts; nothing where it isn't one, or asserts nothing. */
function asserted(path: string, text: string): string {
  if (!/\bint\s+main\s*\(/.test(text) || !/#\s*include\s*<assert\.h>/.test(text)) return "";
  return sitesIn(path, text)
    .values.map(({ from, end }) => text.slice(text.lastIndexOf("\n", from) + 1, end))
    .join("\n");
}
