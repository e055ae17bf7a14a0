import type { CommandInput } from "@holdfast/runtime/ports/processes";
import { decodeOutput, decodeUtf8 } from "./decode.ts";
import type { Decode } from "./window.ts";

/** The terminal that commands are given has so many rows (node/src/processes/launch.ts); what has left it at the top stays as it was. */
const screenRows = 40;
/** No program means to write further to the right. */
const maxColumn = 1000;

// CSI sequences (ECMA-48 5.4), strings up to BEL or ST, and the two- and three-character ones. Sticky: looked for in place.
const sequence =
  /\x1b(?:\[([\x30-\x3f]*)[\x20-\x2f]*([\x40-\x7e])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[\x20-\x2f]+[\x30-\x7e]|[\x30-\x7e])/y;

/** How to read the output of a command, by what it was given for its input. */
export function decoderOf(input: CommandInput | null): Decode {
  return input === "terminal" ? terminalText : decodeOutput;
}

interface Screen {
  readonly lines: string[][];
  /** Index of the line at the top of the screen. */
  top: number;
  row: number;
  column: number;
}

/**
 * What a person would have seen of a terminal's raw output, as plain lines: what was written over is gone, a progress bar
 * is its last state. Colours go. Bytes that are no UTF-8 and odd control characters are dropped, as a terminal does.
 */
export function terminalText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  const screen: Screen = { lines: [[]], top: 0, row: 0, column: 0 };
  for (let at = 0; at < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(at)!);
    if (character === "\x1b") {
      sequence.lastIndex = at;
      const found = sequence.exec(text);
      if (found?.[2] !== undefined) control(screen, found[2], found[1] ?? "");
      at += found?.[0].length ?? 1;
      continue;
    }
    at += character.length;
    write(screen, character);
  }
  // The last line keeps its end: a prompt's blank.
  const shown = screen.lines.map((line, index) => (index === screen.lines.length - 1 ? line.join("") : line.join("").trimEnd()));
  return shown.join("\n");
}

function write(screen: Screen, character: string): void {
  switch (character) {
    case "\n":
      return down(screen);
    case "\r":
      screen.column = 0;
      return;
    case "\b":
      screen.column = Math.max(0, screen.column - 1);
      return;
    case "\t":
      screen.column += 8 - (screen.column % 8);
      return;
  }
  const code = character.codePointAt(0)!;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code <= 0xdfff)) return;
  const line = lineAt(screen);
  while (line.length < screen.column) line.push(" ");
  line[screen.column] = character;
  screen.column = Math.min(maxColumn, screen.column + 1);
}

function down(screen: Screen): void {
  screen.row += 1;
  lineAt(screen);
  screen.top = Math.max(screen.top, screen.row - screenRows + 1);
}

function lineAt({ lines, row }: Screen): string[] {
  while (lines.length <= row) lines.push([]);
  return lines[row]!;
}

function control(screen: Screen, final: string, parameters: string): void {
  const numbers = parameters.split(";").map(Number);
  const count = Math.max(1, numbers[0] || 1);
  const bottom = screen.top + screenRows - 1;
  switch (final) {
    case "A":
      screen.row = Math.max(screen.top, screen.row - count);
      return;
    case "B":
      screen.row = Math.min(bottom, screen.row + count);
      return;
    case "C":
      screen.column = Math.min(maxColumn, screen.column + count);
      return;
    case "D":
      screen.column = Math.max(0, screen.column - count);
      return;
    case "G":
      screen.column = Math.min(maxColumn, count - 1);
      return;
    case "H":
    case "f":
      screen.row = Math.min(bottom, screen.top + count - 1);
      screen.column = Math.min(maxColumn, Math.max(0, (numbers[1] || 1) - 1));
      return;
    case "J":
      return eraseScreen(screen, numbers[0] || 0);
    case "K":
      return eraseLine(screen, numbers[0] || 0);
    case "P":
      lineAt(screen).splice(screen.column, count);
      return;
    case "h":
    case "l":
      // The other screen, as full-screen programs use it: a new page either way.
      if (parameters === "?1049" || parameters === "?47") newPage(screen);
      return;
  }
}

function eraseScreen(screen: Screen, how: number): void {
  if (how !== 0) return newPage(screen);
  screen.lines.length = Math.min(screen.lines.length, screen.row + 1);
  eraseLine(screen, 0);
}

function eraseLine(screen: Screen, how: number): void {
  const line = lineAt(screen);
  if (how === 0) line.length = Math.min(line.length, screen.column);
  else if (how === 1) line.fill(" ", 0, screen.column + 1);
  else line.length = 0;
}

/** What was on the screen stays readable above. */
function newPage(screen: Screen): void {
  const isBlank = screen.lines.slice(screen.top).every((line) => line.join("").trim() === "");
  const offset = screen.row - screen.top;
  if (!isBlank) screen.top = screen.lines.length;
  else screen.lines.length = screen.top;
  screen.row = screen.top + offset;
  lineAt(screen);
}
