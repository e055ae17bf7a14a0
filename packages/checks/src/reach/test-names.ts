/**
 * Names that runners put there for tests alone: a source that has nothing of its own by such a name, and uses it, reaches its
 * tests, under whatever other name it goes on with it.
 */
const names = /(?<![\w$])(expect|chai|jest|(?:before|after)(?:Each|All))(?![\w$])/g;
const script = /(?<!\.d)\.(?:[cm]?[jt]sx?|vue|svelte)$/;
const library =
  "(?:node:test|vitest|@vitest/[\\w-]+|@jest/[\\w-]+|jest(?:-[\\w-]+)?|mocha|chai|ava|expect|sinon|bun:test|@playwright/test)(?:/[\\w/.-]*)?";
const programs = "(?:globalThis|global|window|self)\\b";

/** Expressions that may hold quotes, comments, and what stands in quotes. What has no end goes on to the file's. */
const words =
  /(?<=[=(,:[!&|?{};\n>][ \t]{0,20})\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*(?:`|$)/g;
/** Lists of names that use none of them. */
const lists = /\bexport\s*(?:type\s*)?\{[^{}]{0,2000}\}\s*from\b|\benum\s+\w+\s*\{[^{}]{0,2000}\}/g;

/** The first name of the tests' own that a file uses in lines that it did not have before; null where there is none. */
export function usedOfTests(path: string, was: string | null, is: string): string | null {
  if (!script.test(path) || is.search(names) === -1) return null;
  const known = new Set(was?.split(/\r?\n/));
  const bare = blank(blank(is, words), lists);
  const lines = bare.split("\n");
  const text = is
    .split("\n")
    .map((line, at) => (known.has(line.replace(/\r$/, "")) ? "" : (lines[at] ?? "")))
    .join("\n");
  for (const name of new Set([...text.matchAll(names)].map(([, one = ""]) => one)))
    if (isUsed(name, text) && !isOwn(name, is, bare)) return name;
  return null;
}

/** Lines stay lines, and the values in a template what they are. */
function blank(text: string, what: RegExp): string {
  return text.replace(what, (found) =>
    found.startsWith("`") ? found.match(/\n|\$\{[^}]{0,200}\}/g)?.join("") || " " : found.replace(/[^\n]/g, " "),
  );
}

/** Its value is taken, set, or called. A key, a member and a method of that name are none. */
function isUsed(name: string, text: string): boolean {
  const keyword = "\\b(?:return|typeof|in|of|await|new|void|case|else|throw|yield|delete)\\b";
  const call = "\\((?:[^()\\n]|\\([^()\\n]*\\)){0,200}\\)";
  const ways = [
    `(?:[=(,[{?:&|!;}]|=>|\\.\\.\\.|${keyword}|^)\\s*${name}\\s*(?:[;,)\\]}[]|\\.(?!\\.)|\\?(?!\\s*:)|=(?!>)|(?:as|in|instanceof)\\b|$)`,
    `(?:[=([?:&|!]|=>|\\.\\.\\.|${keyword})[ \\t]*${name}\\s*\\(`,
    `(?:^|[,;{}])[ \\t]*${name}\\s*${call}\\s*[.,)\\]]`,
    `\\?\\s*${name}\\s*:`,
    `\\{[^{};]{0,200}\\b${name}\\b[^{};]{0,200}\\}\\s*=\\s*${programs}`,
  ];
  return ways.some((way) => new RegExp(way, "m").test(text));
}

/** Whether the file declares or loads it by itself. What it has from a test library, or from all programs' globals, is the tests'. */
function isOwn(name: string, whole: string, bare: string): boolean {
  const ways = [
    `(?<!\\bdeclare\\s{1,20})\\b(?:function\\s*\\*?|class|const|let|var|namespace)\\s+${name}\\b`,
    `\\b(?:const|let|var)\\s*[{[][^=;]{0,200}\\b${name}\\b(?!\\s*:)[^;]{0,200}?[}\\]]\\s*(?::[^=;]{1,200})?=(?!\\s*${programs})`,
    `(?<!\\b(?:if|while|switch|for|with)\\s{0,20})\\((?:[^()]{0,200}[,{[\\s])?${name}\\b(?!\\s*\\.)[^()]{0,200}\\)\\s*(?::[^{=;]{0,200})?(?:=>|\\{)`,
    `(?<![\\w$.])${name}\\s*=>`,
  ];
  if (ways.some((way) => new RegExp(way).test(bare))) return true;
  return new RegExp(`\\bimport\\b[^;"'\`]{0,2000}\\b${name}\\b[^;"'\`]{0,2000}\\bfrom\\s*["'](?!${library}["'])`).test(whole);
}
