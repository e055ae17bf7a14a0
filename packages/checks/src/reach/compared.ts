const script = /\.[cm]?[jt]sx?$/;
const comparesParts = /\b(?:deepEqual|deepStrictEqual|toEqual|toStrictEqual|deep\.equal|eql)\b/;
/** What is kept to be quick says nothing of a value. */
const kept = /^_|cache|memo|lazy/i;

/**
 * A script whose private fields can be seen where its earlier version had them for all to see: tests that compare values part
 * by part compare these parts too. Null where there are none.
 */
export function withOpenFields(path: string, was: string | null, is: string, testText: string): string | null {
  if (was === null || !script.test(path) || !comparesParts.test(testText)) return null;
  const names = new Set([...is.matchAll(/(?:\bthis\s*\??\.\s*|^\s*)#(\w+)/gm)].map(([, name = ""]) => name));
  let text = is;
  for (const name of names) {
    if (kept.test(name) || new RegExp(`#${name}\\b`).test(was) || !new RegExp(`\\bthis\\.${name}\\b`).test(was)) continue;
    const open = `["#${name}"]`;
    text = text
      .replace(new RegExp(`(?<![.\\w])#${name}(\\s+in\\b)`, "g"), `"#${name}"$1`)
      .replace(new RegExp(`(\\?\\.)\\s*#${name}\\b`, "g"), `$1${open}`)
      .replace(new RegExp(`\\.\\s*#${name}\\b`, "g"), open)
      .replace(new RegExp(`(^[ \\t]*|[{;][ \\t]*)#${name}\\b`, "gm"), `$1;${open}`)
      .replace(new RegExp(`(\\b(?:static|readonly|async|get|set)[ \\t]+)#${name}\\b`, "g"), `$1${open}`);
  }
  return text === is ? null : text;
}

/** Parts of a dataclass in Python that its earlier version compared. */
export function comparedFields(path: string, was: string | null): string[] {
  if (was === null || !/\.pyi?$/.test(path) || !/\bdataclass\b/.test(was)) return [];
  return was.split("\n").flatMap((line) => {
    const name = /^[ \t]+(\w+)\s*:\s*\w/.exec(line)?.[1];
    return name === undefined || kept.test(name) || /\bcompare\s*=\s*False\b/.test(line) ? [] : [name];
  });
}
