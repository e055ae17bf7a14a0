import { readGit } from "../programs/git.ts";
import type { ShellWord } from "./command.ts";
import { asWords, lineOf, nothing, type Unwrapped } from "./inner.ts";
import { roughOperands } from "./options.ts";
import { linesByOption } from "./runs-by-option.ts";

/** Subcommands that run a command: of their operands, or of an option. */
export function unwrapGit(words: readonly ShellWord[]): Unwrapped | null {
  const { subcommand, args } = readGit(words);
  if (subcommand === null) return null;
  const [first] = roughOperands(args);
  const rest = first === undefined ? [] : args.slice(args.indexOf(first) + 1);
  if (subcommand === "bisect" && first?.literal === "run") return { ...nothing, inner: [asWords(rest)] };
  if (subcommand === "submodule" && first?.literal === "foreach") {
    const inner = rest.slice(rest.findIndex((word) => word.literal?.startsWith("-") !== true));
    return { ...nothing, inner: [inner.length === 1 ? lineOf(inner[0]!, "git submodule foreach") : asWords(inner)], losesPlace: true };
  }
  const lines = linesByOption(`git ${subcommand}`, args);
  return lines.length === 0 ? null : { ...nothing, inner: lines.map((line) => lineOf(line, `git ${subcommand}`)) };
}
