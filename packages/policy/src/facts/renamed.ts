import { isJudged } from "../programs/known.ts";
import type { ShellWord } from "../shell/command.ts";
import { roughOperands } from "../shell/options.ts";
import { addFact, type Findings, type JudgedCall } from "./fact.ts";

const systemProgram = /^\/(?:usr\/)?(?:local\/)?s?bin\/([^/]+)$/;

/** `cp /bin/rm x`: under another name, or as a file of the workspace, a program is no longer known as what it is. */
export function judgeRenamed({ program, args, text, command }: JudgedCall, findings: Findings): void {
  const isCopied = program === "cat" && command.redirects.some(({ operator }) => operator.startsWith(">"));
  if (isCopied && args.some(({ literal }) => isJudged(systemProgram.exec(literal ?? "")?.[1] ?? "")))
    addFact(findings, "unknown_program", `${text} copies a program`);
  if (!/^g?(?:cp|ln|mv|install)$/.test(program)) return;
  const operands = roughOperands(args, ["-t", "--target-directory", "-m", "-o", "-g", "-S"]);
  const target = operands.length > 1 ? operands.at(-1)! : null;
  const isKnown = (word: ShellWord): boolean =>
    (word.literal === null ? word.guesses : [word.literal]).some((value) => {
      const name = systemProgram.exec(value)?.[1];
      return name !== undefined && isJudged(name) && target !== null && !keepsName(target.literal, name);
    });
  if (operands.slice(0, -1).some(isKnown)) addFact(findings, "unknown_program", `${text} gives a program another name`);
}

/** The same name, or the same without its version: `python` for `python3`. A folder keeps it. */
function keepsName(target: string | null, name: string): boolean {
  const given = (target ?? "").replace(/^.*\//, "");
  const stem = (text: string): string => text.replace(/[\d.-]+$/, "");
  return given === "" || given === "." || given === ".." || stem(given) === stem(name);
}
