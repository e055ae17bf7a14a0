import type { ParsedScript, Word, WordPart } from "unbash";
import type { ShellWord } from "./command.ts";

/** Values that the line gives its variables, by name. */
export type ShellValues = ReadonlyMap<string, readonly ShellWord[]>;

const maxGuesses = 8;

interface Piece {
  /** Null where only a run can tell. */
  readonly literal: string | null;
  readonly guesses: readonly string[];
  /** Null where it is unknown and no glob. */
  readonly pattern: string | null;
  readonly fromHome?: boolean;
}

const plain = (value: string): Piece => ({ literal: value, guesses: [value], pattern: escapeGlob(value) });
const unknown: Piece = { literal: null, guesses: [], pattern: null };

/** A literal `*` from quotes stays one inside a pattern. */
function escapeGlob(value: string): string {
  return value.replace(/[*?[\]\\]/g, "\\$&");
}

/** Works out what a word is worth. `values` may hold what the line assigns. */
export function readWord(word: Word, values: ShellValues): ShellWord {
  const parts = word.parts;
  if (parts === undefined) {
    const fromHome = isHomeTilde(word.text);
    return { text: word.text, literal: word.value, guesses: [word.value], pattern: escapeGlob(word.value), fromHome };
  }
  const pieces = parts.map((part) => readPart(part, values));
  const first = parts[0];
  const fromHome = (first?.type === "Literal" && isHomeTilde(first.text)) || pieces[0]?.fromHome === true;
  const literals = pieces.map((piece) => piece.literal);
  const patterns = pieces.map((piece) => piece.pattern);
  return {
    text: word.text,
    literal: literals.includes(null) ? null : literals.join(""),
    guesses: product(pieces.map((piece) => piece.guesses)),
    pattern: patterns.includes(null) ? null : patterns.join(""),
    fromHome,
  };
}

const maxExpanded = 64;

/** The words that one stands for: several where braces are all that is to be expanded (`{a,b}.ts`, `{1..3}`). */
export function readWords(word: Word, values: ShellValues): ShellWord[] {
  const parts = word.parts;
  if (parts?.some((part) => part.type === "BraceExpansion") !== true) return [readWord(word, values)];
  let found = [""];
  for (const part of parts) {
    const choices = part.type === "BraceExpansion" ? expandBraces(part.text) : [readPart(part, values).literal];
    if (choices.length === 0 || choices.includes(null)) return [readWord(word, values)];
    found = found.flatMap((start) => choices.map((end) => start + end!));
    if (found.length > maxExpanded) return [readWord(word, values)];
  }
  const first = parts[0];
  const fromHome = first?.type === "Literal" && isHomeTilde(first.text);
  return found.map((literal) => ({ text: literal, literal, guesses: [literal], pattern: escapeGlob(literal), fromHome }));
}

function isHomeTilde(text: string): boolean {
  return /^~[\w.+-]*(?:\/|$)/.test(text);
}

function product(lists: readonly (readonly string[])[]): string[] {
  let found = [""];
  for (const list of lists) {
    found = found.flatMap((start) => list.map((end) => start + end)).slice(0, maxGuesses);
  }
  return found;
}

function readPart(part: WordPart, values: ShellValues): Piece {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return plain(part.value);
    case "DoubleQuoted":
    case "LocaleString": {
      const inner = part.parts.map((each) => readPart(each, values));
      const literals = inner.map((piece) => piece.literal);
      // A translated string may differ from what is written.
      const isKnown = part.type === "DoubleQuoted" && !literals.includes(null);
      const value = isKnown ? literals.join("") : null;
      return {
        literal: value,
        guesses: product(inner.map((piece) => piece.guesses)),
        pattern: value === null ? null : escapeGlob(value),
        fromHome: inner[0]?.fromHome === true,
      };
    }
    case "Glob":
      return { literal: null, guesses: [], pattern: part.text };
    case "BraceExpansion":
      return { literal: null, guesses: expandBraces(part.text), pattern: null };
    case "SimpleExpansion":
      return readVariable(part.text.slice(1), values);
    case "ParameterExpansion": {
      if (part.prefix !== undefined || part.index !== undefined) return unknown;
      const operation = part.operation;
      if (operation === undefined) return readVariable(part.parameter, values);
      if (operation.type !== "Default") return unknown;
      const own = readVariable(part.parameter, values);
      return { ...unknown, guesses: [...own.guesses, ...readWord(operation.operand, values).guesses].slice(0, maxGuesses) };
    }
    case "CommandExpansion":
      return { ...unknown, guesses: printedBy(part.script, values) };
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
    case "ExtendedGlob":
      return unknown;
  }
}

/** What `$(echo a b)`, `$(printf a)` and `$(which a)` stand for. */
function printedBy(script: ParsedScript | undefined, values: ShellValues): string[] {
  const command = script?.commands.length === 1 ? script.commands[0]!.command : undefined;
  const name = command?.type === "Command" ? (command.name?.value ?? "") : "";
  if (command?.type !== "Command" || !/^(?:echo|printf|which|command)$/.test(name)) return [];
  const words = command.suffix.map((word) => (word.type === "Word" && !/\$\(|`/.test(word.text) ? readWord(word, values).literal : null));
  if (words.includes(null) || words.length === 0) return [];
  const text = words.filter((word) => !/^-[neEvap]+$/.test(word!)).join(" ");
  return [name === "which" || name === "command" ? `/usr/bin/${text}` : text];
}

/** What the shell itself always sets. `~` with `fromHome` stands for the home folder, `.` for where the line starts. */
const wellKnown: ReadonlyMap<string, Piece> = new Map([
  ["HOME", { literal: null, guesses: ["~"], pattern: null, fromHome: true }],
  ["PWD", { literal: null, guesses: ["."], pattern: null }],
  // Numbers of processes, our own and another: within a path they are like a star.
  ["$", { literal: null, guesses: ["self"], pattern: "*" }],
  ["BASHPID", { literal: null, guesses: ["self"], pattern: "*" }],
  ["PPID", { literal: null, guesses: ["1"], pattern: "*" }],
  ["TMPDIR", { literal: null, guesses: ["/tmp"], pattern: null }],
]);

function readVariable(name: string, values: ShellValues): Piece {
  const assigned = values.get(name);
  if (assigned === undefined) return wellKnown.get(name) ?? unknown;
  return {
    literal: null,
    guesses: assigned.flatMap((word) => word.guesses).slice(0, maxGuesses),
    pattern: null,
    fromHome: assigned.some((word) => word.fromHome),
  };
}

/** The words of `{a,b}` and of `{1..9}`. Nested braces and other ranges are left unknown. */
function expandBraces(text: string): string[] {
  const inside = text.slice(1, -1);
  const range = /^(\d{1,3})\.\.(\d{1,3})$/.exec(inside);
  if (range !== null && !/^0\d/.test(inside) && !/\.\.0\d/.test(inside)) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    const step = from <= to ? 1 : -1;
    return Array.from({ length: Math.min(Math.abs(to - from) + 1, maxExpanded + 1) }, (_, i) => String(from + i * step));
  }
  if (/[{}$`"'\\]/.test(inside) || !inside.includes(",")) return [];
  const words = inside.split(",");
  return words.length > maxExpanded ? [] : words;
}
