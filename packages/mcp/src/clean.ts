/**
 * Text of a server without what a terminal obeys (escape sequences, control characters) and without the invisible letters
 * of the Unicode tag block, in which words can be hidden from a person and shown to a model.
 */
export function cleanText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g, "")
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\udb40[\udc00-\udc7f]/g, "")
    .toWellFormed();
}

/** The same on one line, cut to a length. */
export function cleanLine(text: string, chars: number): string {
  const line = cleanText(text.slice(0, chars * 4))
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= chars ? line : `${line.slice(0, chars - 1).toWellFormed()}…`;
}
