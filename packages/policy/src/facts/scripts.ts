import { codeOptionOf } from "../programs/inline-code.ts";
import { programOf, type ShellWord, type SimpleCommand } from "../shell/command.ts";
import { roughOperands } from "../shell/options.ts";
import { shells } from "../shell/wrapper-table.ts";
import { normalise } from "./place.ts";

const none: ReadonlyMap<SimpleCommand, string> = new Map();
const makefile = /^(?:GNUm|m|M)akefile$/;

/** Lines that commands run by a file which the line itself writes before: `echo 'git push' > x; sh x`. */
export function ownScripts(commands: readonly SimpleCommand[]): ReadonlyMap<SimpleCommand, string> {
  if (commands.length < 2) return none;
  const written = new Map<string, string>();
  const found = new Map<SimpleCommand, string>();
  commands.forEach((command, i) => {
    const line = written.size === 0 ? null : lineRun(command, written);
    if (line !== null) found.set(command, line);
    const paths = pathsWritten(command);
    if (paths.length === 0) return;
    const text = textPrinted(command) ?? (command.isPiped ? textPrinted(commands[i - 1]) : null);
    if (text !== null) for (const path of paths) written.set(path, `${written.get(path) ?? ""}${text}\n`);
  });
  return found;
}

function pathsWritten({ words, redirects }: SimpleCommand): string[] {
  const targets = redirects.flatMap(({ operator, target }) => (/^&?>/.test(operator) && target !== null ? [target] : []));
  if (programOf(words) === "tee") targets.push(...roughOperands(words.slice(1)));
  return targets.flatMap(({ literal }) => (literal === null || literal.startsWith("/dev/") ? [] : [normalise(literal)]));
}

/** What is printed, as far as the line says it: unknown words as they are written. */
function textPrinted(command: SimpleCommand | undefined): string | null {
  if (command === undefined) return null;
  const program = programOf(command.words);
  const words = command.words.slice(1).map(written);
  if (program === "echo") return withBreaks(words.filter((word) => !/^-[neE]+$/.test(word)).join(" "));
  if (program === "printf") return withBreaks((words[0] ?? "").includes("%") ? words.slice(1).join("\n") : (words[0] ?? ""));
  return program === "cat" || program === "tee" ? command.hereText : null;
}

function written({ literal, text }: ShellWord): string {
  return literal ?? text.replace(/^"([\s\S]*)"$/, "$1");
}

function withBreaks(text: string): string {
  return text.replaceAll("\\n", "\n").replaceAll("\\t", "\t");
}

function lineRun({ words }: SimpleCommand, files: ReadonlyMap<string, string>): string | null {
  const program = programOf(words);
  const name = words[0]?.literal;
  if (program === null || name == null) return null;
  const first = roughOperands(words.slice(1))[0]?.literal ?? "";
  const own = name.includes("/") ? files.get(normalise(name)) : undefined;
  if (own !== undefined) return asLine(own, /^#!.*?([\w.+-]+)\s*$/m.exec(own.split("\n", 1)[0]!)?.[1] ?? "sh");
  if (program === "make" || program === "gmake") return recipesOf([...files].find(([path]) => makefile.test(path))?.[1]);
  const isRun = shells.has(program) || program === "source" || program === "." || codeOptionOf(program) !== null;
  const text = isRun ? files.get(normalise(first)) : undefined;
  return text === undefined ? null : asLine(text, program);
}

function asLine(text: string, program: string): string {
  const option = codeOptionOf(program);
  return option === null ? text : `${program} ${option} '${text.replaceAll("'", "'\\''")}'`;
}

function recipesOf(text: string | undefined): string | null {
  const lines = (text ?? "").split("\n").flatMap((line) => /^(?:\t|[^\t=#]{0,200}:[^=;]{0,200};)[-@+ ]*(.*)$/.exec(line)?.[1] ?? []);
  return lines.length === 0 ? null : lines.join("\n");
}
