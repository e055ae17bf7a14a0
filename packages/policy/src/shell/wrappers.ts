import { programOf, type ShellAssignment, type ShellWord, literalWord, unknownWord } from "./command.ts";
import { asWords, hidden, type Inner, type Input, isInput, lineOf, nothing, type Unwrapped } from "./inner.ts";
import { cutWord, optionValues, readOptions, roughOperands } from "./options.ts";
import { subcommands } from "../programs/git.ts";
import { onlyName } from "../reads/find.ts";
import { readRunner } from "./runners.ts";
import { linesByOption } from "./runs-by-option.ts";
import { readsScript } from "./script-input.ts";
import { unwrapGit } from "./unwrap-git.ts";
import { opaqueWrappers, shells, wrapperForms } from "./wrapper-table.ts";

/** Takes one layer off a command. Null where it is no wrapper and runs nothing else. */
export function unwrap(words: readonly ShellWord[], input: Input): Unwrapped | null {
  const program = programOf(words);
  if (program === null) return null;
  const args = words.slice(1);
  const whole = unwrapWhole(program, words, args, input);
  const lines = linesByOption(program, args).map((line) => lineOf(line, program));
  return lines.length === 0 ? whole : { ...(whole ?? nothing), inner: [...(whole?.inner ?? []), ...lines], isTransparent: false };
}

function unwrapWhole(program: string, words: readonly ShellWord[], args: readonly ShellWord[], input: Input): Unwrapped | null {
  if (shells.has(program)) return unwrapShell(program, args, input);
  const form = wrapperForms.get(program);
  if (form !== undefined) return unwrapForm(program, args);
  switch (program) {
    case "eval":
      return unwrapEval(args);
    case "source":
    case ".":
      return unwrapSource(args, input);
    case "trap":
      return unwrapTrap(args);
    case "alias":
      return unwrapAlias(args);
    case "xargs":
      return unwrapXargs(args);
    case "find":
    case "gfind":
      return unwrapFind(args);
    case "fd":
    case "fdfind":
      return unwrapFd(args);
    case "git":
      return unwrapGit(args);
    case "watch":
      return unwrapWatch(args);
    case "script":
      return unwrapScript(args);
    // bash evaluates a callback, or an expression that may hold a substitution, given as plain text.
    case "mapfile":
    case "readarray":
    case "complete":
    case "compgen":
    case "bind":
    case "enable":
    case "hash":
      return args.some((word) => word.literal === null || /^-\w*[CFxfp]/.test(word.literal))
        ? hidden(`${program} with code given as data`)
        : null;
    case "let":
    case "unset":
    case "read":
    case "declare":
    case "typeset":
    case "local":
    case "printf":
    case "test":
    case "[":
    case "[[":
      return unwrapSubscripts(program, args, input);
    // Positional parameters are values too.
    case "set":
      return args.some(holdsCommand) ? hidden("set with a value that holds a command") : null;
  }
  const other = underOtherName(program, args);
  if (other !== null) return { ...nothing, inner: [asWords(other)] };
  if (readsScript(program, args, input)) return hidden(`${program} runs what it reads as its input`);
  const runner = readRunner(program, words);
  if (runner !== null) {
    const inner: Inner[] = runner.line === null ? [asWords(runner.inner)] : [lineOf(runner.line, program)];
    return { inner: runner.inner.length === 0 && runner.line === null ? [] : inner, isTransparent: false, losesPlace: false };
  }
  if (opaqueWrappers.has(program) && args.length > 0) return hidden(`${program} runs a command that can't be told apart`);
  return null;
}

/** Text that runs a command when bash works it out as a number: `a[$(id)]`. */
export function holdsCommand(word: ShellWord): boolean {
  return [word.literal ?? "", ...word.guesses].some((value) => /\w\[[\s\S]*(?:\$\(|`|\$\{[\s|])/.test(value));
}

/** `[ -v 'a[$(id)]' ]` and its like run the substitution although the shell was given plain text. */
function unwrapSubscripts(program: string, args: readonly ShellWord[], input: Input): Unwrapped | null {
  if (program === "printf" && args[0]?.literal !== "-v") return null;
  if (program === "read" && input.hereText !== null && holdsCommand(literalWord(input.hereText)))
    return hidden("read of a value that holds a command");
  return args.some((word) => word.literal !== null && /\[[^\]]*(?:\$\(|`|\$\{)/.test(word.literal))
    ? hidden(`${program} evaluates a subscript that holds a command`)
    : null;
}

/** `git-push`, `coreutils --coreutils-prog=rm`, and package managers by the file that node runs: the words that are usually written. */
function underOtherName(program: string, args: readonly ShellWord[]): readonly ShellWord[] | null {
  const subcommand = program.startsWith("git-") ? program.slice(4) : "";
  if (subcommands.has(subcommand)) return [literalWord("git"), literalWord(subcommand), ...args];
  const tool = program === "coreutils" ? /^--coreutils-prog=(.+)$/.exec(args[0]?.literal ?? "")?.[1] : undefined;
  if (tool !== undefined) return [literalWord(tool), ...args.slice(1)];
  if (program !== "node" && program !== "nodejs") return null;
  const at = args.findIndex(({ literal }) => literal?.startsWith("-") !== true);
  const manager = /(?:^|\/)(npm|npx|yarn|pnpm|corepack)(?:-cli)?(?:\.c?js)?$/.exec(args[at]?.literal ?? "")?.[1];
  return manager === undefined ? null : [literalWord(manager), ...args.slice(at + 1)];
}

function unwrapForm(program: string, args: readonly ShellWord[]): Unwrapped | null {
  const form = wrapperForms.get(program)!;
  if (program === "command" && args.some((word) => /^-\w*[vV]/.test(word.literal ?? ""))) return null;
  if (args.length === 1 && (args[0]!.literal === "--help" || args[0]!.literal === "--version")) return null;
  const read = readOptions(args, form.options);
  if (read === null) return hidden(`${program} with options that aren't known`);
  const lines = read.options.filter((option) => form.lines?.includes(option.name) === true);
  const inner: Inner[] = lines.map((option) => (option.value === null ? { type: "hidden", what: program } : lineOf(option.value, program)));
  const losesPlace = read.options.some((option) => ["C", "chdir", "D", "chroot"].includes(option.name));
  const movesTo = read.options.findLast((option) => ["C", "chdir", "D"].includes(option.name))?.value ?? undefined;
  const words = read.operands.slice(form.operands ?? 0);
  // What follows is appended to the line: `env -S 'rm -r' src`.
  if (lines.length > 0 && program === "env" && words.length > 0) return hidden("env -S with more words");
  // flock takes its -c after the file.
  if (program === "flock" && words[0]?.literal === "-c" && words[1] !== undefined) {
    return { inner: [lineOf(words[1], program)], isTransparent: false, losesPlace: false };
  }
  const assignments: ShellAssignment[] = [];
  while (form.takesAssignments === true && words[0] !== undefined && /^["']?[A-Za-z_]\w*=/.test(words[0].text)) {
    const word = words.shift()!;
    const name = word.text.replace(/^["']/, "").split("=", 1)[0]!;
    assignments.push({ name, value: cutWord(word, name.length + 1) });
  }
  if (form.takesLines === true) inner.push(...words.map((word) => lineOf(word, program)));
  else if (words.length > 0) inner.push(asWords(words, assignments));
  else if (assignments.length === 0 && inner.length === 0) return null;
  const isOpaque = read.options.some((option) => form.opaque?.includes(option.name) === true);
  return {
    inner,
    isTransparent: form.isTransparent && !isOpaque && words.length > 0,
    losesPlace,
    ...(movesTo !== undefined && { movesTo }),
  };
}

/** fish takes several lines, in long options too. Null where `args[at]` is none. */
function fishLine(args: readonly ShellWord[], at: number): Unwrapped | null {
  const { literal } = args[at]!;
  if (!/^(?:-[a-zA-Z]*[cC]|--(?:c|i)[\w-]*(?:=|$))/.test(literal ?? "")) return null;
  const lines = optionValues(args, ["-c", "-C", "--command", "--init-command"]);
  if (lines.length === 0) return hidden("fish with code in an option");
  return { inner: lines.map((line) => lineOf(line, "fish")), isTransparent: false, losesPlace: false };
}

/** Its language is another one, and so are its options. */
function unwrapPowershell(args: readonly ShellWord[], input: Input): Unwrapped {
  const asks = args.length > 0 && args.every((word) => /^--?(?:v(?:ersion)?|h(?:elp)?|\?)$/i.test(word.literal ?? ""));
  // A script of the workspace is a program like any other.
  const script = args.findIndex((word) => /\.ps1$/i.test(word.literal ?? ""));
  const runsScript =
    script >= 0 && args.slice(0, script).every((word) => /^-(?:nop\w*|nol\w*|noni\w*|f(?:ile)?)$/i.test(word.literal ?? ""));
  return asks || runsScript || (args.length === 0 && !input.isPiped && input.hereText === null && !input.hasUnknownHere)
    ? nothing
    : hidden("pwsh runs code of another language");
}

function unwrapShell(program: string, args: readonly ShellWord[], input: Input): Unwrapped {
  if (program === "pwsh" || program === "powershell") return unwrapPowershell(args, input);
  // Under -n nothing runs, until `+n`; a -c string is judged in any case.
  let onlyChecks = false;
  for (let i = 0; i < args.length; i++) {
    const text = args[i]!.literal;
    if (text === null) {
      const isOperand = onlyChecks && args.slice(i + 1).every((word) => !/^[-+]/.test(word.text));
      return isOperand ? nothing : hidden(`${program} runs what only exists at run time`);
    }
    if (text === "--version" || text === "--help") return { ...nothing };
    const told = program === "fish" ? fishLine(args, i) : null;
    if (told !== null) return told;
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(text)) {
      const line = args.slice(i + 1).find((word) => word.literal === null || !/^[-+][a-zA-Z]+$/.test(word.literal));
      if (line === undefined) return hidden(`${program} -c without text`);
      // A login or interactive shell reads start-up files first.
      const isPlain = /^-[euxc]+$/.test(text) && i === 0 && line === args[1];
      return { inner: [lineOf(line, program)], isTransparent: isPlain, losesPlace: false };
    }
    if (text === "-o" || text === "+o" || text === "-O" || text === "+O") i++;
    else if (text === "--rcfile" || text === "--init-file") return hidden(`${program} with another start-up file`);
    else if (text === "-s" || text === "-" || isInput.test(text)) break;
    else if (!/^[-+]/.test(text)) return nothing;
    else onlyChecks = /^-[a-zA-Z]*n[a-zA-Z]*$/.test(text) || (onlyChecks && !/^\+[a-zA-Z]*n[a-zA-Z]*$/.test(text));
  }
  if (onlyChecks) return nothing;
  if (input.hereText !== null)
    return { inner: [{ type: "line", line: literalWord(input.hereText) }], isTransparent: false, losesPlace: false };
  if (input.isPiped || input.hasUnknownHere) return hidden(`${program} runs what another command prints`);
  return nothing;
}

function unwrapEval(args: readonly ShellWord[]): Unwrapped {
  const words = args[0]?.literal === "--" ? args.slice(1) : args;
  if (words.length === 0) return nothing;
  if (words.some((word) => word.literal === null)) return hidden("eval of text that only exists at run time");
  return {
    inner: [{ type: "line", line: literalWord(words.map((word) => word.literal).join(" ")) }],
    isTransparent: true,
    losesPlace: false,
  };
}

/** A script file of the workspace is an ordinary program; anything else that is sourced can't be read beforehand. */
function unwrapSource(args: readonly ShellWord[], input: Input): Unwrapped | null {
  const file = args.find((word) => word.literal !== "--");
  if (file === undefined) return null;
  if (file.literal === null && file.pattern === null && !/^["']?\$\{?\w+\}?["']?\//.test(file.text)) {
    return hidden("source of what only exists at run time");
  }
  if (!isInput.test(file.literal ?? "")) return null;
  return input.hereText === null
    ? hidden("source of its input")
    : { ...nothing, inner: [{ type: "line", line: literalWord(input.hereText) }] };
}

function unwrapTrap(args: readonly ShellWord[]): Unwrapped | null {
  const words = roughOperands(args);
  if (words.length < 2 || words[0]!.literal === "" || words[0]!.literal === "-") return null;
  return { inner: [lineOf(words[0]!, "trap")], isTransparent: false, losesPlace: false };
}

/** What an alias stands for runs wherever its name is written. */
function unwrapAlias(args: readonly ShellWord[]): Unwrapped | null {
  const inner = args.flatMap((word): Inner[] => {
    const at = word.text.indexOf("=");
    return at <= 0 ? [] : [lineOf(cutWord(word, at + 1), "alias")];
  });
  return inner.length === 0 ? null : { inner, isTransparent: false, losesPlace: false };
}

const xargsOptions = {
  flags: "0rtpxo",
  valued: "adEILnPs",
  long: [
    "null",
    "no-run-if-empty",
    "verbose",
    "interactive",
    "exit",
    "arg-file=",
    "delimiter=",
    "replace=?",
    "max-args=",
    "max-procs=",
    "max-lines=?",
    "max-chars=",
    "open-tty",
    "process-slot-var=",
  ],
  stopsAtOperand: true,
};

/** What xargs appends or replaces isn't known beforehand, so neither are the words of what it runs. */
function unwrapXargs(args: readonly ShellWord[]): Unwrapped | null {
  const read = readOptions(args, xargsOptions);
  if (read === null) return hidden("xargs with options that aren't known");
  if (read.operands.length === 0) return null;
  const replace = read.options.find((option) => option.name === "I" || option.name === "replace");
  const mark = replace === undefined ? null : (replace.value?.literal ?? "{}");
  return { inner: [asWords(withUnknown(read.operands, mark))], isTransparent: false, losesPlace: false };
}

function withUnknown(words: readonly ShellWord[], mark: string | null): ShellWord[] {
  if (mark === null) return [...words, unknownWord];
  return words.map((word) => (word.text.includes(mark) ? { ...unknownWord, text: word.text } : word));
}

function unwrapFind(args: readonly ShellWord[]): Unwrapped | null {
  const inner: Inner[] = [];
  let losesPlace = false;
  const texts = args.map((word) => word.literal ?? "");
  const starts = args.slice(
    0,
    args.findIndex((word) => /^[-(!]/.test(word.text)),
  );
  const name = starts.every(({ literal }) => literal !== null && !/^[/~]|\.\./.test(literal)) ? onlyName(texts) : null;
  for (let i = 0; i < args.length; i++) {
    const text = args[i]!.literal;
    if (text === null || !/^-(?:exec|execdir|ok|okdir)$/.test(text)) continue;
    losesPlace ||= text.endsWith("dir");
    const rest = args.slice(i + 1);
    const end = rest.findIndex((word, at) => word.literal === ";" || (word.literal === "+" && rest[at - 1]?.literal === "{}"));
    const words = rest.slice(0, end < 0 ? rest.length : end);
    // What is found has the name that was looked for, wherever it lies below.
    inner.push(asWords(withUnknown(words, "{}").map((word) => (word.text === "{}" ? { ...word, pattern: name } : word))));
    i += words.length;
  }
  return inner.length === 0 ? null : { inner, isTransparent: false, losesPlace };
}

function unwrapFd(args: readonly ShellWord[]): Unwrapped | null {
  const at = args.findIndex((word) => word.literal !== null && /^(?:-[xX]|--exec|--exec-batch)$/.test(word.literal));
  if (at < 0) return args.some((word) => /^--exec(?:-batch)?=|^-\w*[xX]/.test(word.literal ?? "")) ? hidden("fd with a command") : null;
  return { inner: [asWords([...withUnknown(args.slice(at + 1), "{"), unknownWord])], isTransparent: false, losesPlace: false };
}

/** `script -c LINE FILE` runs the line and writes what it shows. */
function unwrapScript(args: readonly ShellWord[]): Unwrapped | null {
  const read = readOptions(args, {
    flags: "aefq",
    valued: "cIOBTtEmo",
    long: ["append", "quiet", "return", "flush", "force", "command=", "log-out=", "timing=?"],
  });
  const line = read?.options.find((option) => option.name === "c" || option.name === "command")?.value;
  return line == null
    ? hidden("script records a shell that is typed into")
    : { inner: [lineOf(line, "script")], isTransparent: false, losesPlace: false };
}

function unwrapWatch(args: readonly ShellWord[]): Unwrapped | null {
  const read = readOptions(args, {
    flags: "bcdegtpwxC",
    valued: "nq",
    long: ["interval=", "exec", "color", "no-title", "differences=?"],
    stopsAtOperand: true,
  });
  if (read === null) return hidden("watch with options that aren't known");
  if (read.operands.length === 0) return null;
  if (read.options.some((option) => option.name === "x" || option.name === "exec")) {
    return { inner: [asWords(read.operands)], isTransparent: false, losesPlace: false };
  }
  if (read.operands.some((word) => word.literal === null)) return hidden("watch of text that only exists at run time");
  return {
    inner: [{ type: "line", line: literalWord(read.operands.map((word) => word.literal).join(" ")) }],
    isTransparent: false,
    losesPlace: false,
  };
}
