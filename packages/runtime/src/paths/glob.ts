import { tester } from "./linear.ts";

/**
 * The globs of every port and tool, so that one pattern means one thing everywhere.
 *
 * `*` and `?` stay inside one name, `**` spans folders, `[a-z]` and `[!a-z]` are classes, `{a,b}` are alternatives and `\`
 * takes the next character literally. A pattern without `/` is matched against the last name at any depth; one with `/`
 * against the whole path below the base. A trailing `/` means everything below. Names that start with a dot match like
 * any other.
 */
export function compileGlob(pattern: string): (relativePath: string) => boolean {
  let text = pattern.replace(/^(?:\.\/)+/, "");
  if (text.endsWith("/")) text += "**";
  const anchored = text.startsWith("/") || text.includes("/");
  const source = translate(text.replace(/^\/+/, "").replace(/(?:\*\*\/)+/g, "**/"));
  return tester(anchored ? source : `(?:.*/)?(?:${source})`);
}

/** The folder that every match lies in, read off the front of the pattern; empty where there is none. */
export function globBase(pattern: string): string {
  const parts = pattern
    .replace(/^(?:\.\/)+/, "")
    .replace(/^\/+/, "")
    .split("/");
  const literal: string[] = [];
  for (const part of parts.slice(0, -1)) {
    if (part === "" || part === "." || part === ".." || /[*?[\]{}\\]/.test(part)) break;
    literal.push(part);
  }
  return literal.join("/");
}

function translate(pattern: string): string {
  let source = "";
  let depth = 0;
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    if (rest.startsWith("**/") && (at === 0 || "/{,".includes(pattern[at - 1]!))) {
      source += "(?:.*/)?";
      at += 3;
    } else if (rest.startsWith("**") && (at === 0 || pattern[at - 1] === "/") && ",}".includes(pattern[at + 2] ?? ",")) {
      source += ".*";
      at += 2;
    } else if (rest.startsWith("*")) {
      source += "[^/]*";
      at += rest.match(/^\*+/)![0].length;
    } else if (rest.startsWith("?")) {
      source += "[^/]";
      at += 1;
    } else if (rest.startsWith("[") && /^\[[!^]?\]?[^\]]*\]/.test(rest)) {
      const set = rest.match(/^\[([!^]?)(\]?[^\]]*)\]/)!;
      source += classOf(set[1] !== "", set[2]!);
      at += set[0].length;
    } else if (rest.startsWith("{") && closes(rest)) {
      source += "(?:";
      depth += 1;
      at += 1;
    } else if (depth > 0 && rest.startsWith(",")) {
      source += "|";
      at += 1;
    } else if (depth > 0 && rest.startsWith("}")) {
      source += ")";
      depth -= 1;
      at += 1;
    } else {
      const escaped = rest.startsWith("\\") && rest.length > 1;
      const letter = String.fromCodePoint(rest.codePointAt(escaped ? 1 : 0)!);
      source += letter.replace(/[.*+?^${}()|[\]\\/]/u, "\\$&");
      at += letter.length + (escaped ? 1 : 0);
    }
  }
  return source;
}

/** A class never matches `/`; one with a range that runs backwards matches nothing. */
function classOf(isNegated: boolean, body: string): string {
  const source = `[${isNegated ? "^" : ""}${body.replace(/[\\\][^]/g, "\\$&")}]`;
  try {
    return `(?!/)${new RegExp(source, "u").source}`;
  } catch {
    return "(?!)";
  }
}

/** Whether the brace at the start has its partner. */
function closes(text: string): boolean {
  let depth = 0;
  for (const letter of text) {
    if (letter === "{") depth += 1;
    if (letter === "}" && --depth === 0) return true;
  }
  return false;
}
