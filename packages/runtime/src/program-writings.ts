/** A text as programs write it so that another program reads it back: quoted for a shell, or in escapes of its units. */
export function programWritings(text: string): readonly string[] {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const digits = (unit: number) => unit.toString(16).padStart(4, "0");
  // JSON and JavaScript in ASCII: one backslash, and two where that is a text within another.
  const ascii = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${digits(unit.charCodeAt(0))}`);
  return [
    ...shellWritings(text),
    ascii,
    ...["\\", "\\\\"].flatMap((escape) => bothCases(units.map(digits), (unit) => `${escape}u${unit}`)),
    points.map((point) => `&#${point};`).join(""),
    ...["&#x", "&#X"].flatMap((begin) =>
      bothCases(
        points.map((point) => point.toString(16)),
        (point) => `${begin}${point};`,
      ),
    ),
  ];
}

function bothCases(digits: readonly string[], write: (digits: string) => string): string[] {
  return [digits, digits.map((one) => one.toUpperCase())].map((all) => all.map(write).join(""));
}

/** `printf %q`, `'…'` with its apostrophes in the ways that shells and Python have for them, and `"…"`. */
function shellWritings(text: string): string[] {
  return [
    // Bash, to which `~` and `#` mean something only where a word begins.
    text.replaceAll(/[^\w@%+=:./~#\u0080-\uffff-]|^[~#]/g, "\\$&"),
    text.replaceAll(/[^\w@%+=:,./\u0080-\uffff-]/g, "\\$&"),
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll(/[\\'\n\t]/g, (sign) => ({ "\n": "\\n", "\t": "\\t" })[sign] ?? `\\${sign}`),
    text.replaceAll(/[$`"\\]/g, "\\$&"),
  ];
}
