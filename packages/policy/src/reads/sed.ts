/** True for a sed script that only prints, changes the stream or ends: no `w`, `W`, `e`, `r`, `R`, nor their flags. */
export function sedOnlyPrints(script: string): boolean {
  let at = 0;
  let depth = 0;
  const peek = (): string => script[at] ?? "";
  const skip = (pattern: RegExp): void => {
    while (at < script.length && pattern.test(peek())) at++;
  };
  /** Past a text that ends with `delimiter`; false where it doesn't end. */
  const delimited = (delimiter: string): boolean => {
    for (; at < script.length; at++) {
      if (peek() === "\\") at++;
      else if (peek() === "\n") return false;
      else if (peek() === "[" && delimiter !== "[") {
        const end = script.indexOf("]", at + (script[at + 1] === "]" || script.startsWith("^]", at + 1) ? 3 : 1));
        // A bracket that doesn't close, or that holds the delimiter, is read differently by different seds.
        if (end < 0 || script.slice(at, end).includes(delimiter)) return false;
        at = end;
      } else if (peek() === delimiter) {
        at++;
        return true;
      }
    }
    return false;
  };
  const address = (): boolean => {
    if (/\d/.test(peek())) skip(/\d/);
    else if (peek() === "$") at++;
    else if (peek() === "/") {
      at++;
      if (!delimited("/")) return false;
      skip(/[IM]/);
    } else if (peek() === "\\") {
      // `\,x,` is an expression between commas.
      const delimiter = script[at + 1] ?? "";
      at += 2;
      if (!/[|#,:@!%~]/.test(delimiter) || !delimited(delimiter)) return false;
      skip(/[IM]/);
    } else return true;
    if (peek() === "~") {
      at++;
      skip(/\d/);
    }
    return true;
  };
  while (at < script.length) {
    skip(/[\s;]/);
    if (at >= script.length) break;
    if (!address()) return false;
    skip(/ /);
    if (peek() === ",") {
      at++;
      skip(/ /);
      if (/[+~]/.test(peek())) at++;
      const before = at;
      if (!address() || at === before) return false;
    }
    skip(/[ !]/);
    const command = peek();
    at++;
    switch (command) {
      case "{":
        depth++;
        continue;
      case "}":
        depth--;
        break;
      case "q":
      case "Q":
      case "l":
        skip(/ /);
        skip(/\d/);
        break;
      case "s":
      case "y": {
        const delimiter = peek();
        at++;
        if (!/[/|#,:@!%~]/.test(delimiter) || !delimited(delimiter)) return false;
        for (; at < script.length && peek() !== delimiter; at++) {
          if (peek() === "\\") at++;
        }
        if (peek() !== delimiter) return false;
        at++;
        if (command === "s") skip(/[gpiIm\d]/);
        break;
      }
      default:
        if (command === "" || !"pdDPnNhHgGx=".includes(command)) return false;
    }
    skip(/ /);
    if (at < script.length && !/[;\n}]/.test(peek())) return false;
  }
  return depth === 0;
}
