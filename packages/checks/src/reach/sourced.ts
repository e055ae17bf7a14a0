import { nameOf } from "../paths.ts";

/** Longer words are no path. */
const longest = 1_000;
const loads = /(?:^|[\s;&|({])(?:\.|source)[ \t]+/gm;

/** Whether `. lib/x.sh`, `source "$(dirname "$0")/lib/x.sh"`, or Perl's `require "./lib/x.pl"` or `do` stands in the text. */
export function isSourced(path: string, text: string): boolean {
  const name = nameOf(path).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (path.endsWith(".pl")) return new RegExp(`(?:^|[\\s;&|(])(?:require|do)\\b\\s*\\(?\\s*\\S*${name}\\b`, "m").test(text);
  const words = [...text.matchAll(loads)].map((found) => wordAt(text, found.index + found[0].length));
  const named = new RegExp(`${name}\\b`);
  return words.some((word) => named.test(word) || isHeld(word, path, text, named));
}

/** `lib=src/x.sh; . "$lib"` and `for one in src/*.sh; do . "$one"; done`. */
function isHeld(word: string, path: string, text: string, named: RegExp): boolean {
  const variable = /^["']?\$\{?(\w+)\}?["']?$/.exec(word)?.[1];
  if (variable === undefined) return false;
  const folder = nameOf(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  const given = [...text.matchAll(new RegExp(`\\b(?:${variable}=|for\\s+${variable}\\s+in\\s)([^\\n]*)`, "g"))].map(
    ([, value = ""]) => value,
  );
  return given.some((value) => named.test(value) || (/\*/.test(value) && (folder === "" || value.includes(`${folder}/`))));
}

/** The word that begins at `from`, as a shell reads it: quotes and `$( )` in it hold spaces together. */
function wordAt(text: string, from: number): string {
  const open: string[] = [];
  let at = from;
  for (; at < text.length && at - from < longest; at += 1) {
    const [char = "", inside] = [text[at], open.at(-1)];
    if (char === "\\") at += 1;
    else if (inside === "'") {
      if (char === "'") open.pop();
    } else if (char === '"' || (char === "'" && inside !== '"')) {
      if (inside === char) open.pop();
      else open.push(char);
    } else if (char === "(" && (text[at - 1] === "$" || inside === "(")) open.push(char);
    else if (char === ")" && inside === "(") open.pop();
    else if (open.length === 0 && /[\s;&|)]/.test(char)) break;
  }
  return text.slice(from, at);
}
