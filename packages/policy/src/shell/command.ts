/** One word of a command, as far as it can be known without running anything. */
export interface ShellWord {
  /** As written, with its quotes. */
  readonly text: string;
  /** Its value, where every run gives the same one; null where a variable, glob or substitution decides. */
  readonly literal: string | null;
  /**
   * Values that it may have, where the line itself shows them (`x=/etc; rm $x`, `a{b,c}`). A guess can only add findings;
   * nothing is ever proven by one.
   */
  readonly guesses: readonly string[];
  /** The word with its globs, where globs are all that is unknown; null elsewhere. */
  readonly pattern: string | null;
  /** True where the value starts at a home folder: an unquoted `~`, or `$HOME` in a guess. */
  readonly fromHome: boolean;
}

export interface ShellAssignment {
  readonly name: string;
  /** Null for an array, and for what a loop or `read` assigns. */
  readonly value: ShellWord | null;
}

export interface ShellRedirect {
  readonly operator: string;
  /** True where it is opened under a number of its own, or a name: `3> file`, `{fd}> file`. */
  readonly isBeside: boolean;
  /** Null for a here-document. */
  readonly target: ShellWord | null;
}

/** Folders in which a command may run, relative to where the line starts; null where that can't be known. */
export type Places = readonly string[] | null;

/** One simple command: what remains when pipes, lists, substitutions, wrappers and `-c` strings are taken apart. */
export interface SimpleCommand {
  /** The program first. Empty for a lone assignment or redirection. */
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  readonly redirects: readonly ShellRedirect[];
  /** The programs through which it is run, outermost first: `sudo`, `xargs`, `bash`. */
  readonly via: readonly string[];
  /** True where all it does is to run other commands of the list (`env A=1 ls`, `bash -c ls`). */
  readonly isWrapper: boolean;
  /** True for `[[ … ]]` and `(( … ))`, which run no program. */
  readonly isKeyword: boolean;
  readonly places: Places;
  /** Literal text that it reads from a here-document or here-string; null where there is none or it isn't literal. */
  readonly hereText: string | null;
  /** True where another command's output is its input. */
  readonly isPiped: boolean;
  /** True where the line gives it an input that may hold something: text, a file, another command's output. */
  readonly isFed: boolean;
  /** True where its input is there, and empty. */
  readonly isFedNothing: boolean;
  /** True where it prints nothing at all. */
  readonly printsNothing: boolean;
  readonly isBackground: boolean;
}

export type ProblemKind =
  /** The shell's grammar is broken, or the parser gave up. */
  | "syntax"
  /** Deeper or longer than is worth judging. */
  | "too_complex"
  /** Characters that show as something else than they do. */
  | "hidden_characters"
  /** Code that only exists when the line runs: `eval "$x"`, `curl … | sh`. */
  | "hidden_code"
  /** A function that starts itself twice. */
  | "fork_bomb";

export interface ShellProblem {
  readonly kind: ProblemKind;
  readonly what: string;
}

export interface ParsedCommand {
  readonly commands: readonly SimpleCommand[];
  readonly problems: readonly ShellProblem[];
  /** True where the line changes which program a name means: a function, an alias, `source`, a trap. */
  readonly changesLookup: boolean;
}

export function literalWord(value: string): ShellWord {
  return { text: value, literal: value, guesses: [value], pattern: value, fromHome: false };
}

/** Stands for words that only exist at run time, such as those that xargs appends. */
export const unknownWord: ShellWord = { text: "…", literal: null, guesses: [], pattern: null, fromHome: false };

/** A program's name without its folder. Null where it isn't literal. */
export function programOf(words: readonly ShellWord[]): string | null {
  const name = words[0]?.literal;
  return name === undefined || name === null ? null : name.slice(name.lastIndexOf("/") + 1);
}

/** The command as one line, for sentences. */
export function textOf(command: SimpleCommand): string {
  const text = command.words.map((word) => word.text).join(" ") || command.assignments.map((each) => `${each.name}=…`).join(" ");
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
