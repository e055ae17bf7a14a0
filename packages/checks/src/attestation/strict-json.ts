import type { Json } from "@holdfast/protocol";

/** Deeper than anything that is read with this. */
const deepest = 32;

/**
 * JSON that every reader understands alike: no key of an object stands twice, and nothing is nested deeper than 32. Returns
 * the value, or what is wrong with the text.
 */
export function readStrictJson(text: string): { readonly value: Json } | { readonly problem: string } {
  const problem = oddityOf(text);
  if (problem !== null) return { problem };
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return { problem: "it is not JSON" };
  }
}

/** Looks at brackets, keys and strings alone, without recursion: what else is wrong the parser finds. */
function oddityOf(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  let isKey = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case "{":
      case "[":
        isKey = text[at] === "{";
        if (open.push(isKey ? new Set() : null) > deepest) return `it is nested deeper than ${deepest}`;
        break;
      case "}":
      case "]":
        open.pop();
        isKey = false;
        break;
      case ",":
        isKey = open.at(-1) instanceof Set;
        break;
      case '"': {
        const end = endOfString(text, at);
        const keys = open.at(-1);
        if (isKey && keys instanceof Set) {
          const key = plain(text.slice(at, end + 1));
          if (key === null) return "it is not JSON";
          if (keys.has(key)) return `the key ${JSON.stringify(key)} stands twice`;
          keys.add(key);
        }
        isKey = false;
        at = end;
      }
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at;
    if (text[at] === "\\") at += 1;
  }
  return text.length;
}

/** The key itself: another spelling of it with escapes is the same key. */
function plain(quoted: string): string | null {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}
