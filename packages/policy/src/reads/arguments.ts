import { programOf, type ShellWord, type SimpleCommand } from "../shell/command.ts";
import { type OptionTable, readOptions } from "../shell/options.ts";
import { readRunner } from "../shell/runners.ts";
import { opaqueWrappers, shells, wrapperForms } from "../shell/wrapper-table.ts";
import { fileJudges } from "../programs/files.ts";
import { interpreterJudge } from "../programs/inline-code.ts";
import { mayWrite } from "../programs/outputs.ts";
import { editJudges } from "../programs/sed.ts";
import { isRemoteShell } from "../programs/network.ts";
import { argumentForms, type ArgumentForm } from "./argument-table.ts";
import { isTrustedName, provenReads } from "./prove.ts";
import { readForms } from "./table.ts";

/**
 * True where the words from `from` on only say what a command looks at, shows or tests: nothing among them writes, runs
 * another program, or brings other settings. So who allowed the words before allowed these too. Redirections, assignments
 * and the paths that are read are judged elsewhere.
 */
export function addNothing(command: SimpleCommand, from: number): boolean {
  const words = command.words.slice(from);
  const program = programOf(command.words);
  if (program === null) return false;
  if (words.length === 0) return true;
  const ran = readRunner(program, command.words)?.inner ?? [];
  const before = command.words.length - ran.length;
  if (ran.length > 0 && from > before) return addNothing({ ...command, words: ran }, from - before);
  if (!isTrustedName(command.words[0]!.literal!)) return words.every(isPlainOperand);
  // Whatever its words are, they are only shown, or named.
  if (program === "echo" || program === "ls") return true;
  if (program === "printf" && command.words[1]?.literal?.startsWith("-") === false) return true;
  const known = command.words.map((word) => withPlainGlob(word, harmlessOptions.has(program)));
  if (known.includes(null)) return false;
  const plain = { ...command, words: known as ShellWord[], redirects: [], assignments: [] };
  if (provenReads(plain) !== null) return true;
  const form = formOf(plain.words, from);
  if (form !== null) return fits(plain.words.slice(from), form);
  return (
    !readForms.has(program) &&
    !takesCode(program, plain.words) &&
    !command.isPiped &&
    command.hereText === null &&
    words.every(isPlainOperand)
  );
}

/** The form with the most words that a rule's words begin with. */
function formOf(words: readonly ShellWord[], from: number): ArgumentForm | null {
  const texts = words.map((word) => word.literal ?? "");
  texts[0] = programOf(words)!;
  for (let length = Math.min(3, from); length > 0; length--) {
    const form = argumentForms.get(texts.slice(0, length).join(" "));
    if (form !== undefined) return form;
  }
  return null;
}

function fits(words: readonly ShellWord[], form: ArgumentForm): boolean {
  const end = form.after === undefined ? -1 : words.findIndex((word) => word.literal === "--");
  const own = end < 0 ? words : words.slice(0, end);
  if (end >= 0 && !fitsTable(words.slice(end + 1), form.after!)) return false;
  return fitsTable(own, form);
}

function fitsTable(words: readonly ShellWord[], form: Omit<ArgumentForm, "after">): boolean {
  const read = readOptions(words, form satisfies OptionTable);
  if (read === null) return false;
  const values = read.options.every(({ name, value }) => {
    const pattern = form.values?.[name];
    return value === null || (value.literal !== null && (pattern === undefined || pattern.test(value.literal)));
  });
  return (
    values &&
    read.operands.every((word, i) => word.literal !== null && (i === 0 ? (form.first ?? form.operands) : form.operands).test(word.literal))
  );
}

/** Programs whose operands are code, another command, or what is written. */
function takesCode(program: string, words: readonly ShellWord[]): boolean {
  return (
    shells.has(program) ||
    wrapperForms.has(program) ||
    opaqueWrappers.has(program) ||
    /^(?:xargs|eval|source|\.|exec|trap|watch|find|fd|make|gmake|just|task|rake|git|npm|pnpm|yarn|bun|cargo|go|docker|podman|kubectl)$/.test(
      program,
    ) ||
    interpreterJudge(program) !== null ||
    fileJudges.has(program) ||
    editJudges.has(program) ||
    mayWrite(program) ||
    isRemoteShell(program) ||
    readRunner(program, words) !== null
  );
}

/** Readers without any option that writes or runs something, so that a glob may expand to whatever it likes. */
const harmlessOptions = new Set(
  "cat head wc nl tac grep egrep fgrep cut stat du md5sum sha1sum sha256sum basename dirname realpath".split(" "),
);

/** A name, a number or a path inside: no option, no setting, no address, nothing that leaves the folder. */
function isPlainOperand(word: ShellWord): boolean {
  return word.literal !== null && /^\w[\w.@:+/-]*$/.test(word.literal) && !/\.\.|:\/\/|@.*:/.test(word.literal);
}

/**
 * A word whose only unknown is what its globs match, as a literal; null where it may expand to an option, as `*` does where
 * a file is called `--pre=x`.
 */
function withPlainGlob(word: ShellWord, mayBeOption: boolean): ShellWord | null {
  if (word.literal !== null) return word;
  if (word.pattern === null || !(mayBeOption || startsPlain(word.pattern))) return null;
  return { ...word, literal: word.pattern, guesses: [word.pattern] };
}

function startsPlain(pattern: string): boolean {
  const set = /^\[([^!^\]-][^\]]*)\]/.exec(pattern)?.[1];
  if (set === undefined) return /^[\w./~@]/.test(pattern);
  return /^(?:\w-\w|\w)+$/.test(set);
}
