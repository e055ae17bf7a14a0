import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import { type CheckInput, keyOf } from "../inputs.ts";
import { folderOf, resolvePath } from "../paths.ts";

const mostBytes = 256 * 1024;
const mostPrograms = 50;
const isProgram = /(?:^|\/)bin\/(?:[^./]+|[\w.-]+\.[cm]?[jt]s)$/;
/** What judges others is a test, whatever its name. */
const judges = /\bassert|\bexpect\s*\(|\b(?:node:test|vitest|jest|mocha)\b/;

/**
 * Programs of the project's own, for Node, which tests start as its users do: what a `package.json` has as its `bin`, and what
 * lies in a folder of that name. None of them is a part of the check.
 */
export async function ownPrograms(files: CheckFiles, manifest: string, inputs: ReadonlyMap<string, CheckInput>): Promise<string[]> {
  const entries = await files.list(manifest);
  const textOf = async (entry: ManifestEntry): Promise<string> => {
    const bytes = entry.size > mostBytes ? null : await files.content(manifest, entry);
    return bytes === null ? "" : new TextDecoder().decode(bytes);
  };
  const named = new Set<string>();
  for (const entry of entries.filter(({ path }) => /(?:^|\/)package\.json$/.test(path)).slice(0, mostPrograms))
    for (const path of binsIn(await textOf(entry))) named.add(`${entry.root}:${resolvePath(folderOf(entry.path), path) ?? ""}`);
  const found: string[] = [];
  for (const entry of entries) {
    if (found.length >= mostPrograms) break;
    if (inputs.has(keyOf(entry)) || !(isProgram.test(entry.path) || named.has(`${entry.root}:${entry.path}`))) continue;
    if (!judges.test(await textOf(entry))) found.push(entry.path);
  }
  return found;
}

function binsIn(text: string): string[] {
  try {
    const { bin } = JSON.parse(text) as { readonly bin?: unknown };
    const all = typeof bin === "object" && bin !== null ? Object.values(bin) : [bin];
    return all.filter((path): path is string => typeof path === "string");
  } catch {
    return [];
  }
}
