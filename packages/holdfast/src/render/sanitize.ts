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
const stackedMarks = /(\p{M}{8})\p{M}+/gu;

/**
 * Makes text from a model, a tool or a file safe to show in a terminal. Nothing in the result can move the cursor, change
 * colours, reorder or hide text: escape sequences are dropped, every other such character becomes a visible `<U+202E>`.
 * Line ends stay (a lone CR is one), a tab becomes four blanks.
 */
export function sanitize(text: string): string {
  return text
    .replace(escapeSequence, "")
    .replace(/\r\n?/g, "\n")
    .replaceAll("\t", "    ")
    .replace(hidden, (character: string, index: number, whole: string) =>
      character === "\n" || isUsedJoiner(character, index, whole) ? character : visible(character),
    )
    .replace(stackedMarks, "$1");
}

/** The same on one line: a line end shows as `⏎`, so that a second line can't hide behind the first. */
export function sanitizeLine(text: string): string {
  return sanitize(text).trim().replace(/\n+/g, " ⏎ ");
}

function visible(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
