import type { HereDoc, HereString, Redirection } from "unbash";
import type { ShellRedirect } from "./command.ts";
import type { Input } from "./inner.ts";
import { nothingFile } from "./nothing.ts";
import { readWord, type ShellValues } from "./word.ts";

export const noInput: Input = { hereText: null, hasUnknownHere: false, isPiped: false, fromFile: false, isGiven: false };
/** Stands for "no input" where a keyword, not a program, is recorded. */
export const keywordInput: Input = { ...noInput };

/** What redirections give a command to read; the last one counts. */
export function inputOf(redirects: readonly Redirection[], values: ShellValues): Input {
  let input = noInput;
  for (const redirect of redirects) {
    const given = { ...noInput, isGiven: true };
    // Under another number it stands beside the input: `3< file` takes no pipe's place.
    const isBeside =
      redirect.descriptor !== undefined && (redirect.descriptor.type !== "FileDescriptor" || redirect.descriptor.value !== 0);
    if (redirect.type === "HereDoc" || redirect.type === "HereString") {
      const text = isBeside ? null : textOf(redirect, values);
      input = { ...given, hereText: text, hasUnknownHere: text === null };
    } else if (/^<>?$/.test(redirect.operator)) input = isBeside ? { ...input, isGiven: true } : { ...given, fromFile: true };
    else if (redirect.operator === "<&" && !isBeside && !/^[0-]$/.test(redirect.target?.text ?? "")) input = { ...given, fromFile: true };
  }
  return input;
}

function textOf(redirect: HereDoc | HereString, values: ShellValues): string | null {
  if (redirect.type === "HereString") return redirect.target === undefined ? null : readWord(redirect.target, values).literal;
  const { parts, text } = redirect.body;
  return parts === undefined || parts.every((part) => part.type === "Literal") ? text : null;
}

/** Whether a command is given something to read that isn't known to be nothing. `isAround`: what stands around it is. */
export function isFedBy(
  input: Input,
  redirects: readonly ShellRedirect[],
  { isPiped, isFedNothing, isAround }: { readonly isPiped: boolean; readonly isFedNothing: boolean; readonly isAround: boolean },
): boolean {
  const files = redirects.filter(({ operator }) => operator.startsWith("<"));
  if (input.fromFile) return files.length === 0 || files.some(({ target }) => target?.literal !== nothingFile);
  return input.hereText === null ? input.isGiven || (isPiped ? !isFedNothing : isAround) : input.hereText !== "";
}
