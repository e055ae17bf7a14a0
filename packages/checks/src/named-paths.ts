import { resolvePath } from "./paths.ts";

export interface NamedInput {
  readonly command: string;
  /** Where it runs, below the root. */
  readonly folder: string;
  has(path: string): boolean;
  /** An absolute path below the root it runs in, or in another one, by the name that `has` knows it by; null elsewhere. */
  inside(path: string): string | null;
  /** The root it runs in, as an absolute path. */
  readonly top: string;
  /** Programs of another version's scripts that are a part of the test; where it is not given their text says so. */
  readonly suites?: ReadonlySet<string>;
  /** All files named package.json, and project.json of Nx. */
  readonly packages: readonly string[];
  text(path: string): Promise<string | null>;
}

/** Where a line stands: its folders (more than one where it does not say which), and that of its script. */
export interface Line {
  readonly bases: readonly string[];
  readonly home: string;
  /** It stands in a script file: what it starts may be what is tested. */
  readonly isScriptFile: boolean;
  readonly isTest: boolean;
}

/** The folders that `cd` may lead to. */
export function foldersOf(word: string, line: Line, input: NamedInput): string[] {
  if (word.startsWith("/")) return [input.inside(word) ?? ""];
  const rest = afterExpansion(word);
  if (rest === null) return line.bases.flatMap((base) => resolvePath(base, word) ?? beyond(base, word, input) ?? []);
  return [...new Set([...line.bases, line.home, ""])].flatMap((base) => resolvePath(base, rest) ?? []);
}

/** What stands behind a variable that holds a folder: `$DIR/x.sh`, `$DIR`; null where it has none, or holds something else. */
function afterExpansion(word: string): string | null {
  const [, rest] = /^\$(?:\w+|\{[^{}]*\}|[0-9@*])(\/.*)?$/.exec(word) ?? [];
  if (rest === undefined && !/^\$(?:\w+|\{[^{}]*\})$/.test(word)) return null;
  return (rest ?? "").replace(/^\/+/, "");
}

/** The paths that a word may mean: itself, the value of a flag, a Python module. */
export function pathsOf(word: string, line: Line, isModule: boolean, input: NamedInput): string[] {
  const value = /^--?[\w-]+=(.+)$/.exec(word)?.[1] ?? word;
  if (value.startsWith("-") || value === "" || value === "." || value.includes("://")) return [];
  const rest = afterExpansion(value);
  if (rest !== null) {
    const paths = [...new Set([...line.bases, line.home, ""])].flatMap((base) => resolvePath(base, rest) ?? []);
    return rest === "" ? [] : paths.filter(input.has);
  }
  if (value.includes("$")) return [];
  if (value.startsWith("/")) return [input.inside(value) ?? ""].filter((path) => path !== "");
  // `tests/test_a.py::test_one` names a test in a file.
  const names = isModule
    ? [`${value.replaceAll(".", "/")}.py`, `${value.replaceAll(".", "/")}/__main__.py`]
    : [value.split("::")[0] ?? value];
  const [first, ...others] = line.bases.map((base) =>
    names.flatMap((name) => resolvePath(base, name) ?? beyond(base, name, input) ?? []).filter((path) => path !== ""),
  );
  return [...new Set([...(first ?? []), ...others.flat().filter(input.has)])];
}

/** A path that leads out of the root it runs in, into another one. */
function beyond(base: string, name: string, input: NamedInput): string | null {
  const path = resolvePath([input.top.slice(1), base].filter((one) => one !== "").join("/"), name);
  return path === null ? null : input.inside(`/${path}`);
}
