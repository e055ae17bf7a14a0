import { folderOf, resolvePath } from "../paths.ts";
import { endOf, isName, isText, type Said } from "./words.ts";

/** What a name that a file brings in stands for: the place that it is from, and its name there. */
export interface Imported {
  readonly name: string;
  readonly source: string;
  readonly original: string;
}

export interface Imports {
  readonly names: readonly Imported[];
  /** Places of which all names are taken in, and may hide those that the file had. */
  readonly hiding: readonly string[];
  /** Places of which all names are taken in, where two of one name are a fault. */
  readonly open: readonly string[];
  /** What is only run. */
  readonly run: readonly string[];
}

type Reader = (words: readonly string[], path: string) => Partial<Imports>;

const readers: readonly (readonly [file: RegExp, reader: Reader])[] = [
  [/\.(?:[cm]?[jt]sx?|vue|svelte)$/, scriptImports],
  [/\.pyi?$/, pythonImports],
  [/\.(?:java|kts?|groovy|scala)$/, dottedImports],
  [/\.go$/, goImports],
  [/\.(?:rs|php)$/, treeImports],
  [/\.cs$/, sharpImports],
  [/\.exs?$/, elixirImports],
  [/\.(?:pl|pm|t)$/, perlImports],
  [/\.(?:rb|sh|bash|zsh|bats)$/, runImports],
];

export function importedBy(path: string, { text, words }: Said): Imports {
  const reader = readers.find(([file]) => file.test(path))?.[1];
  return { names: [], hiding: [], open: [], run: [], ...(reader?.(words, path) ?? { open: [text] }) };
}

function valueOf(text: string): string {
  return text.replace(/^"?["'`]|["'`]$/g, "");
}

/** `a`, `a as b`, `a: b`. */
function listed(words: readonly string[], source: string, join: RegExp): Imported[] {
  const names: Imported[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const original = words[at] ?? "";
    if (!isName(original)) continue;
    const other = join.test(words[at + 1] ?? "") ? words[at + 2] : undefined;
    names.push({ name: isName(other) ? (other ?? "") : original, source, original });
    if (other !== undefined) at += 2;
  }
  return names;
}

function scriptImports(words: readonly string[], path: string): Partial<Imports> {
  const at = words.findLastIndex((word, index) => isText(word) && /^(?:from|import|\()$/.test(words[index - 1] ?? ""));
  const quoted = valueOf(words[at] ?? "");
  const place = quoted.startsWith(".") ? (resolvePath(folderOf(path), quoted) ?? quoted) : quoted.replace(/^node:/, "");
  const source = quoted.startsWith(".") ? place.replace(/\.[cm]?[jt]sx?$/, "") : place;
  const said = words.slice(0, at).filter((word) => !/^(?:export|import|from|const|let|var|require|await|type)$/.test(word));
  const open = said.indexOf("{");
  const end = open < 0 ? 0 : endOf(said, open);
  const inside = open < 0 ? [] : said.slice(open, end);
  const whole = (open < 0 ? said : [...said.slice(0, open), ...said.slice(end)]).filter((word) => isName(word) && word !== "as");
  const names = [...listed(inside, source, /^(?:as|:)$/), ...whole.map((name) => ({ name, source, original: "default" }))];
  return names.length === 0 ? { run: [source] } : { names };
}

function pythonImports(words: readonly string[]): Partial<Imports> {
  const at = words.indexOf("import");
  if (words[0] === "from") {
    const source = words.slice(1, at).join("");
    return words[at + 1] === "*" ? { hiding: [source] } : { names: listed(words.slice(at + 1), source, /^as$/) };
  }
  const names = splitBy(words.slice(1), ",").map((part) => {
    const as = part.indexOf("as");
    const source = part.slice(0, as < 0 ? part.length : as).join("");
    return { name: as < 0 ? source : (part[as + 1] ?? ""), source, original: source };
  });
  return { names };
}

function splitBy(words: readonly string[], sign: string): string[][] {
  const parts: string[][] = [[]];
  for (const word of words) {
    if (word === sign) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

function dottedImports(words: readonly string[]): Partial<Imports> {
  const said = words.filter((word) => word !== "import" && word !== "static");
  const open = said.indexOf("{");
  if (open >= 0) return { names: listed(said.slice(open), said.slice(0, open - 1).join(""), /^as$/) };
  const as = said.indexOf("as");
  const full = as < 0 ? said : said.slice(0, as);
  const source = full.slice(0, -2).join("");
  const original = full.at(-1) ?? "";
  return original === "*" || original === "_"
    ? { open: [source] }
    : { names: [{ name: as < 0 ? original : (said[as + 1] ?? ""), source, original }] };
}

function goImports(words: readonly string[]): Partial<Imports> {
  const names: Imported[] = [];
  const hiding: string[] = [];
  const run: string[] = [];
  for (const [at, word] of words.entries()) {
    if (!isText(word)) continue;
    const source = valueOf(word);
    const before = words[at - 1] ?? "";
    const last =
      source
        .replace(/\/v\d+$/, "")
        .split("/")
        .at(-1) ?? "";
    if (before === ".") hiding.push(source);
    else if (before === "_") run.push(source);
    else names.push({ name: isName(before) && before !== "import" ? before : last, source, original: source });
  }
  return { names, hiding, run };
}

/** `use a::{b, c as d}`, `use A\{B, C}`. */
function treeImports(words: readonly string[]): Partial<Imports> {
  if (/^(?:require|include)/.test(words[0] ?? "")) return { run: [words.slice(1).join(" ")] };
  const names: Imported[] = [];
  const hiding: string[] = [];
  const walk = (from: readonly string[], source: string): void => {
    const open = from.indexOf("{");
    const parts = open < 0 ? splitBy(from, ",") : [];
    if (open >= 0) {
      const inside = from.slice(open + 1, endOf(from, open) - 1);
      const before = splitBy(from.slice(0, open), ",");
      for (const part of before.slice(0, -1)) walk(part, source);
      walk(inside, source + (before.at(-1) ?? []).join(""));
      const after = from.slice(endOf(from, open) + 1);
      if (after.length > 0) walk(after, source);
    }
    for (const part of parts) {
      if (part.length === 0) continue;
      const as = part.indexOf("as");
      const full = as < 0 ? part : part.slice(0, as);
      const original = full.at(-1) ?? "";
      const place = source + full.slice(0, -1).join("");
      if (original === "*") hiding.push(place);
      else names.push({ name: as < 0 ? original : (part[as + 1] ?? ""), source: place, original });
    }
  };
  walk(
    words.filter((word) => !/^(?:use|function|const)$/.test(word)),
    "",
  );
  return { names, hiding };
}

function sharpImports(words: readonly string[]): Partial<Imports> {
  const said = words.filter((word) => !/^(?:global|using|static)$/.test(word));
  if (said.includes("(") || said[0] === "var") return {};
  const source = said.slice(said[1] === "=" ? 2 : 0).join("");
  return said[1] === "=" ? { names: [{ name: said[0] ?? "", source, original: source }] } : { open: [source] };
}

function elixirImports(words: readonly string[]): Partial<Imports> {
  const comma = words.indexOf(",");
  const full = words.slice(1, comma < 0 ? words.length : comma);
  const source = full.join("");
  if (words[0] === "import") return { open: [words.slice(1).join("")] };
  const as = words.indexOf("as", comma);
  const name = comma >= 0 && as >= 0 ? words[as + 2] : full.at(-1);
  return { names: [{ name: name ?? "", source, original: source }] };
}

function perlImports(words: readonly string[]): Partial<Imports> {
  const list = words.findIndex((word, at) => at > 1 && (word === "qw" || isText(word) || word === "tests"));
  const source = words.slice(1, list < 0 ? words.length : list).join("");
  if (source === "lib" || words[0] !== "use") return { run: [words.slice(1).join(" ")] };
  const given =
    list < 0 || words[list] === "tests"
      ? []
      : words
          .slice(list)
          .map(valueOf)
          .filter((word) => isName(word) && word !== "qw");
  return given.length === 0 ? { open: [source] } : { names: given.map((name) => ({ name, source, original: name })) };
}

/** Ruby and shells bring in no names that can be told. */
function runImports(words: readonly string[]): Partial<Imports> {
  const what = words.slice(1).join(" ");
  return words[0] === "require" || words[0] === "include" || words[0] === "using" ? { open: [what] } : { run: [what] };
}
