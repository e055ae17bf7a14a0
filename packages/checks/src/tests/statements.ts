import { closing, isOpening } from "./tokens.ts";
import type { Token } from "./token.ts";

const goesOn = /^(?:[.?:+*/&|=,)\]{}<-]|else|catch|finally|in|of|instanceof)$/;
const isOpen = /^(?:[.?:+*/&|=,<-])$/;

/** What one after the other is done; a line goes on while it is open, and behind annotations. */
export function statementsOf(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = [];
  let own: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    const before = own.at(-1);
    const isArrow = before?.text === ">" && own.at(-2)?.text === "=";
    const ends =
      token.indent !== null &&
      before !== undefined &&
      !isArrow &&
      !isOpen.test(before.text) &&
      !goesOn.test(token.text) &&
      !isAnnotation(own);
    if ((ends || token.text === ";") && own.length > 0) {
      statements.push(own);
      own = [];
    }
    if (token.text === ";") continue;
    const end = isOpening(token) ? closing(tokens, at) : at + 1;
    for (const one of tokens.slice(at, end)) own.push(one);
    at = end - 1;
  }
  if (own.length > 0) statements.push(own);
  return statements;
}

/** `@Test`, `#[test]`, `[Fact]`: they belong to what follows. */
function isAnnotation(tokens: readonly Token[]): boolean {
  let at = 0;
  while (at < tokens.length) {
    if (tokens[at]?.text === "@") {
      at += 2;
      while (tokens[at]?.text === ".") at += 2;
      if (tokens[at]?.text === "(") at = closing(tokens, at);
    } else if (tokens[at]?.text === "#" && tokens[at + 1]?.text === "[") at = closing(tokens, at + 1);
    // A shell's `[ "$a" = 1 ]` is a statement.
    else if (tokens[at]?.text === "[" && /^[A-Za-z]/.test(tokens[at + 1]?.text ?? "")) at = closing(tokens, at);
    else return false;
  }
  return at > 0;
}

/** Indices of the brackets that stand in no other one. */
export function groupsOf(tokens: readonly Token[]): (readonly [from: number, end: number])[] {
  const groups: (readonly [number, number])[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || !isOpening(token)) continue;
    const end = closing(tokens, at);
    groups.push([at, end]);
    at = end - 1;
  }
  return groups;
}
