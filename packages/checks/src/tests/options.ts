import { isOpening } from "./tokens.ts";
import type { Token } from "./token.ts";

/** What calls of a runner say of a test behind a dot, in its options or by a letter before their name. */
export interface Marks {
  readonly skipping: number;
  readonly focusing: number;
}

const runners = /^(?:it|test|describe|context|suite|specify)$/;
const groups = /^(?:it|test|describe|context|suite|specify|example|feature|scenario)$/;
const left = /^x(?:it|describe|test|context|specify)$/;
const alone = /^f(?:it|describe|context|specify)$/;
const skips = /^(?:skip\w*|todo\w*|fixme|fails|failing|runIf)$/;
const options = /^(?:skip|todo|expectFailure|pending|ignore)$/;

interface Around {
  /** Of the brackets: those of a runner's call, an object in them or of a variable, or others. */
  readonly kind: "call" | "options" | "object" | "other";
}

export function optionsIn(tokens: readonly Token[], family: "js" | "ruby"): Marks {
  let [skipping, focusing] = [0, 0];
  const around: Around[] = [];
  // Whether the names with dots between them, up to here, began with a runner's; whether the line did.
  let [isRunner, isOwn, isLine] = [false, false, false];
  for (const [index, token] of tokens.entries()) {
    const [before, next] = [tokens[index - 1], tokens[index + 1]];
    const isMember = before?.text === "." || (before?.text === "[" && next?.text === "]" && token.isString);
    const text = token.isString ? token.text.slice(1, -1) : token.text;
    if (token.indent !== null) isLine = groups.test(text.replace(/^[xf](?=\w)/, "")) || (text === "RSpec" && next?.text === ".");
    if (isMember) {
      const isName = isRunner || (token.isString && isIndexed(tokens, index));
      if (isRunner ? skips.test(text) : (isOwn || isName) && /^(?:skip|todo|pending)$/.test(text)) skipping += 1;
      if (isName && text === "only") focusing += 1;
    }
    if (/^[\w$]/.test(token.text) || token.isString) {
      if (!isMember) [isRunner, isOwn] = [false, family === "js" && /^(?:this|t|ctx)$/.test(token.text)];
      if (!token.isString && runners.test(token.text)) isRunner = true;
    } else if (![".", "[", "]", "("].includes(token.text)) [isRunner, isOwn] = [false, false];
    if (!isMember && !token.isString && family === "js" && isCalled(tokens, index)) {
      if (left.test(text)) skipping += 1;
      if (alone.test(text)) focusing += 1;
    }
    if (isOption(tokens, index, family === "js" ? (around.at(-1)?.kind ?? "other") : isLine ? "call" : "other", family)) {
      if (options.test(text)) skipping += 1;
      if (text === "only" || text === "focus") focusing += 1;
    }
    if (isOpening(token)) {
      around.push({ kind: kindOf(token.text, before, isRunner, around.at(-1)) });
      if (token.text !== "[") [isRunner, isOwn] = [false, false];
    } else if (!token.isString && /^[)\]}]$/.test(token.text)) around.pop();
  }
  return { skipping, focusing };
}

function kindOf(text: string, before: Token | undefined, isRunner: boolean, outer: Around | undefined): Around["kind"] {
  if (text === "(") return isRunner ? "call" : "other";
  if (text !== "{") return "other";
  if (outer?.kind === "call" && (before?.text === "(" || before?.text === ",")) return "options";
  return before?.text === "=" ? "object" : "other";
}

/** A name in quotes behind what it is a part of. */
function isIndexed(tokens: readonly Token[], index: number): boolean {
  return /^(?:[\w$]+|[)\]])$/.test(tokens[index - 2]?.text ?? "");
}

/** With a name in quotes, or as a statement of its own. */
function isCalled(tokens: readonly Token[], index: number): boolean {
  const [before, token, next] = [tokens[index - 1], tokens[index], tokens[index + 1]];
  if (next?.text === ".") return true;
  if (next?.text !== "(") return false;
  return tokens[index + 2]?.isString === true || token?.indent !== null || before === undefined || /^[;{}]$/.test(before.text);
}

function isOption(tokens: readonly Token[], index: number, kind: Around["kind"], family: "js" | "ruby"): boolean {
  const [before, next, value] = [tokens[index - 1]?.text ?? "", tokens[index + 1]?.text ?? "", tokens[index + 2]];
  if (kind === "other" || (family === "js" && kind === "call")) return false;
  const isSymbol = family === "ruby" && before === ":" && /^[,(]$/.test(tokens[index - 2]?.text ?? "");
  if (isSymbol) return next !== "=" || (tokens[index + 2]?.text === ">" && tokens[index + 3]?.text !== "false");
  if (!/^[{,(]$/.test(before)) return false;
  if (family === "js" && kind === "options" && /^[,}]$/.test(next)) return true;
  const isOff = value?.text === "false" || (kind === "object" && /^\d/.test(value?.text ?? ""));
  return next === ":" && !isOff;
}
