import { asSaid, type Said } from "./words.ts";
import { closing, isOpening } from "./tokens.ts";
import type { Token } from "./token.ts";

/** A line of a program, with those that stand in further below it. */
export interface Line {
  readonly tokens: readonly Token[];
  /** Decorators before it. */
  readonly marks: readonly Token[];
  readonly inner: readonly Line[];
  /** All of it, as it is compared. */
  readonly said: Said;
}

export function linesOf(tokens: readonly Token[]): Line[] {
  const lines: Token[][] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.indent !== null || lines.length === 0) lines.push([]);
    const end = isOpening(token) ? closing(tokens, at) : at + 1;
    for (const one of withTuples(tokens.slice(at, end), tokens[at - 1])) lines.at(-1)?.push(one);
    at = end - 1;
  }
  // Where more stands behind an end, it decides about what it ends.
  const meant = lines.filter((line) => line.some(({ text, isString }) => isString || !/^(?:end|[})\],])$/.test(text)));
  return linesWithin(meant, 0, meant.length);
}

/** The comma that makes a tuple of one value is no formatter's. */
function withTuples(group: readonly Token[], before: Token | undefined): readonly Token[] {
  const open: { readonly isCall: boolean; commas: number }[] = [];
  const kept = [...group];
  for (const [at, token] of group.entries()) {
    const around = open.at(-1);
    if (isOpening(token)) open.push({ isCall: isCalled(group[at - 1] ?? before), commas: 0 });
    else if (token.isString) continue;
    else if (token.text === "," && around !== undefined) around.commas += 1;
    else if (/^[)\]}]$/.test(token.text)) {
      const comma = group[at - 1];
      const isTuple = token.text === ")" && around?.isCall === false && around.commas === 1 && comma?.text === ",";
      if (isTuple) kept[at - 1] = { ...comma, text: ",," };
      open.pop();
    }
  }
  return kept;
}

function isCalled(before: Token | undefined): boolean {
  if (before === undefined || before.isString) return false;
  return /^[\w)\]]+$/.test(before.text) && !/^(?:assert|return|yield|in|not|and|or|is|if|elif|while|else|del)$/.test(before.text);
}

function linesWithin(all: readonly (readonly Token[])[], from: number, end: number): Line[] {
  const lines: Line[] = [];
  let marks: Token[] = [];
  for (let at = from; at < end;) {
    const tokens = all[at] ?? [];
    const indent = tokens[0]?.indent ?? 0;
    let next = at + 1;
    while (next < end && (all[next]?.[0]?.indent ?? 0) > indent) next += 1;
    if (tokens[0]?.text === "@") for (const token of tokens) marks.push(token);
    else {
      const inner = linesWithin(all, at + 1, next);
      lines.push({ tokens, marks, inner, said: withBelow(asSaid([...marks, ...tokens]), inner) });
      marks = [];
    }
    at = next;
  }
  return lines;
}

function withBelow(one: Said, inner: readonly Line[]): Said {
  if (inner.length === 0) return one;
  return {
    text: `${one.text} { ${inner.map(({ said }) => said.text).join(" ")} }`,
    words: [...one.words, "{", ...inner.flatMap(({ said }) => said.words), "}"],
  };
}
