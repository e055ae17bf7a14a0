import { nameOf } from "../paths.ts";

const configName = /^(?:(?:vitest|jest|ava|playwright|cypress|phpunit)\.|\.mocharc|\.?pytest\.|tox\.ini)/;
const selecting =
  /\b(?:include|testMatch|testRegex|testDir|spec|roots|python_(?:files|classes|functions)|testpaths|passWithNoTests)\b["']?\s{0,8}[:=]\s{0,8}(?:\[[^\]]{0,4000}\]|[^\n]{0,400})|<(?:directory|file)\b[^\n]{0,400}/g;

/** Whether a runner's configuration takes its tests from elsewhere than it did, or from where it didn't say before. */
export function selectsElse(path: string, was: string, is: string): boolean {
  return configName.test(nameOf(path)) && selectionIn(was) !== selectionIn(is);
}

function selectionIn(text: string): string {
  return [...text.matchAll(selecting)].map(([all]) => all.replaceAll(/\s+/g, "").replace(/,$/, "").replaceAll("'", '"')).join("\n");
}
