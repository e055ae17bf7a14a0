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
  const quoted = path.replaceAll(/[\u0000-\u001f\u007f"\\]/g, (character) => {
    return `\\${names[character] ?? character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  return quoted === path ? path : `"${quoted}"`;
}
