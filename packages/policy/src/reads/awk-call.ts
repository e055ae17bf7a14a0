import type { ShellWord } from "../shell/command.ts";
import { readOptions } from "../shell/options.ts";
import { awkOnlyPrints } from "./awk.ts";

/** The files that an awk call reads, where its program only works on them and prints; null elsewhere. */
export function readAwk(args: readonly ShellWord[]): ShellWord[] | null {
  const read = readOptions(args, {
    valued: "Fv",
    long: ["field-separator=", "assign=", "posix", "traditional", "re-interval"],
    stopsAtOperand: true,
  });
  const code = read?.operands[0]?.literal;
  if (read === null || code == null || !awkOnlyPrints(code)) return null;
  return read.operands.slice(1).filter((word) => !/^[A-Za-z_]\w*=/.test(word.literal ?? ""));
}
