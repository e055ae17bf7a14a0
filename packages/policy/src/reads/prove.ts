import type { ShellWord, SimpleCommand } from "../shell/command.ts";
import { programOf } from "../shell/command.ts";
import { readOptions } from "../shell/options.ts";
import { isHarmlessForReads } from "../programs/variables.ts";
import { readAwk } from "./awk-call.ts";
import { readFind } from "./find.ts";
import { readGitPaths } from "./git.ts";
import { sedOnlyPrints } from "./sed.ts";
import { readForms, versionPrograms, versionWords } from "./table.ts";

const trustedFolder = /^(?:\/usr)?(?:\/local)?\/s?bin\/[^/]+$/;

/** A program counts under its bare name, or where the system keeps it; never where a workspace could. */
export function isTrustedName(name: string): boolean {
  return !name.includes("/") || trustedFolder.test(name);
}

/**
 * The paths that a command reads, where it is proven to do nothing but read; null elsewhere. An option that isn't in the
 * tables, and any word that isn't literal, ends the proof.
 */
export function provenReads(command: SimpleCommand): ShellWord[] | null {
  if (!command.assignments.every((each) => (command.words.length === 0 ? each.value?.literal != null : isHarmlessForReads(each))))
    return null;
  if (command.words.some((word) => word.literal === null)) return null;
  const inputs = readInputs(command);
  if (inputs === null) return null;
  if (command.words.length === 0) return inputs;
  const program = command.words[0]!.literal!;
  if (!isTrustedName(program)) return null;
  if (command.isWrapper) return inputs;
  // Quoted, or behind a wrapper, they are no keywords but names of programs.
  if ((program === "[[" || program === "((") && !command.isKeyword) return null;
  const name = programOf(command.words)!;
  const read = readsOf(name, command.words.slice(1), command);
  return read === null ? null : [...inputs, ...read];
}

/** Paths behind `<`; null where a redirection writes, opens something else than a file, or holds an expansion. */
function readInputs(command: SimpleCommand): ShellWord[] | null {
  const inputs: ShellWord[] = [];
  for (const { operator, target } of command.redirects) {
    if (operator === "<<" || operator === "<<-") continue;
    if (target?.literal == null) return null;
    const text = target.literal;
    switch (operator) {
      case "<<<":
        break;
      case "<":
        if (/^\/(?:dev|proc)\//.test(text) && text !== "/dev/null" && text !== "/dev/stdin") return null;
        inputs.push(target);
        break;
      case ">&":
      case "<&":
        if (!/^(?:\d+-?|-)$/.test(text)) return null;
        break;
      case ">":
      case ">>":
      case ">|":
      case "&>":
      case "&>>":
        if (text !== "/dev/null") return null;
        break;
      default:
        return null;
    }
  }
  return inputs;
}

function readsOf(name: string, args: readonly ShellWord[], command: SimpleCommand): ShellWord[] | null {
  const texts = args.map((word) => word.literal ?? "");
  if (versionPrograms.has(name) && texts.length === 1 && versionWords.has(texts[0]!)) {
    // `-v` is a version for some and a mode for others.
    return texts[0] !== "-v" || /^(?:node|npm|npx|pnpm|yarn|php|bun)$/.test(name) ? [] : null;
  }
  switch (name) {
    case "git":
      return readGitPaths(args, command.places?.length === 1 && command.places[0] === "");
    case "find": {
      const starts = readFind(texts);
      return starts === null ? null : args.filter((word) => starts.includes(word.literal ?? ""));
    }
    case "sed":
      return readSed(args);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return readAwk(args);
    case "[":
    case "[[":
    case "test":
      return readTest(name, texts) ? [] : null;
    case "printf":
      return texts[0]?.startsWith("-") === true ? null : [];
    case "echo":
      return [];
    case "printenv":
      // Only what is known to be no secret.
      return texts.length > 0 && texts.every((text) => /^(?:HOME|USER|PWD|SHELL|LANG|TERM|NODE_ENV|CI)$/.test(text)) ? [] : null;
    case "command":
      return /^-[vV]$/.test(texts[0] ?? "") ? [] : null;
    case "set":
      return texts.length > 0 && texts.every((text) => /^[-+](?:[eux]+|o|pipefail|errexit|nounset)$|^pipefail$/.test(text)) ? [] : null;
  }
  const form = readForms.get(name);
  if (form === undefined) return null;
  const read = readOptions(args, form);
  if (read === null || form.accepts?.(read) === false) return null;
  const fromOptions = read.options.flatMap((option) =>
    option.value !== null && form.fileOptions?.includes(option.name) === true ? [option.value] : [],
  );
  const hasPattern = read.options.some((option) => form.patternOptions?.includes(option.name) === true);
  switch (form.operands) {
    case "none":
      return read.operands.length === 0 ? fromOptions : null;
    case "text":
      return fromOptions;
    case "files":
      return [...fromOptions, ...read.operands];
    case "pattern":
      return [...fromOptions, ...(hasPattern ? read.operands : read.operands.slice(1))];
    default:
      return read.operands.length <= form.operands ? [...fromOptions, ...read.operands] : null;
  }
}

function readSed(args: readonly ShellWord[]): ShellWord[] | null {
  const read = readOptions(args, {
    flags: "nErsuz",
    valued: "el",
    long: ["quiet", "silent", "regexp-extended", "expression=", "separate", "unbuffered", "null-data", "posix"],
  });
  if (read === null) return null;
  const scripts = read.options.filter((option) => option.name === "e" || option.name === "expression").map((option) => option.value);
  const files = [...read.operands];
  if (scripts.length === 0) scripts.push(files.shift() ?? null);
  return scripts.every((script) => script !== null && script.literal !== null && sedOnlyPrints(script.literal)) ? files : null;
}

/**
 * `[[ a -eq b ]]` and `-v` evaluate their operands as arithmetic: a name's value too, and a substitution that it holds runs.
 * The two operands follow their operator here.
 */
function readTest(name: string, texts: readonly string[]): boolean {
  if (texts.includes("-v") || texts.includes("-R")) return false;
  const isNumber = (text: string | undefined): boolean => text !== undefined && /^[-+]?\d+$/.test(text);
  return (
    name !== "[[" || texts.every((text, i) => !/^-(?:eq|ne|lt|le|gt|ge)$/.test(text) || (isNumber(texts[i + 1]) && isNumber(texts[i + 2])))
  );
}
