import { nameOf } from "./paths.ts";
import { given, givesCode, isInterpreter, scriptNames, shells, unwrap } from "./programs.ts";
import { simpleCommands, type Words } from "./shell-words.ts";

/** Runners that take files of tests as their arguments. */
const takesTests =
  /^(?:py\.?test|nosetests?|nose2|trial|green|ward|mocha|jest|vitest|ava|tap|tape|uvu|jasmine|qunit|cypress|playwright|karma|prove|bats|rspec|minitest|phpunit|pest|busted|run-parts|shellspec|roundup|cram|lit|ctest|parallel-test)$/;
const testModules = /^(?:pytest|unittest|nose2?|trial|green|ward|coverage)$/;
/** Flags with which an interpreter reads a script and does not run it: `bash -n`, `perl -c`, `php -l`, `node --check`. */
const onlyReads: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:sh|bash|dash|zsh|ksh)$/, /^-[a-z]*n[a-z]*$/],
  [/^(?:perl|ruby)$/, /^-[a-zA-Z]*c$/],
  [/^php$/, /^-l$/],
  [/^node$/, /^(?:-c|--check)$/],
];
const variable = /^["']?(?:\.\/)?\$\{?([A-Za-z_]\w*|[0-9@*])/;
const variables = /\$\{?([A-Za-z_]\w*|[0-9@*])/g;
const patterns = /[*?[{]/;
const mostRounds = 4;
/** Programs for which a star is no file: it is compared with, counted with, printed, or goes away. */
export const takesNoFiles: ReadonlySet<string> = new Set("[ [[ test expr let case echo printf rm mkdir rmdir unset export set".split(" "));

/** What one command runs of what it is given: all of its words, what it reads or is handed by others, or the values of variables. */
interface Call {
  readonly words: ReadonlySet<string>;
  readonly takesOthers: boolean;
  readonly names: readonly string[];
}

/** What stands in arithmetic, in the patterns of a `case` and in its like names no file, as spaces. */
export function withoutPatterns(text: string): string {
  return text
    .replace(/\$?\(\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)\)/g, (found) => (found.startsWith("$") ? "0" : ":"))
    .replace(/\bcase\b[^\n]{0,2000}?\bin\b[\s\S]{0,20000}?\besac\b/g, (arms) =>
      arms.replace(/(\bin\b|;;&?|;&)([ \t\n]*)\(?([^()\n;]*)\)/g, (_, before: string, space: string) => `${before}${space};`),
    );
}

/** Words of a text whose matches are run as tests; what other globs match is only read, compiled or listed. */
export function runWords(text: string): Set<string> {
  const statements = text
    .replace(/\\\n/g, " ")
    .replace(/\|[ \t]*\n/g, "| ")
    .split(/(?<!\\);|&&|\|\||\n|(?<![>&])&(?![>&\d])/)
    .map((line) => ({ line, commands: simpleCommands(line).flatMap(plainCommands) }));
  const functions = new Set([...text.matchAll(/(?:^|[;&|{\n]|\bfunction)[ \t]*([\w-]+)[ \t]*\([ \t]*\)/g)].map(([, name = ""]) => name));
  const run = { words: new Set<string>(), names: new Set<string>() };
  for (let round = 0, before = -1; round < mostRounds && before !== run.names.size + run.words.size; round += 1) {
    before = run.names.size + run.words.size;
    for (const { line, commands } of statements) {
      const isPositional = [...run.names].some((name) => /^[0-9@*]$/.test(name));
      const calls = commands.map((words) => callOf(words, isPositional ? functions : new Set()));
      const isFed = calls.some(({ takesOthers }) => takesOthers) || setOf(line).some((name) => run.names.has(name));
      const isList = [...line.matchAll(/(?<![0-9&])>>?[ \t]*["']?([\w./$-]+)/g)].some(([, file = ""]) => run.words.has(file));
      for (const [at, words] of commands.entries()) {
        for (const name of calls[at]?.names ?? []) run.names.add(name);
        for (const word of words) {
          if (!isFed && !isList && calls[at]?.words.has(word) !== true) continue;
          run.words.add(word);
          for (const [, name = ""] of isFed ? word.matchAll(variables) : []) run.names.add(name);
        }
      }
    }
  }
  return run.words;
}

/** Without what stands before it in a loop; what `find -exec` executes is a command of its own. */
function plainCommands(words: Words): Words[] {
  const at = words.findIndex((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word));
  const end = words.findIndex((word, index) => index > at && (word === ";" || word === "+"));
  const executed = at > 0 ? words.slice(at + 1, end < 0 ? undefined : end) : [];
  return [words, executed].map((one) => given(unwrap(one))).filter(({ length }) => length > 0);
}

/** Variables whose values a line sets. */
function setOf(line: string): string[] {
  const set =
    /(?:^|[\s;|({])(?:for|select)[ \t]+(\w+)[ \t]+in\b|\b(?:mapfile|readarray)\b[^|;]*?[ \t](\w+)[ \t]*(?:<|$)|(?:^|[\s;])(\w+)\+?=/g;
  const found = [...line.matchAll(set)].flatMap(([, one, two, three]) => one ?? two ?? three ?? []);
  const read = /\bread\b([^|;<]*)/.exec(line)?.[1] ?? "";
  return [...found, ...(read.match(/(?<![-\w])[A-Za-z_]\w*/g) ?? [])];
}

function callOf(words: Words, functions: ReadonlySet<string>): Call {
  const [first = "", ...rest] = words;
  const program = nameOf(first);
  const own = variable.exec(first)?.[1];
  const isModule = rest.indexOf("-m");
  const isTests =
    takesTests.test(program) ||
    rest.includes("--test") ||
    (/^(?:deno|bun)$/.test(program) && rest[0] === "test") ||
    (isModule >= 0 && isInterpreter(program) && testModules.test(rest[isModule + 1] ?? "")) ||
    functions.has(program) ||
    (program !== "node" && scriptNames(words).length > 0);
  // Tests that stand in the sources' own text are read there.
  if (isTests && !rest.includes("--doctest-modules"))
    return {
      words: new Set(rest),
      takesOthers: true,
      names: rest.flatMap((word) => [...word.matchAll(variables)].map(([, name = ""]) => name)),
    };
  if (first.includes("/") && patterns.test(first)) return { words: new Set([first]), takesOthers: false, names: [] };
  if (own !== undefined) return { words: new Set(), takesOthers: false, names: [own] };
  const isShell = shells.has(program);
  const reads = onlyReads.some(([name, flag]) => name.test(program) && rest.some((word) => flag.test(word)));
  if ((!isShell && !isInterpreter(program)) || reads) return { words: new Set(), takesOthers: false, names: [] };
  const code = rest.findIndex((word) => (isShell ? /^-[a-z]*c$/.test(word) : givesCode.test(word)));
  // Words behind the code of a shell are its own to run: `xargs sh -c 'sh "$1"'`.
  if (code >= 0) return { words: new Set(isShell ? rest : []), takesOthers: isShell, names: [] };
  const script = rest.find((word) => !word.startsWith("-") && word !== "run" && word !== "{}");
  if (script === undefined) return { words: new Set(), takesOthers: true, names: [] };
  const name = variable.exec(script)?.[1];
  return { words: new Set([script]), takesOthers: false, names: name === undefined ? [] : [name] };
}
