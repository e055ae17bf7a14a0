import type { ShellWord } from "./command.ts";

/**
 * Options that a program is known to have. `flags`: single letters without a value, `#` for numbers such as `-20`.
 * `valued`: single letters with one. `long`: long names without the dashes; `name=` takes a value, `name=?` may.
 * Abbreviated long names are not known ones, on purpose.
 */
export interface OptionTable {
  readonly flags?: string;
  readonly valued?: string;
  /** Single letters whose value, where there is one, is written right behind them: `-uno`, `-Iseconds`. */
  readonly attached?: string;
  /** Single letters that take a number, right behind them or as the next word, where there is one: `-j4`, `-j 4`. */
  readonly counted?: string;
  readonly long?: readonly string[];
  /** True where the first operand ends the options: what follows belongs to another program. */
  readonly stopsAtOperand?: boolean;
  /** True for programs that write long options with one dash (`go test -run X`, `java -version`). */
  readonly longWithOneDash?: boolean;
}

export interface ReadOptions {
  /** Options in order, letters and long names alike, with their values. */
  readonly options: readonly { readonly name: string; readonly value: ShellWord | null }[];
  readonly operands: readonly ShellWord[];
}

/** Null where an option isn't in the table or isn't literal. `words` come without the program's name. */
export function readOptions(words: readonly ShellWord[], table: OptionTable): ReadOptions | null {
  const options: { name: string; value: ShellWord | null }[] = [];
  const operands: ShellWord[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const text = word.literal;
    if (text === null) {
      // What expands to nothing known may expand to an option.
      if (couldBeOption(word)) return null;
      operands.push(word);
    } else if (text === "--") {
      operands.push(...words.slice(i + 1));
      break;
    } else if (!text.startsWith("-") || text === "-") {
      if (table.stopsAtOperand === true) {
        operands.push(...words.slice(i));
        break;
      }
      operands.push(word);
    } else if (text.startsWith("--") || table.longWithOneDash === true) {
      const taken = readLong(text.replace(/^--?/, ""), words[i + 1], table, options);
      if (taken === null) return null;
      i += taken;
    } else {
      const taken = readShort(text.slice(1), words[i + 1], table, options);
      if (taken === null) return null;
      i += taken;
    }
  }
  return { options, operands };
}

function couldBeOption(word: ShellWord): boolean {
  return !/^(?:[\w./~@:+]|["'](?=[\w./~@:+]))/.test(word.text);
}

type Sink = { name: string; value: ShellWord | null }[];

/** Returns how many further words it took, null for an unknown option. */
function readLong(text: string, next: ShellWord | undefined, table: OptionTable, into: Sink): number | null {
  const equals = text.indexOf("=");
  const name = equals < 0 ? text : text.slice(0, equals);
  const long = table.long ?? [];
  if (equals >= 0) {
    if (!long.includes(`${name}=`) && !long.includes(`${name}=?`)) return null;
    into.push({ name, value: wordOf(text.slice(equals + 1)) });
    return 0;
  }
  if (long.includes(name) || long.includes(`${name}=?`)) {
    into.push({ name, value: null });
    return 0;
  }
  if (!long.includes(`${name}=`) || next === undefined) return null;
  into.push({ name, value: next });
  return 1;
}

function readShort(letters: string, next: ShellWord | undefined, table: OptionTable, into: Sink): number | null {
  if (table.flags?.includes("#") === true && /^\d+$/.test(letters)) return 0;
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at]!;
    if (letter !== "#" && table.flags?.includes(letter) === true) {
      into.push({ name: letter, value: null });
    } else if (table.attached?.includes(letter) === true) {
      const rest = letters.slice(at + 1);
      into.push({ name: letter, value: rest === "" ? null : wordOf(rest) });
      return 0;
    } else if (table.counted?.includes(letter) === true) {
      const rest = letters.slice(at + 1);
      const number = rest === "" && /^\d+$/.test(next?.literal ?? "") ? next! : null;
      into.push({ name: letter, value: rest === "" ? number : wordOf(rest) });
      return number === null ? 0 : 1;
    } else if (table.valued?.includes(letter) === true) {
      const rest = letters.slice(at + 1);
      if (rest !== "") {
        into.push({ name: letter, value: wordOf(rest) });
        return 0;
      }
      if (next === undefined) return null;
      into.push({ name: letter, value: next });
      return 1;
    } else return null;
  }
  return 0;
}

function wordOf(value: string): ShellWord {
  return { text: value, literal: value, guesses: [value], pattern: value, fromHome: false };
}

/** Operands and options without a table: what starts with a dash is an option, those in `valued` take the next word. */
export function roughOperands(words: readonly ShellWord[], valued: readonly string[] = []): ShellWord[] {
  const operands: ShellWord[] = [];
  for (let i = 0; i < words.length; i++) {
    const text = words[i]!.literal;
    if (text === "--") return [...operands, ...words.slice(i + 1)];
    if (text !== null && text.startsWith("-") && text !== "-") {
      if (valued.includes(text)) i++;
    } else operands.push(words[i]!);
  }
  return operands;
}

/** The same where a cluster may end in one of `valued`: `-cf 2 in out`. `apart`: letters don't stand together. */
export function operandsOf(words: readonly ShellWord[], valued: readonly string[], apart: boolean): ShellWord[] {
  const letters = valued.flatMap((name) => (/^-[^-]$/.test(name) ? [name[1]!] : []));
  const endsInOne = ({ literal }: ShellWord): boolean =>
    literal !== null && (valued.includes(literal) || (!apart && valueStart(literal, letters, [], "") === literal.length));
  const operands: ShellWord[] = [];
  for (let i = 0; i < words.length; i++) {
    const { literal } = words[i]!;
    if (literal === "--") return [...operands, ...words.slice(i + 1)];
    if (literal === null || !literal.startsWith("-") || literal === "-") operands.push(words[i]!);
    else if (endsInOne(words[i]!)) i++;
  }
  return operands;
}

/**
 * Values of the given options in every spelling: `-o X`, `-oX`, `-vo X`, `-voX`, `--out X`, `--out=X`, `--ou=X`; names such as
 * `-exec` also with two dashes, and with `=`. `valued`: other letters with a value, in which a cluster ends; null where letters
 * don't stand together.
 */
export function optionValues(words: readonly ShellWord[], names: readonly string[], valued: string | null = ""): ShellWord[] {
  const found: ShellWord[] = [];
  const letters = names.flatMap((name) => (/^-[^-]$/.test(name) ? [name[1]!] : []));
  const longs = names.filter((name) => name.length > 2);
  for (const [i, word] of words.entries()) {
    const text = word.literal ?? word.text.replace(/^["']/, "");
    if (text === "--") break;
    const start = valueStart(text, letters, longs, valued);
    if (start === null) continue;
    const value = start < text.length ? cutWord(word, start) : words[i + 1];
    if (value !== undefined) found.push(value);
  }
  return found;
}

/** Where in an option's text its value begins: at its end where that is the next word. Null where it is none of these. */
function valueStart(text: string, letters: readonly string[], longs: readonly string[], valued: string | null): number | null {
  if (longs.some((name) => names(text, name))) return text.includes("=") ? text.indexOf("=") + 1 : text.length;
  if (!text.startsWith("-") || text.startsWith("--")) return null;
  for (let at = 1; at < text.length; at++) {
    if (letters.includes(text[at]!)) return valued === null && text[at + 1] === "=" ? at + 2 : at + 1;
    if (valued === null || valued.includes(text[at]!) || !/[A-Za-z0-9]/.test(text[at]!)) return null;
  }
  return null;
}

function names(text: string, name: string): boolean {
  if (name.startsWith("--")) return abbreviates(text, name);
  const given = text.split("=", 1)[0]!;
  return given === name || given === `-${name}`;
}

export function cutWord(word: ShellWord, length: number): ShellWord {
  const literal = word.literal === null ? null : word.literal.slice(length);
  const fromHome = literal?.startsWith("~") === true || word.text.slice(length).startsWith("~");
  return {
    text: word.text.slice(length),
    literal,
    guesses: word.guesses.map((guess) => guess.slice(length)),
    pattern: word.pattern === null ? null : word.pattern.slice(length),
    fromHome,
  };
}

/** `--har` and `--har=x` for `--hard`: most programs take any beginning of a long name that is no other's. */
function abbreviates(text: string, name: string): boolean {
  const at = text.indexOf("=");
  const given = at < 0 ? text : text.slice(0, at);
  return given.length > 2 && given.startsWith("--") && name.startsWith(given);
}

/** Whether one of these may be meant, in any form: for options that speak against a call. */
export function hasOption(words: readonly ShellWord[], ...names: readonly string[]): boolean {
  return words.some((word) => {
    const text = word.literal;
    if (text === null || !text.startsWith("-")) return false;
    return names.some((name) => {
      if (name.startsWith("--")) return abbreviates(text, name);
      // A letter may stand anywhere in a cluster: `-rf` has `-f`.
      return name.length === 2 ? !text.startsWith("--") && text.slice(1).includes(name[1]!) : text === name;
    });
  });
}

/**
 * Whether one of these is surely meant: for options that speak for a call, as `--dry-run`. Long names are whole; a letter counts
 * before any of `valued`, behind which the rest of a cluster is a value (`-en` excludes `n`).
 */
export function hasExactly(words: readonly ShellWord[], names: readonly string[], valued = ""): boolean {
  for (const { literal } of words) {
    if (literal === "--") return false;
    if (literal === null || !literal.startsWith("-")) continue;
    if (literal.startsWith("--") ? names.includes(literal.split("=", 1)[0]!) : names.includes(literal)) return true;
    if (literal.startsWith("--")) continue;
    for (const letter of literal.slice(1)) {
      if (names.includes(`-${letter}`)) return true;
      if (valued.includes(letter)) break;
    }
  }
  return false;
}
