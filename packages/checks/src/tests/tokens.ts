import { beginsTag, type Markup, markupAt, mayHoldMarkup } from "./jsx.ts";
import { type Family, familyOf } from "./languages.ts";
import { literalAt } from "./literals.ts";
import { matchAt, type Source } from "./quotes.ts";
import type { Token } from "./token.ts";

const word = /[\w$]+(?:\.\d+)?|\S/y;
const beforeMarkup = /^(?:[(,=:[!&|?{};>]|return|default|await|yield|case|else)$/;

export function tokensOf(path: string, text: string): Token[] {
  const family = familyOf(path) ?? "slashed";
  const hasMarkup = family === "js" && mayHoldMarkup(path);
  const tokens: Token[] = [];
  const source: Source = { text, vain: new Uint8Array(text.length), tokens, pending: [], lines: null };
  const markup: Markup[] = [];
  let [isFirst, line] = [true, 0];
  const push = (at: number, own: string, isString: boolean): void => {
    tokens.push({ text: own, at, indent: isFirst ? at - line : null, isString, span: 1 });
    isFirst = false;
  };
  for (let at = 0; at < text.length;) {
    const gap = matchAt(/\s*/y, text, at)?.[0] ?? "";
    const newline = gap.indexOf("\n");
    if (newline >= 0 && source.pending.length > 0) {
      const body = text.slice(at + newline + 1, source.pending.at(-1)?.end);
      push(at + newline + 1, body, true);
      at = source.pending.at(-1)?.next ?? at;
      source.pending.length = 0;
      continue;
    }
    if (newline >= 0) [isFirst, line] = [true, at + gap.lastIndexOf("\n") + 1];
    at += gap.length;
    if (at >= text.length) break;
    const place = markup.at(-1);
    const between = place?.kind === "text" ? markupAt(text, at) : null;
    if (between !== null) {
      // How its lines are broken is a formatter's.
      push(at, between.isClosing ? text.slice(at, between.end) : text.slice(at, between.end).trim().replace(/\s+/g, " "), true);
      if (between.isClosing) markup.pop();
      at = between.end;
      continue;
    }
    if (place?.kind === "tag" && /["']/.test(text[at] ?? "")) {
      const end = text.indexOf(text[at] ?? "", at + 1) + 1 || text.length;
      push(at, plainString(text.slice(at, end), family), true);
      at = end;
      continue;
    }
    const read = place?.kind === "tag" && text.startsWith("/>", at) ? null : literalAt(family, source, at);
    if (read !== null) {
      for (const own of read.isComment === true ? (read.says ?? []) : [plainString(text.slice(at, read.end), family)])
        push(at, own, read.isComment !== true || own.startsWith('"'));
      const broken = read.isComment === true ? text.slice(at, read.end).lastIndexOf("\n") : -1;
      if (broken >= 0) line = at + broken + 1;
      at = read.end;
      continue;
    }
    const last = tokens.at(-1);
    const own = matchAt(word, text, at)?.[0] ?? text[at] ?? "";
    const isTag =
      hasMarkup &&
      beginsTag(text, at) &&
      (place?.kind === "text" || last === undefined || (!last.isString && beforeMarkup.test(last.text)));
    push(at, own, false);
    at += own.length;
    if (isTag || markup.length > 0) follow(markup, own, isTag, last?.text ?? "");
  }
  measure(tokens);
  return tokens;
}

/** Goes into markup, and out of it. */
function follow(markup: Markup[], own: string, isTag: boolean, before: string): void {
  const place = markup.at(-1);
  if (isTag) markup.push({ kind: "tag" });
  else if (place?.kind === "tag" && own === ">") {
    markup.pop();
    if (before !== "/") markup.push({ kind: "text" });
  } else if (place?.kind === "code") {
    if (own === "{") place.depth += 1;
    else if (own === "}" && (place.depth -= 1) === 0) markup.pop();
  } else if (own === "{") markup.push({ kind: "code", depth: 1 });
}

function measure(tokens: readonly Token[]): void {
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (isOpening(token)) open.push(index);
    else if (!token.isString && closes.has(token.text)) {
      const from = open.pop();
      const opening = from === undefined ? undefined : tokens[from];
      if (opening !== undefined && from !== undefined) opening.span = index + 1 - from;
    }
  }
  for (const index of open) {
    const opening = tokens[index];
    if (opening !== undefined) opening.span = tokens.length - index;
  }
}

/** Brackets that stand in one another; no program that people wrote has as many. */
const mostLevels = 100;

export function isTooDeep(tokens: readonly Token[]): boolean {
  let depth = 0;
  return tokens.some((token) => {
    if (isOpening(token)) depth += 1;
    else if (!token.isString && closes.has(token.text)) depth -= 1;
    return depth > mostLevels;
  });
}

/** Either quote is the same where nothing in it has another meaning. */
function plainString(text: string, family: Family): string {
  return /^'[^'"\\\n]*'$/.test(text) && (!/[$@#{`]/.test(text) || family === "js" || family === "python") && family !== "elixir"
    ? `"${text.slice(1, -1)}"`
    : text;
}

const opens = new Set(["(", "[", "{"]);
const closes = new Set([")", "]", "}"]);

/** The index right behind the bracket that closes the one at `from`. */
export function closing(tokens: readonly Token[], from: number): number {
  return Math.min(tokens.length, from + (tokens[from]?.span ?? 1));
}

export function isOpening({ text, isString }: Pick<Token, "text" | "isString">): boolean {
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
