import { matchAt } from "./quotes.ts";

/** Where a program of React's kind is in the markup that stands in it: in a tag, between tags, or in the braces of either. */
export type Markup = { readonly kind: "tag" | "text" } | { readonly kind: "code"; depth: number };

const mayHold = /\.(?:[jt]sx|[cm]?js)$/;
/** A type's parameters look alike, but for what follows. */
const tag = /<(?:>|(?!\w+\s*,|\w+\s+extends\b|[A-Z]\w*>\()[A-Za-z_][\w.:-]*(?=[\s/>]))/y;

export function mayHoldMarkup(path: string): boolean {
  return mayHold.test(path);
}

export function beginsTag(text: string, at: number): boolean {
  return text[at] === "<" && matchAt(tag, text, at) !== null;
}

/** What stands between tags: text without a program's signs, a closing tag, or null where a tag or braces begin. */
export function markupAt(text: string, at: number): { readonly end: number; readonly isClosing: boolean } | null {
  const closing = text.startsWith("</", at) ? matchAt(/<\/[\w.:-]*\s*>/y, text, at) : null;
  if (closing !== null) return { end: at + closing[0].length, isClosing: true };
  if (text[at] === "{" || beginsTag(text, at)) return null;
  const own = matchAt(/[^<{]+/y, text, at)?.[0].length ?? 1;
  return { end: at + own, isClosing: false };
}
