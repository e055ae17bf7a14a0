import { addFact, addNeed, type Findings, type Judge } from "../facts/fact.ts";
import { literalWord, type ShellWord } from "../shell/command.ts";
import { operandsOf, optionValues } from "../shell/options.ts";

/** What a sed script does besides working on its lines. */
interface SedActions {
  readonly runs: boolean;
  readonly written: readonly string[];
  readonly read: readonly string[];
  /** True where it deletes every line. */
  readonly empties: boolean;
}

/** A bracket is taken whole where it closes, and never tried another way: else time doubles with each. */
const address =
  /^(?:\d+(?:~\d+)?|[$+~]\d*|\/(?:\\.|(?=(?<piece>\[[^\]\n]{1,100}\]|[^/\\\n]))\k<piece>)*\/[IM]*|\\(?<mark>.)(?:(?!\k<mark>)[^\n])*\k<mark>[IM]*)/;
const substitution = /^s([^\n\\])(?:\\[\s\S]|(?!\1)[^\n\\])*\1(?:\\[\s\S]|(?!\1)[^\\])*\1([gpiImMe\d]*)(?:w[ \t]*([^\n]*))?/;
const transliteration = /^y([^\n\\])(?:\\.|(?!\1)[^\n\\])*\1(?:\\.|(?!\1)[^\n\\])*\1/;

/** Reads a script as far as it can; a command that isn't known is taken to end with its line. */
function actionsOf(script: string): SedActions {
  const written: string[] = [];
  const read: string[] = [];
  let runs = false;
  let rest = script;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const found = pattern.exec(rest);
    if (found !== null) rest = rest.slice(found[0].length);
    return found;
  };
  while (rest !== "") {
    take(/^[\s;{}!]+/);
    if (take(address) !== null) {
      take(/^\s*,\s*/);
      continue;
    }
    const replaced = take(substitution);
    if (replaced !== null) {
      runs ||= replaced[2]!.includes("e");
      if (replaced[3] !== undefined) written.push(replaced[3].trim());
      continue;
    }
    if (take(transliteration) !== null || take(/^[=dDgGhHnNpPxzF]/) !== null) continue;
    // The text that these put in, and the names that these give, go on to the end of the line.
    if (take(/^[aic](?:[^\n\\]|\\[\s\S])*/) !== null) continue;
    const named = take(/^([wWrRe])[ \t]*([^\n]*)/);
    if (named === null) {
      if (take(/^[^\n;]*/)![0] === "") rest = rest.slice(1);
    } else if (named[1] === "e") runs = true;
    else (/w/i.test(named[1]!) ? written : read).push(named[2]!.trim());
  }
  return { runs, written, read, empties: /^\s*(?:1,\$)?\s*d\s*;?\s*$/.test(script) };
}

const valued = ["-e", "-f", "-l", "--expression", "--file", "--line-length"];

/** Edits in place only with its option, else a reader. */
const sed: Judge = (call, findings) => {
  const { args } = call;
  const isInPlace = args.some((word) => /^-[nErsuz]*i|^--i/.test(word.literal ?? ""));
  const given = optionValues(args, ["-e", "--expression"], "fil");
  const hasScript = given.length > 0 || optionValues(args, ["-f", "--file"], "eil").length > 0;
  const operands = operandsOf(args, valued, false);
  const scripts = hasScript ? given : operands.slice(0, 1);
  const actions = scripts.map((script) => actionsOf(script.literal ?? ""));
  if (isInPlace) {
    const use = actions.some(({ empties }) => empties) ? "truncate" : "write";
    for (const word of hasScript ? operands : operands.slice(1)) addNeed(findings, use, word);
  }
  for (const each of actions) judgeActions(each, call.text, findings);
};

function judgeActions({ runs, written, read }: SedActions, text: string, findings: Findings): void {
  if (runs) addFact(findings, "inline_code", `${text}: sed's e runs a program`);
  for (const path of written) if (!/^\/dev\/std(?:out|err)$/.test(path)) addNeed(findings, "write", literalWord(path));
  for (const path of read) if (path !== "/dev/stdin") addNeed(findings, "read", literalWord(path));
}

/** Lines that are read (`-n`) and not printed again are gone, where no copy is kept (`-i.bak`). */
function printsNothing(args: readonly ShellWord[]): boolean {
  const letters = args.flatMap(({ literal }) => /^-([a-zA-Z\d]*)$/.exec(literal ?? "")?.[1] ?? []);
  const codes = optionValues(args, ["-e", "-E"], "fIr");
  const isCopied = args.some(({ literal }) => /^-[a-hj-zA-Z\d]*i(?![neEp]*$)/.test(literal ?? ""));
  if (codes.length === 0 || isCopied || !letters.some((each) => each.includes("n")) || letters.some((each) => each.includes("p")))
    return false;
  return codes.every(({ literal }) => literal !== null && !/print|say|put|write|\bp\b|\$stdout|<</.test(literal));
}

/** Perl's and ruby's own option of the same kind. */
const editsInPlace: Judge = ({ args }, findings) => {
  const isInPlace = args.some((word) => /^-[a-zA-Z\d]*i/.test(word.literal ?? ""));
  const use = printsNothing(args) ? "truncate" : "write";
  if (isInPlace) for (const word of operandsOf(args, ["-e", "-E", "-f", "-I", "-r"], false)) addNeed(findings, use, word);
};

export const editJudges: ReadonlyMap<string, Judge> = new Map([
  ["sed", sed],
  ["gsed", sed],
  ["perl", editsInPlace],
  ["ruby", editsInPlace],
]);
