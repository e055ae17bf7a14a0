import { folderOf, resolvePath } from "../paths.ts";

const importing =
  /^(?:import|from|use|using|package|require|require_relative|include|load|source|\.)(?= |$)|^# include\b|^(?:export )?(?:const|let|var) .+? = (?:await )?(?:require|import) \( /;

/** Whether a statement, as it is compared, brings in what other files hold. */
export function isImport(text: string): boolean {
  return importing.test(text);
}

/** What a name that a file brings in stands for: the place that it is from, and its name there. */
export interface Imported {
  readonly name: string;
  readonly source: string;
  readonly original: string;
}

export function importedBy(path: string, text: string): Imported[] {
  const python = /^(?:from (.+?) )?import (.+)$/.exec(text);
  const quoted = /"([^"]+)"(?! *:)(?=[^"]*$)/.exec(text)?.[1];
  if (quoted !== undefined) {
    const source = quoted.startsWith(".") ? (resolvePath(folderOf(path), quoted) ?? quoted) : quoted.replace(/^node:/, "");
    const names = text
      .slice(0, text.lastIndexOf(`"${quoted}"`))
      .replace(/\b(?:import|from|type|const|let|var|require|await|export|use)\b/g, " ");
    return namesIn(names, source);
  }
  if (python !== null)
    return python[1] === undefined ? modulesIn(python[2] ?? "") : namesIn(python[2] ?? "", python[1].replaceAll(" ", ""));
  const plain = /^(?:use|using) ([\w :.\\]+)$/.exec(text)?.[1]?.replaceAll(" ", "");
  const name = /\w+$/.exec(plain ?? "")?.[0];
  return plain === undefined || name === undefined ? [] : [{ name, source: plain, original: name }];
}

function namesIn(text: string, source: string): Imported[] {
  return [...text.matchAll(/([\w$*]+)(?: (?:as|:) ([\w$]+))?/g)].map(([, original = "", name = original]) => ({ name, source, original }));
}

function modulesIn(text: string): Imported[] {
  return text.split(" , ").map((part) => {
    const [, module = part, name] = /^(.+?)(?: as (\w+))?$/.exec(part) ?? [];
    const source = module.replaceAll(" ", "");
    return { name: name ?? source, source, original: source };
  });
}

/** Whether a place that things were brought in from is one of these files, by its name with or without an ending. */
export function isAmong(source: string, paths: readonly string[]): boolean {
  const bare = source.includes("/") ? source.replace(/\.\w+$/, "") : source.replaceAll(".", "/").replace(/^\/+/, "");
  return paths.some((path) => [path, path.replace(/\.\w+$/, "")].some((one) => one === bare || one.endsWith(`/${bare}`)));
}
