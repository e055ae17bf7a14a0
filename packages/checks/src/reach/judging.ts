/** A call in the tests of something that a file defines. */
interface Call {
  /** Its value is not looked at; only whether it is true is; or it is compared, kept or handed on. */
  readonly place: "statement" | "truth" | "value";
  readonly args: string;
  readonly statement: string;
}

/** What makes a comparison fail. */
const failing = /\bassert|\bthrow\b|\braise\b|\bdie\b|\bcroak\b|\bfail|not ok|\bexit(?:Code)?\b|AssertionError|\bexpect\b|reject/i;
const mostCalls = 300;
const mostArguments = 400;
const defined =
  /\b(?:function\s*\*?|def|sub|class)\s+(\w+)|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:async\b|function\b|\(|\w+\s*=>)|\bexports\.(\w+)\s*=|^[ \t]+(?:static\s+|async\s+)*(\w+)\s*\([^()\n]*\)\s*\{|^(\w+)\s*\(\s*\)\s*\{/gm;
const words = /^(?:if|for|while|switch|catch|function|return|constructor)$/;

/** Names under which the tests may call what is in a file: those it defines, and what they call it where it has none. */
function namesOf(text: string, stem: string, testText: string): string[] {
  const own = [...text.matchAll(defined)].flatMap((found) => found.slice(1)).filter((name) => name !== undefined && !words.test(name));
  const at = `["'\`][^"'\`\\n]*(?<![\\w-])${stem}(?:\\.\\w+)?["'\`]`;
  const given = new RegExp(
    `\\bimport\\s+(\\w+)\\s+from\\s*${at}|\\b(?:const|let|var)\\s+(\\w+)\\s*=\\s*(?:await\\s+)?require\\(\\s*${at}`,
    "g",
  );
  const renamed = [...testText.matchAll(/\b(\w+)\s*(?:\bas\b|:)\s*(\w+)(?=[^{}()\n]*\}\s*(?:from|=)|\s*(?:,|$))/gm)];
  const others = [...testText.matchAll(given)].flatMap((found) => found.slice(1)).filter((name) => name !== undefined);
  const all = new Set([...own, ...others] as string[]);
  for (const [, from = "", to = ""] of renamed) if (all.has(from)) all.add(to);
  return [...all];
}

const truly =
  /(?:\b(?:ok|assert|assert_|assertTrue|assertFalse|isTrue|isOk|isFalse|assert_true)!?\s*\(\s*|\bassert\s+|\b(?:if|unless|elif|while)\s*\(?\s*)(?:!+\s*|not\s+)?$/;
const compares =
  /^\s*(?:[=!<>]=|[<>]|\.(?!\s*(?:toBe\(\s*(?:true|false)|toBe(?:Truthy|Falsy)|to\.be\.(?:true|false|ok)|toEqual\(\s*true))\w|\[)/;
const isTrue =
  /^\s*(?:,\s*(?:true|True|1)\b|\)\s*\.\s*(?:toBe|toEqual|toStrictEqual)\(\s*true|\)\s*\.\s*(?:toBeTruthy|to\.be\.(?:true|ok))|\s*(?:===?|is)\s*(?:true|True)\b)/;

/** Behind it a value goes on, or it is the failing itself that is tested. */
const handsOn = /\.(?:map|filter|flatMap|reduce|find|some|every|sort|then|from)\([^()]*(?:\([^()]*\))?\s*=>\s*$/;
const expectsFailure = /(?:throws?|reject|raises|dies|lives|expect)\w*\b[^;\n]*\n?\s*$/i;

function placeOf(lead: string, after: string): Call["place"] {
  const before = lead.trimEnd();
  if ((truly.test(lead) && !compares.test(after)) || (/(?:\w\s*\(|\bassert)$/.test(before) && isTrue.test(after))) return "truth";
  const startsLine = /\n[ \t]*$/.test(lead) || before === "";
  const stands = /(?:[;{}]|=>|\))$/.test(before) || (startsLine ? !/[([,=+\-*/?&|<>]$/.test(before) : before.endsWith(":"));
  const isUsed = /^\s*(?:[=!<>]=|[-+*/<>.?,}])/.test(after) && !/^\s*\n/.test(after);
  return stands && !isUsed && !handsOn.test(lead) && !expectsFailure.test(lead) ? "statement" : "value";
}

function callsOf(name: string, testText: string): Call[] {
  const calls: Call[] = [];
  for (const { index } of testText.matchAll(new RegExp(`(?<![\\w$])${name}\\s*\\(`, "g"))) {
    if (calls.length >= mostCalls) break;
    const lead = testText.slice(Math.max(0, index - 200), index).replace(/(?:\b(?:await|yield)\s+|&?\w+(?:\.|::|->))*$/, "");
    if (/\b(?:function|def|sub|class)\s*$/.test(lead)) continue;
    const from = testText.indexOf("(", index) + 1;
    let [depth, at] = [1, from];
    for (; at < testText.length && at - from < mostArguments && depth > 0; at += 1) {
      if (testText[at] === "(") depth += 1;
      else if (testText[at] === ")") depth -= 1;
    }
    const args = testText.slice(from, at - 1);
    const statement = `${/[^;\n]*$/.exec(lead)?.[0] ?? ""}${/^[^;\n]*/.exec(testText.slice(index, index + mostArguments))?.[0] ?? ""}`;
    calls.push({ place: placeOf(lead, testText.slice(at, at + 80)), args, statement });
  }
  // `same "$(total 1 2)" 3`, as a shell calls it; what it is given is written as other languages would.
  for (const [, args = ""] of testText.matchAll(
    new RegExp(`(?:^|[;&|{]|\\b(?:then|do|else|if|!))[ \\t]*${name}[ \\t]+([^\\n;&|]*\\$[^\\n;&|]*)`, "gm"),
  )) {
    if (calls.length >= mostCalls) break;
    const [, ...rest] = args
      .replace(/["']/g, "")
      .replace(/\$\((\w+)[^()]*\)/g, "$1()")
      .split(/\s+/);
    calls.push({
      place: "statement",
      args: [args.replace(/["']/g, "").replace(/\$\(\s*(\w+)[^()]*\)?/, "$1() "), ...rest].join(", "),
      statement: "",
    });
  }
  return calls;
}

const literals =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\$])*`|\b(?:true|false|null|undefined|None|True|False|new|await)\b|[\w$]+\s*:(?!:)/g;

/** Whether what a call is given comes from code that is not the file's own: a result, or a function to be called. */
function isGiven(
  args: string,
  names: readonly string[],
  isForeign: (name: string) => boolean,
): { readonly call: boolean; readonly variable: boolean } {
  const rest = args.replace(/\bnew\s+[\w.]+/g, " ").replace(literals, " ");
  const call = [...rest.matchAll(/([\w$]+)\s*\(/g)].some(([, name = ""]) => !names.includes(name));
  const variable = [...rest.matchAll(/(?<![\w$.])[$@%]?([A-Za-z_]\w*)(?!\w*\s*\()/g)].some(([, name = ""]) => isForeign(name));
  return { call, variable };
}

/** What a variable of the tests holds is not the file's own, nor said by the tests, nor looked at by them in another way. */
function foreignIn(testText: string, names: readonly string[]): (name: string) => boolean {
  const known = new Map<string, boolean>();
  const own = names.join("|");
  const find = (name: string): boolean => {
    const said = `\\b${name}\\s*=\\s*(?:[\\[{"'\`\\d-]|(?:new|null|true|false|True|False|None)\\b|(?:await\\s+)?(?:${own || "-"})\\b)`;
    const loops = `\\bfor\\b[^\\n]*\\b${name}\\b[^\\n]*\\b(?:of|in)\\b`;
    const looks = `\\b(?:assert|expect|equal|is)\\w*(?:\\.\\w+)*\\s*\\(\\s*${name}\\b`;
    return !names.includes(name) && !new RegExp(`${said}|${loops}|${looks}`).test(testText);
  };
  return (name) => {
    const found = known.get(name) ?? find(name);
    known.set(name, found);
    return found;
  };
}

function countArguments(args: string): number {
  const flat = args.replace(literals, " x ").replace(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/g, " x ");
  return flat.trim() === "" ? 0 : flat.split(",").length;
}

/**
 * Whether the tests leave it to a file to judge what other code gives: they hand it a result, and look at no more than that
 * it does not fail, or is true; or they have both sides of a comparison from it. What is compared with what it should be is
 * itself what is tested.
 */
export function judges(was: string, is: string, stem: string, testText: string): boolean {
  const names = namesOf(was, stem, testText);
  const calls = names.flatMap((name) => callsOf(name, testText).map((call) => ({ ...call, name }))).slice(0, mostCalls);
  const isForeign = foreignIn(testText, names);
  const count = (text: string): number => text.split("\n").filter((line) => failing.test(line)).length;
  const isLooser = count(is) < count(was);
  if (calls.length === 0) return isLooser;
  const canFail = failing.test(was);
  return calls.some(({ place, args, statement, name }) => {
    const given = isGiven(args, names, isForeign);
    const isMany = countArguments(args) > 1;
    if (place === "truth") return given.call || (given.variable && isMany);
    if (place === "statement") return (canFail && (given.call || (given.variable && isMany))) || (isLooser && given.variable);
    const isBothSides = statement.split(new RegExp(`(?<![\\w$])${name}\\s*\\(`)).length > 2;
    return given.call && isBothSides && /\b(?:equal|is|assert|expect)\w*|[=!]==?/i.test(statement);
  });
}
