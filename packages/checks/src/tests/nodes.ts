import { closing, isOpening, plainText, type Token } from "./tokens.ts";

/** A line of a program, with those that stand in further below it. */
export interface Node {
  readonly line: readonly Token[];
  /** Decorators before it. */
  readonly marks: readonly Token[];
  readonly inner: readonly Node[];
  /** All of it, as it is compared. */
  readonly text: string;
}

export function linesOf(tokens: readonly Token[]): Node[] {
  const lines: Token[][] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.indent !== null || lines.length === 0) lines.push([]);
    const end = isOpening(token) ? closing(tokens, at) : at + 1;
    for (const one of tokens.slice(at, end)) lines.at(-1)?.push(one);
    at = end - 1;
  }
  const meant = lines.filter(([first]) => first !== undefined && !/^(?:end|})$/.test(first.text));
  return nodesOf(meant, 0, meant.length);
}

function nodesOf(lines: readonly (readonly Token[])[], from: number, end: number): Node[] {
  const nodes: Node[] = [];
  let marks: Token[] = [];
  for (let at = from; at < end;) {
    const line = lines[at] ?? [];
    const indent = line[0]?.indent ?? 0;
    let next = at + 1;
    while (next < end && (lines[next]?.[0]?.indent ?? 0) > indent) next += 1;
    if (line[0]?.text === "@") for (const token of line) marks.push(token);
    else {
      const inner = nodesOf(lines, at + 1, next);
      const below = inner.length === 0 ? "" : ` { ${inner.map(({ text }) => text).join(" ")} }`;
      nodes.push({ line, marks, inner, text: `${plainText([...marks, ...line])}${below}` });
      marks = [];
    }
    at = next;
  }
  return nodes;
}
