import { programOf, type ShellWord } from "./command.ts";
import { optionValues, roughOperands } from "./options.ts";

const silent = new Set(": true false test [ unset sleep wait shift".split(" "));
/** They pass on what they are given, and their operands name files that are read. */
const passing = new Set("cat sort uniq tac rev nl".split(" "));

/** Whether a command prints nothing at all, so that a file behind `>` is only emptied. `isFed`: its input holds something. */
export function printsNothing(words: readonly ShellWord[], isFed: boolean): boolean {
  const program = programOf(words);
  if (words.length === 0) return true;
  if (program === null) return false;
  const operands = roughOperands(words.slice(1));
  const isEmpty = operands.every(({ literal }) => literal === "");
  if (silent.has(program)) return true;
  switch (program) {
    case "echo":
      return isEmpty && words.slice(1).some(({ literal }) => /^-[eE]*n/.test(literal ?? ""));
    case "printf":
      return (
        operands.length > 0 && operands.every(({ literal }, i) => literal === "" || (i === 0 && literal === "%s" && operands.length > 1))
      );
    case "tee":
    case "tr":
      return !isFed;
    case "head":
    case "tail":
      return optionValues(words.slice(1), ["-c", "-n", "--bytes", "--lines"]).some(({ literal }) => literal === "0");
    default:
      return passing.has(program) && (operands.length === 0 ? !isFed : operands.every(({ literal }) => literal === nothingFile));
  }
}

/** What is read from there is nothing. */
export const nothingFile = "/dev/null";
