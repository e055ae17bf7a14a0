const names: Readonly<Record<string, string>> = {
  "\u0007": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\u000b": "v",
  "\f": "f",
  "\r": "r",
  '"': '"',
  "\\": "\\",
};

/** A path in a list or a sentence: as git shows it, as a C string where a character of it would make it ambiguous. Pure. */
export function quotedPath(path: string): string {
  const quoted = path.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029"\\]/g, (character) => {
    const code = character.charCodeAt(0);
    return `\\${names[character] ?? (code < 0x80 ? code.toString(8).padStart(3, "0") : `u${code.toString(16).padStart(4, "0")}`)}`;
  });
  return quoted === path ? path : `"${quoted}"`;
}

/** A path that heads or fills a line: as it is, but quoted where it would begin another, which could look like anything. Pure. */
export function linePath(path: string): string {
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) ? quotedPath(path) : path;
}
