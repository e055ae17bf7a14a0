import type { Executed } from "@holdfast/runtime/ports/policy";
import { codeOptionOf } from "../programs/inline-code.ts";
import { type Places, programOf, type ShellWord, type SimpleCommand } from "../shell/command.ts";
import { parseCommand } from "../shell/parse.ts";
import { joinPath } from "../shell/places.ts";
import { shells } from "../shell/wrapper-table.ts";

/** More paths than this are not looked at one by one. */
const mostPaths = 256;

/** Variables that say which file a name means, or what a program loads before it begins. */
const steering =
  /^(?:PATH|BASH_ENV|ENV|LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP)|PERL5?(?:LIB|OPT)|RUBY(?:LIB|OPT))$/;

/**
 * The files that a line executes or names, read from its syntax tree: each command's words where it runs, with the values
 * that a variable or a brace may give them. Pure; looks at no file.
 */
export function executes(line: string, cwd: string, home: string | null): Executed {
  const { commands, problems } = parseCommand(line);
  const paths = new Set<string>();
  const programs = new Set<string>();
  let isWhole = problems.length === 0;
  for (const command of commands) {
    const spots = command.places?.map((place) => inFolder(place, cwd, home)) ?? null;
    const add = (to: Set<string>, word: ShellWord): void => {
      for (const value of valuesOf(word)) for (const path of pathsOf(value, word.fromHome, spots, cwd, home)) to.add(path);
    };
    const run = command.isKeyword ? [] : runWords(command);
    for (const word of [...command.words, ...command.redirects.flatMap(({ target }) => target ?? [])]) add(paths, word);
    for (const word of run) add(programs, word);
    const isKnown = run.every(({ literal }) => literal !== null) && (spots !== null || run.every(({ literal }) => !isRelative(literal)));
    if (!isKnown || command.assignments.some(({ name }) => steering.test(name))) isWhole = false;
  }
  if (paths.size > mostPaths) isWhole = false;
  return { paths: [...paths].slice(0, mostPaths), programs: [...programs].slice(0, mostPaths), isWhole };
}

/** Of a command's words those that name what runs: the program where it is a file, and the script or module of an interpreter. */
function runWords({ words }: SimpleCommand): ShellWord[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const own = first.literal === null || first.literal.includes("/") ? [first] : [];
  const program = programOf(words);
  const isSource = program === "source" || program === ".";
  if (program === null || !(isSource || shells.has(program) || codeOptionOf(program) !== null)) return own;
  const module = rest.findIndex(({ literal }) => literal === "-m");
  const named = rest[module + 1];
  if (module !== -1 && named !== undefined && /^python|^pypy/.test(program)) return [...own, ...modulesOf(named)];
  const at = rest.findIndex(({ literal }) => literal === null || !literal.startsWith("-"));
  return at === -1 ? own : [...own, ...rest.slice(0, at + 1).filter(({ literal }) => literal?.startsWith("-") !== true)];
}

/** Python looks for a module in the folder first. */
function modulesOf(word: ShellWord): ShellWord[] {
  if (word.literal === null) return [word];
  const path = word.literal.replaceAll(".", "/");
  const [top = path] = path.split("/");
  const files = [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`, `${top}/__init__.py`];
  return [...new Set(files)].map((file) => ({ ...word, text: file, literal: `./${file}` }));
}

function valuesOf({ literal, guesses }: ShellWord): string[] {
  const values = literal === null ? guesses : [literal];
  return values.flatMap((value) => [value, ...(/^--?[\w-]+=(.+)$/s.exec(value)?.slice(1) ?? [])]).filter((value) => isPath(value));
}

function isPath(value: string): boolean {
  return value !== "" && value.length <= 1_000 && !value.includes("\n");
}

function isRelative(literal: string | null): boolean {
  return literal !== null && !literal.startsWith("/");
}

function inFolder(place: string, cwd: string, home: string | null): string {
  return joinPath(cwd, home !== null && (place === "~" || place.startsWith("~/")) ? home + place.slice(1) : place);
}

function pathsOf(value: string, fromHome: boolean, spots: Places, cwd: string, home: string | null): string[] {
  if (fromHome && value.startsWith("~")) return home === null ? [] : [home + value.slice(1)];
  if (value.startsWith("/")) return [value];
  const plain = value.replaceAll(/(^|\/)(?:\.\/+)+/g, "$1");
  return (spots ?? [cwd]).map((spot) => joinPath(spot, plain));
}
