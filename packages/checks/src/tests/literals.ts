import type { Family } from "./languages.ts";
import { delimitedEnd, enclosed, heredoc, matchAt, quoted, quotedEnd, type Reader, type Source, until } from "./quotes.ts";
import { saidBy } from "./said.ts";

/** Strings and comments of each family of languages. The first that fits is it. */

function comment(begin: RegExp, end: string): Reader {
  return ({ text }, at) => {
    const found = matchAt(begin, text, at);
    return found === null ? null : { end: until(text, end, at + found[0].length), isComment: true };
  };
}

/** Up to the end of its line, which is no part of it. */
function lineComment(begin: RegExp): Reader {
  return (source, at) => {
    if (matchAt(begin, source.text, at) === null) return null;
    const end = source.text.indexOf("\n", at);
    return { end: end < 0 ? source.text.length : end, isComment: true };
  };
}

/** Comments that may stand in one another. */
function nestedComment({ text }: Source, at: number): ReturnType<Reader> {
  if (!text.startsWith("/*", at)) return null;
  const sign = /\/\*|\*\//g;
  sign.lastIndex = at;
  let depth = 0;
  for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return { end: sign.lastIndex, isComment: true };
  }
  return { end: text.length, isComment: true };
}

const beforeValue = /^(?:[(,=:[!&|?{};+\-*%<>~^]|return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield)$/;
const beforePlain = /^(?:[(,=:[!&|?{};+\-*%<>~^]|return|in|do|then|else|if|elsif|unless|while|until|when|and|or|not|split|grep|x)$/;

/** Whether a value begins here, so that a slash, say, is no division. */
function isValueNext({ tokens }: Source, before: RegExp): boolean {
  const last = tokens.at(-1);
  if (last === undefined) return true;
  // What a loop or condition is about ends with a bracket, and a statement follows.
  return !last.isString && (last.text === ")" ? isHeadEnd(tokens) : before.test(last.text));
}

/** In languages where a line's end is one of the statement. */
function isPlainValueNext(source: Source, at: number): boolean {
  return isValueNext(source, beforePlain) || /\n[ \t]*$/.test(source.text.slice(Math.max(0, at - 200), at));
}

function isHeadEnd(tokens: Source["tokens"]): boolean {
  let depth = 0;
  // A longer one is taken for a call.
  for (let at = tokens.length - 1; at >= Math.max(0, tokens.length - 200); at -= 1) {
    const { text = "", isString = true } = tokens[at] ?? {};
    if (isString) continue;
    if (text === ")") depth += 1;
    else if (text === "(" && (depth -= 1) === 0)
      return /^(?:if|while|for|with)$/.test(tokens[at - 1]?.text ?? "") && tokens[at - 2]?.text !== ".";
  }
  return false;
}

const scriptRegex: Reader = (source, at) => {
  if (source.text[at] !== "/" || /[/*]/.test(source.text[at + 1] ?? "/")) return null;
  return isValueNext(source, beforeValue) ? regexFrom(source, at, true) : null;
};

function regexFrom(source: Source, at: number, hasClasses: boolean): ReturnType<Reader> {
  const end = quotedEnd(source, at, "/", { hasClasses });
  return end < 0 ? null : { end: end + (matchAt(/[a-z]*/y, source.text, end)?.[0].length ?? 0) };
}

/** In Ruby and Perl: also behind a method, with a space before it and none behind. */
const plainRegex: Reader = (source, at) => {
  if (source.text[at] !== "/" || source.text[at + 1] === "/") return null;
  const isArgument = /\s/.test(source.text[at - 1] ?? "") && !/[\s=]/.test(source.text[at + 1] ?? " ");
  const last = source.tokens.at(-1);
  const isMethod = isArgument && last !== undefined && /^[a-z_]\w*$/.test(last.text);
  return isMethod || isPlainValueNext(source, at) ? regexFrom(source, at, false) : null;
};

/** A template, with the templates and all else inside of it. */
const template: Reader = (source, at) => {
  const { text } = source;
  if (text[at] !== "`") return null;
  // How many brackets are open in each template; none while its own text is read.
  const depths = [0];
  for (let index = at + 1; index < text.length; index += 1) {
    const sign = text[index] ?? "";
    const depth = depths.at(-1) ?? 0;
    if (sign === "\\") index += 1;
    else if (depth === 0) {
      if (sign === "`") depths.pop();
      else if (sign === "$" && text[index + 1] === "{") [depths[depths.length - 1], index] = [1, index + 1];
      if (depths.length === 0) return { end: index + 1 };
    } else if (sign === "`") depths.push(0);
    else if (sign === "{" || sign === "}") depths[depths.length - 1] = depth + (sign === "{" ? 1 : -1);
    else if (/["'/]/.test(sign)) index = Math.max(index, insideEnd(source, index, sign) - 1);
  }
  return { end: text.length };
};

function insideEnd(source: Source, at: number, sign: string): number {
  const { text } = source;
  if (sign !== "/") return quotedEnd(source, at, sign);
  if (text[at + 1] === "*") return until(text, "*/", at + 2);
  return /[(,=:[!&|?{]\s*$/.test(text.slice(Math.max(0, at - 20), at)) ? quotedEnd(source, at, "/", { hasClasses: true }) : -1;
}

/** `q()`, `qw[]`, `m//`, `s///` and their kin. */
const perlQuotes: Reader = ({ text, tokens }, at) => {
  const found =
    tokens.at(-1)?.text !== "sub" && /[qmsty]/.test(text[at] ?? "") && !/[$@%&>{-]/.test(text[at - 1] ?? "")
      ? matchAt(perlQuote, text, at)
      : null;
  if (found === null) return null;
  const open = at + found[0].length - 1;
  let end = delimitedEnd(text, open);
  if (/^(?:s|tr|y)$/.test(found[1] ?? "")) {
    const next = matchAt(/\s*/y, text, end)?.[0].length ?? 0;
    end = delimitedEnd(text, /[[({<]/.test(text[open] ?? "") ? end + next : end - 1);
  }
  return { end: end + (matchAt(/[a-z]*/y, text, Math.min(end, text.length))?.[0].length ?? 0) };
};
const perlQuote = /(?:q[qwrx]?\s+(?!\w+\s*=>)\w|(q[qwrx]?|m|s|tr|y)(?:\s*[!{([<|/"'~]|[#%]))/y;

/** Perl's own variables, whose names are signs. */
const perlVariable: Reader = ({ text }, at) =>
  text[at] === "$" && matchAt(/\$(?!#[\w{$])[^\s\w{:$]/y, text, at) !== null ? { end: at + 2 } : null;

const rubyQuotes: Reader = (source, at) => {
  const found = source.text[at] === "%" ? matchAt(/%(?:[wWiIqQrxs](?=[^\w\s])|(?=[([{<|!]))/y, source.text, at) : null;
  const isSpaced = found !== null && found[0].length > 1 && /\s/.test(source.text[at - 1] ?? " ");
  if (found === null || !(isSpaced || isPlainValueNext(source, at))) return null;
  const end = delimitedEnd(source.text, at + found[0].length);
  return { end: end + (matchAt(/[a-z]*/y, source.text, end)?.[0].length ?? 0) };
};

const sigil: Reader = ({ text }, at) => {
  const found = text[at] === "~" ? matchAt(/~[a-zA-Z]+("""|'''|[([{<|"'/])/y, text, at) : null;
  if (found === null) return null;
  const [all, open = ""] = found;
  return { end: open.length === 3 ? until(text, open, at + all.length) : delimitedEnd(text, at + all.length - 1, false) };
};

/** `?(`: one sign, as Ruby and Elixir write it. */
const sign: Reader = ({ text }, at) =>
  text[at] === "?" && !/[\w)\]]/.test(text[at - 1] ?? "") && matchAt(/\?(?:\\.|[^\s\w])/y, text, at) !== null
    ? { end: at + (text[at + 1] === "\\" ? 3 : 2) }
    : null;

const rawTriple = enclosed(/"""/y, () => '"""');
/** Three quotes, up to three of them that no backslash stands before. */
const triple = (quote: string): Reader => {
  const [begin, end] = [new RegExp(`[rRbBfFuU]{0,2}${quote.repeat(3)}`, "y"), new RegExp(`\\\\[^]|${quote.repeat(3)}`, "g")];
  return ({ text }, at) => {
    const found = matchAt(begin, text, at);
    if (found === null) return null;
    end.lastIndex = at + found[0].length;
    for (let next = end.exec(text); next !== null; next = end.exec(text)) if (!next[0].startsWith("\\")) return { end: end.lastIndex };
    return { end: text.length };
  };
};
const character: Reader = ({ text }, at) => {
  const found = text[at] === "'" ? matchAt(/'(?:\\.[^'\n]*|[^'\\\n])'/y, text, at) : null;
  return found === null ? null : { end: at + found[0].length };
};

const slashes = lineComment(/\/\//y);
const block = comment(/\/\*/y, "*/");
const hash = lineComment(/(?<!\S)#/y);
const goesOn: Reader = ({ text }, at) => (text[at] === "\\" && text[at + 1] === "\n" ? { end: at + 2, isComment: true } : null);
const short = [quoted('"'), quoted("'")];
const long = [quoted('"', { isLong: true }), quoted("'", { isLong: true })];
/** What a program may read as its data. */
const rest = enclosed(/^(?:__END__|__DATA__)\r?$[\s\S]*/my, () => "\n");

const readers: Readonly<Record<Family, readonly Reader[]>> = {
  js: [slashes, block, template, scriptRegex, ...short],
  go: [
    comment(/\/\/[ \t]*(?:unordered )?output:[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/iy, "\n"),
    slashes,
    block,
    enclosed(/`/y, () => "`"),
    ...short,
  ],
  rust: [slashes, nestedComment, enclosed(/[bc]?r(#*)"/y, ([, signs = ""]) => `"${signs}`), quoted('"', { isLong: true }), character],
  jvm: [slashes, block, triple('"'), ...short],
  kotlin: [slashes, nestedComment, rawTriple, ...short],
  dotnet: [slashes, block, enclosed(/\$*("{3,})/y, ([, signs = ""]) => signs), verbatim, ...short],
  swift: [slashes, nestedComment, enclosed(/(#+)("""|")/y, ([, signs = "", quote = ""]) => `${quote}${signs}`), triple('"'), quoted('"')],
  php: [
    slashes,
    lineComment(/#(?!\[)/y),
    block,
    heredoc(/<<<[ \t]*()(["']?)([A-Za-z_]\w*)\2/y, false),
    ...long,
    quoted("`", { isLong: true }),
  ],
  c: [slashes, block, enclosed(/(?:u8|[uUL])?R"([^()\\\s"]{0,16})\(/y, ([, name = ""]) => `)${name}"`), quoted('"'), character],
  dart: [slashes, nestedComment, triple('"'), triple("'"), ...short],
  slashed: [slashes, block, triple('"'), ...short],
  python: [lineComment(/#/y), goesOn, triple('"'), triple("'"), ...short],
  ruby: [
    hash,
    comment(/^=begin\b/my, "\n=end"),
    rest,
    goesOn,
    heredoc(/<<([~-]?)(["'`]?)(?=[A-Z_]|(?<=[~\-"'`])[a-z])([A-Za-z_]\w*)\2/y, true),
    rubyQuotes,
    plainRegex,
    sign,
    ...long,
    quoted("`", { isLong: true }),
  ],
  elixir: [hash, goesOn, triple('"'), triple("'"), sigil, sign, ...long],
  perl: [
    hash,
    comment(/^=(?:pod|begin|head\d|over|item|for|encoding)\b/my, "\n=cut"),
    rest,
    heredoc(/<<(~?)(["']?)(?=[A-Z_]|(?<=[~"'])[a-z])([A-Za-z_]\w*)\2/y, true),
    perlVariable,
    perlQuotes,
    plainRegex,
    ...long,
  ],
  shell: [
    hash,
    goesOn,
    heredoc(/(?<!<)<<(-?)[ \t]*\\?(["']?)([A-Za-z_]\w*)\2/y, true),
    (source, at) => (source.text.startsWith("$'", at) ? quoted("'", { isLong: true })(source, at + 1) : null),
    quoted('"', { isLong: true }),
    quoted("'", { isLong: true, isRaw: true }),
  ],
  hashed: [hash, triple('"'), quoted('"', { isLong: true }), quoted("'")],
};

/** In C#, where two quotes stand for one. */
function verbatim({ text }: Source, at: number): ReturnType<Reader> {
  const found = matchAt(/(?:\$@|@\$?)"(?:""|[^"])*(?:"|$)/y, text, at);
  return found === null ? null : { end: at + found[0].length };
}

/** The literal or comment that begins here. */
export function literalAt(family: Family, source: Source, at: number): ReturnType<Reader> {
  for (const reader of readers[family]) {
    const read = reader(source, at);
    if (read === null) continue;
    const says = read.isComment === true ? saidBy(family, source.text.slice(at, read.end)) : [];
    return says.length === 0 ? read : { ...read, says };
  }
  return null;
}
