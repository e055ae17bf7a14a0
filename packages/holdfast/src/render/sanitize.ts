import { isUsedJoiner } from "@holdfast/runtime/hidden";

/**
 * Whole escape sequences (ECMA-48: CSI, OSC and the other strings, two-character ones), which are dropped. What is not
 * a whole one keeps its text and loses its control character. A string ends before the next one begins, so that looking
 * for ends takes no longer than the text is long.
 */
const escapeSequence =
  // eslint-disable-next-line no-control-regex -- these are the characters to be found
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]+[0-~]/gu;

/** Control characters, and what reorders text, hides or is blank: by general category and by `Default_Ignorable_Code_Point`. */
const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** More marks than any script stacks on one letter; beyond that they draw over the neighbouring lines. */
const stackedMarks = /(\p{M}{8})(\p{M}+)/gu;

/**
 * Makes text from a model, a tool or a file safe to show in a terminal. Nothing in the result can move the cursor, change
 * colours, reorder or hide text, and nothing is dropped: what a person judges is all there, with every such character as a
 * visible `<U+202E>`. Line ends stay, a tab becomes four blanks.
 */
export function sanitize(text: string): string {
  return withVisible(text.replaceAll("\t", "    ")).replace(
    stackedMarks,
    (_, most: string, more: string) => most + Array.from(more, visible).join(""),
  );
}

/** The same on one line: a line end shows as `⏎`, so that a second line can't hide behind the first. */
export function sanitizeLine(text: string): string {
  return sanitize(text).trim().replace(/\n+/g, " ⏎ ");
}

/**
 * For what a program or a model says at length, as it would look in a terminal: escape sequences are dropped, a lone CR
 * ends a line, and so many marks are left out. Never for what is to be judged before it runs: a title can hold a command.
 */
export function sanitizeOutput(text: string): string {
  return withVisible(text.replace(escapeSequence, "").replace(/\r\n?/g, "\n").replaceAll("\t", "    ")).replace(stackedMarks, "$1");
}

/** The colours of `style.ts`, and what else a terminal obeys. */
// eslint-disable-next-line no-control-regex -- these are the characters to be found
const obeyed = /\u001b\[(?:1|2|22|3[1239])m|\r\n|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu;

/**
 * The last look at what is written, whoever put it together: no control character leaves but line ends, tabs and our own
 * colours. JSON holds the later ones (DEL, C1) as they are: those show at a terminal only, where nobody parses them.
 */
export function harmless(text: string, isTTY: boolean): string {
  return text.replace(obeyed, (found) => (found.length > 1 || (!isTTY && found >= "\u007f") ? found : visible(found)));
}

function withVisible(text: string): string {
  return text.replace(hidden, (character: string, index: number, whole: string) =>
    character === "\n" || isUsedJoiner(character, index, whole) ? character : visible(character),
  );
}

function visible(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
