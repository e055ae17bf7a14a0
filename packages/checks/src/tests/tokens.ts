/** One word, number, string or sign of a program; comments are none. */
export interface Token {
  /** As it is compared: strings of one line in double quotes. */
  readonly text: string;
  readonly at: number;
  /** How far its line is indented, where it is the first on it; null elsewhere. */
  readonly indent: number | null;
  readonly isString: boolean;
}

export type Blocks = "brackets" | "indents";

const spaced = /\.(?:pyi?|rb|exs?)$/;
const hashed = /\.(?:pyi?|rb|exs?|sh|bash|zsh|bats|pl|pm|t|jl|R)$/;
const slashed = /\.(?:[cm]?[jt]sx?|vue|svelte|go|rs|java|kts?|groovy|scala|cs|swift|php|dart|cc?|cpp|hs|ml|erl|lua)$/;

/** Whether a file is a program of a language whose tests are told apart. */
export function isCode(path: string): boolean {
  return hashed.test(path) || slashed.test(path);
}

/** What a file's blocks are known by: signs around them, or how far their lines stand in. */
export function blocksOf(path: string): Blocks {
  return spaced.test(path) ? "indents" : "brackets";
}

const strings = String.raw`[rRbBfFuU]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?''')|"(?:\\[\s\S]|[^"\\])*"`;
// An apostrophe in the text of a page begins no string that goes on to the next one.
const ofOneLine = String.raw`"""[\s\S]*?"""|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'`;
const quoted = String.raw`'(?:\\[\s\S]|[^'\\])*'`;
// A character of Rust: 'a in <'a> is no string that goes on to the next one.
const character = String.raw`'(?:\\.[^'\n]*|[^'\\\n])'`;
const word = String.raw`[\w$]+(?:\.\d+)?`;
const patterns = {
  slash: new RegExp(String.raw`(//(?!go:build)[^\n]*|/\*[\s\S]*?(?:\*/|$))|(${ofOneLine})|(${word}|\S)`, "y"),
  rust: new RegExp(String.raw`(//(?!go:build)[^\n]*|/\*[\s\S]*?(?:\*/|$))|(r#"[\s\S]*?"#|${strings}|${character})|(${word}|\S)`, "y"),
  python: new RegExp(String.raw`(#[^\n]*|\\\n)|(${strings}|${quoted})|(${word}|\S)`, "y"),
  hash: new RegExp(
    String.raw`((?<!\S)#[^\n]*|^=(?:pod|begin|head\d|cut)\b[\s\S]*?(?:^=(?:cut|end)\b[^\n]*|$(?![\s\S]))|\\\n)|(${strings}|${quoted})|(${word}|\S)`,
    "my",
  ),
};
const regexLiteral = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[dgimsuvy]*/y;
const stringLiteral = new RegExp(ofOneLine, "y");
const beforeRegex = /^(?:[(,=:[!&|?{};+\-*%<>~^]|return|typeof|case|in|of)$/;

export function tokensOf(path: string, text: string): Token[] {
  const pattern = path.endsWith(".rs")
    ? patterns.rust
    : /\.pyi?$/.test(path)
      ? patterns.python
      : hashed.test(path)
        ? patterns.hash
        : patterns.slash;
  const takesRegex = pattern === patterns.slash;
  const tokens: Token[] = [];
  const space = /\s*/y;
  let isFirst = true;
  for (let at = 0; at < text.length;) {
    space.lastIndex = at;
    const gap = space.exec(text)?.[0] ?? "";
    isFirst ||= gap.includes("\n");
    at += gap.length;
    if (at >= text.length) break;
    const isRegex = takesRegex && text[at] === "/" && (tokens.length === 0 || beforeRegex.test(tokens.at(-1)?.text ?? ""));
    regexLiteral.lastIndex = pattern.lastIndex = at;
    const literal =
      takesRegex && text[at] === "`" ? text.slice(at, templateEnd(text, at)) : isRegex ? regexLiteral.exec(text)?.[0] : undefined;
    const [all = text[at] ?? "", comment, string] = literal === undefined ? (pattern.exec(text) ?? []) : [literal, undefined, literal];
    if (comment === undefined) {
      const indent = isFirst ? at - (text.lastIndexOf("\n", at - 1) + 1) : null;
      tokens.push({ text: string === undefined ? all : plainString(all), at, indent, isString: string !== undefined });
      isFirst = false;
    }
    at += all.length;
  }
  return tokens;
}

/** Brackets and templates that stand in one another; no program that people wrote has as many. */
const mostLevels = 100;

export function isTooDeep(tokens: readonly Token[]): boolean {
  let depth = 0;
  return tokens.some((token) => {
    if (isOpening(token)) depth += 1;
    else if (!token.isString && closes.has(token.text)) depth -= 1;
    return depth > mostLevels;
  });
}

/** Where a template ends, with the templates inside of it. */
function templateEnd(text: string, from: number, level = 0): number {
  if (level > mostLevels) return text.length;
  let depth = 0;
  for (let at = from + 1; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === "\\") at += 1;
    else if (depth === 0 && sign === "`") return at + 1;
    else if (depth === 0 && sign === "$" && text[at + 1] === "{") [depth, at] = [1, at + 1];
    else if (depth === 0) continue;
    else if (sign === "`") at = templateEnd(text, at, level + 1) - 1;
    else if (/["'/]/.test(sign ?? "")) {
      const literal = sign !== "/" ? stringLiteral : /[(,=:[!&|?{]\s*$/.test(text.slice(Math.max(0, at - 20), at)) ? regexLiteral : null;
      if (literal !== null) literal.lastIndex = at;
      at += (literal?.exec(text)?.[0].length ?? 1) - 1;
    } else if (sign === "{") depth += 1;
    else if (sign === "}") depth -= 1;
  }
  return text.length;
}

function plainString(text: string): string {
  return /^'[^'"\\\n]*'$/.test(text) ? `"${text.slice(1, -1)}"` : text;
}

/** A file without its comments, at the same places. */
export function withoutComments(text: string, tokens: readonly Token[]): string {
  let out = "";
  for (const [index, { at }] of tokens.entries()) {
    const next = tokens[index + 1]?.at ?? text.length;
    const own = text.slice(at, next);
    const length = tokens[index]?.text.length ?? 0;
    out += `${own.slice(0, length)}${/\n/.test(own.slice(length)) ? "\n" : own.length > length ? " " : ""}`;
  }
  return out;
}

const opens = new Set(["(", "[", "{"]);
const closes = new Set([")", "]", "}"]);

/** The index right behind the bracket that closes the one at `from`. */
export function closing(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    const { text = "", isString = false } = tokens[at] ?? {};
    if (isString) continue;
    if (opens.has(text)) depth += 1;
    else if (closes.has(text) && (depth -= 1) <= 0) return at + 1;
  }
  return tokens.length;
}

export function isOpening({ text, isString }: Token): boolean {
  return !isString && opens.has(text);
}

/** Tokens as they are compared: how lines are broken, and what a formatter adds or leaves out, is no difference. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map(({ text }) => text)
    .filter((text, index, all) => text !== ";" && !(text === "," && (index === all.length - 1 || closes.has(all[index + 1] ?? ""))))
    .join(" ")
    .replace(/(?<![\w$\])] )\( ([\w$]+) \) = >/g, "$1 = >");
}
