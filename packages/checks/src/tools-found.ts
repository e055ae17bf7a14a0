import type { CheckFiles, Place } from "@holdfast/runtime";
import type { Workplace } from "./inputs.ts";
import type { Named } from "./named.ts";
import { unwrap } from "./programs.ts";
import { below, folderOf, nameOf, resolvePath } from "./paths.ts";
import { simpleCommands } from "./shell-words.ts";
import { userFiles } from "./toolchains.ts";

/** Programs that nearly every check comes to, whatever its command names. */
const usual = ["bash", "env", "git", "make", "node", "npm", "npx", "perl", "prove", "python", "python3", "sh"];
const plainName = /^[\w.+-]+$/;

/** Where the programs of a check are found outside the workspace, and what of the user's home reaches into it. */
export interface FoundTools {
  /** Signatures by absolute path. */
  readonly signatures: Readonly<Record<string, string>>;
  /** Names of the programs that were looked for. */
  readonly names: ReadonlySet<string>;
}

export async function findTools(files: CheckFiles, workplace: Workplace, named: readonly Named[], manifest: string): Promise<FoundTools> {
  const { programFolders = [], userFolder = null, roots } = workplace;
  const names = new Set(usual);
  for (const { text } of named) {
    for (const words of simpleCommands(text)) {
      const [program = ""] = unwrap(words);
      if (plainName.test(program)) names.add(program);
    }
  }
  // What lies in the workspace is in scope or signed as ignored.
  const outside = programFolders.filter((folder) => folder.startsWith("/") && !roots.some((root) => below(root.path, folder) !== null));
  const places: Place[] = outside.flatMap((folder) => [...names].map((name) => ({ root: "", path: `${folder}/${name}` })));
  if (userFolder !== null) for (const path of userFiles) places.push({ root: "", path: `${userFolder}/${path}` });
  for (const path of await leadingOut(files, workplace, manifest)) places.push({ root: "", path });
  return { signatures: Object.fromEntries(await files.sign(places)), names };
}

/** Where links in scope lead outside the workspace: no digest covers what is there. */
async function leadingOut(files: CheckFiles, { roots }: Workplace, manifest: string): Promise<string[]> {
  const targets: string[] = [];
  for (const entry of await files.list(manifest)) {
    const root = roots.find(({ id }) => id === entry.root)?.path;
    if (entry.kind !== "link" || root === undefined) continue;
    const bytes = await files.content(manifest, entry);
    const folder = folderOf(entry.path);
    const target = bytes === null ? null : resolvePath(folder === "" ? root : `${root}/${folder}`, new TextDecoder().decode(bytes));
    if (target === null) continue;
    const path = target.startsWith("/") ? target : `/${target}`;
    if (!roots.some((one) => below(one.path, path) !== null)) targets.push(path);
  }
  return targets;
}

/** Paths of tools that changed, came or went. What only other checks use doesn't count. */
export function changedTools(before: Readonly<Record<string, string>>, now: FoundTools): string[] {
  const changed = Object.entries(now.signatures).flatMap(([path, signature]) => (before[path] === signature ? [] : [path]));
  const gone = Object.keys(before).filter(
    (path) => now.signatures[path] === undefined && (now.names.has(nameOf(path)) || userFiles.some((file) => path.endsWith(`/${file}`))),
  );
  return [...changed, ...gone].sort();
}
