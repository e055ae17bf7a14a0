/** Words by which an awk program can run, read or load something else than the lines it is given. */
const reaches = /\b(?:system|getline|close|fflush|extension|ARGV|ARGC|ARGIND|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|namespace)\b|@/;
/** Words after which the awks differ in what a `/` is. */
const unlike = /^(?:switch|case)$/;

/** True for an awk program that only works on its input and prints: no file, no pipe, no other program. */
export function awkOnlyPrints(code: string): boolean {
  // Most programs name no such word and can't redirect at all, and then nothing has to be understood.
  if (!reaches.test(code) && !/[|>]/.test(code.replaceAll("||", ""))) return true;
  return !reachesOut(code);
}

/**
 * Looks for the words above outside of strings and expressions (`/system/` only matches), for `>`, `>>` after print, and for
 * a single `|`. A `/` divides after a value and starts an expression elsewhere; after
 * a closing bracket it may be either, and the program isn't understood.
 */
function reachesOut(code: string): boolean {
  let at = 0;
  let depth = 0;
  /** The depth at which a print statement began; null outside. */
  let printing: number | null = null;
  let afterValue = false;
  /** True right after `print` itself, which may stand alone on its line. */
  let afterPrint = false;
  while (at < code.length) {
    const skipped = /^(?:[ \t]+|\\\n|#[^\n]*)/.exec(code.slice(at))?.[0];
    if (skipped !== undefined) {
      at += skipped.length;
      continue;
    }
    const character = code[at]!;
    const endsLine = afterValue || afterPrint;
    afterPrint = false;
    if (character === '"' || (character === "/" && !afterValue)) {
      const end = endOf(code, at);
      if (end === null) return true;
      at = end;
      afterValue = true;
      continue;
    }
    const word = /^[A-Za-z_]\w*/.exec(code.slice(at))?.[0];
    if (word !== undefined) {
      if (reaches.test(word) || unlike.test(word)) return true;
      afterPrint = word === "print" || word === "printf";
      if (afterPrint) printing ??= depth;
      at += word.length;
      afterValue = !/^(?:print|printf|return|in|else|do|if|while|for|getline|delete|exit)$/.test(word);
      continue;
    }
    const number = /^\d[\w.]*/.exec(code.slice(at))?.[0];
    if (number !== undefined) {
      at += number.length;
      afterValue = true;
      continue;
    }
    at++;
    switch (character) {
      case "@":
        return true;
      case "(":
      case "[":
        depth++;
        afterValue = false;
        break;
      case ")":
      case "]":
        depth--;
        if (/^\s*\//.test(code.slice(at))) return true;
        afterValue = true;
        break;
      case "\n":
        // After a comma, `&&`, `||` and, for some, any other sign a statement goes on.
        if (endsLine) printing = null;
        afterValue = false;
        break;
      case ";":
      case "{":
      case "}":
        printing = null;
        afterValue = false;
        break;
      case "|":
        if (code[at] !== "|") return true;
        at++;
        afterValue = false;
        break;
      case ">":
        if (printing !== null && depth <= printing) return true;
        afterValue = false;
        break;
      case "+":
      case "-":
        // `x++ / 2` divides, `+ /re/` doesn't: what a doubled sign leaves is what it stood at.
        if (code[at] === character) at++;
        else afterValue = false;
        break;
      default:
        afterValue = false;
    }
  }
  return depth !== 0;
}

/** Past a string or a regular expression; null where it doesn't end on its line, or a bracket in it hides the end. */
function endOf(code: string, start: number): number | null {
  const quote = code[start];
  for (let at = start + 1; at < code.length; at++) {
    const character = code[at];
    if (character === "\\") at++;
    else if (character === "\n") return null;
    else if (character === quote) return at + 1;
    else if (character === "[" && quote === "/") {
      const end = code.indexOf("]", at + (/^\^?\]/.exec(code.slice(at + 1))?.[0].length ?? 0) + 1);
      if (end < 0 || code.slice(at, end).includes("/")) return null;
      at = end;
    }
  }
  return null;
}
