import { forEachChild, parse, type SyntaxNode } from "unbash";
import type { ParsedCommand, Places, ShellWord } from "./command.ts";
import { type Flow, still } from "./places.ts";
import { type Collected, problem, walk, type WalkContext } from "./walk.ts";
import { readWord, type ShellValues } from "./word.ts";

/** Longer lines than this are reviewed without being read. */
export const longestLine = 60_000;

/**
 * Takes a line for bash apart into every simple command that it may run: in pipelines, lists, substitutions, functions,
 * here-documents, `-c` strings and behind wrappers. Never throws; what can't be read is a problem of the result.
 */
export function parseCommand(line: string, start: Places = [""]): ParsedCommand {
  const out: Collected = { commands: [], problems: [], changesLookup: false, losesPlaces: false, isFed: false };
  const inputs = { isPiped: false, isFed: false, isFedNothing: false };
  const context: WalkContext = { out, values: new Map(), via: [], ...inputs, isBackground: false, readLine };
  try {
    readLine(line, start, context);
  } catch {
    // The parser, or a nesting deeper than the stack: either way nothing is known about the line.
    problem(context, "syntax", "a line that can't be read");
  }
  return out;
}

function readLine(line: string, places: Places, context: WalkContext): Flow {
  if (line.length > longestLine) {
    problem(context, "too_complex", "a line of more than 60,000 characters");
    return still(null);
  }
  const hidden = hiddenCharacter(line);
  if (hidden !== null) problem(context, "hidden_characters", hidden);
  const script = parse(line);
  return walk(script, places, { ...context, values: valuesOf(script, context.values) });
}

/** Soft hyphen, grapheme joiner, Arabic letter mark, Hangul fillers, Khmer inherent vowels, braille blank, byte order mark. */
const invisible = new Set([0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0, 0xfeff]);

/** Characters that a person doesn't see, or sees in another order than the shell reads them. */
function hiddenCharacter(line: string): string | null {
  for (const character of line) {
    const code = character.codePointAt(0)!;
    const isControl = (code < 0x20 && code !== 0x0a && code !== 0x09) || (code >= 0x7f && code < 0xa0);
    const isInvisible =
      (code >= 0x200b && code <= 0x200f) ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2060 && code <= 0x206f) ||
      (code >= 0x180b && code <= 0x180e) ||
      (code >= 0xfff9 && code <= 0xfffb) ||
      (code >= 0xe0100 && code <= 0xe01ef) ||
      invisible.has(code) ||
      (code >= 0xe0000 && code <= 0xe007f);
    if (isControl || isInvisible) return `the character U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  }
  return null;
}

/** All values that a line gives its variables, wherever it does. Guesses only: order and branches are ignored. */
function valuesOf(script: SyntaxNode, outer: ShellValues): ShellValues {
  const values = new Map(outer);
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Assignment" && node.value.type === "Word") {
      const word: ShellWord = readWord(node.value, values);
      values.set(node.name, [...(values.get(node.name) ?? []), word].slice(0, 4));
    }
    if (node.type === "For" && node.wordlist !== undefined) {
      values.set(
        node.name.value,
        [...(values.get(node.name.value) ?? []), ...node.wordlist.map((word) => readWord(word, values))].slice(0, 4),
      );
    }
    forEachChild(node, visit);
  };
  visit(script);
  return values;
}
