import { HoldfastError } from "@holdfast/protocol/error";
import type { PromptText } from "./parse.ts";

/**
 * A prompt with its arguments: `$1` to `$9` are words (quotes hold several together), `$ARGUMENTS` is all of them as typed,
 * `$$` a dollar sign. One that has no place for them gets them at its end. What was put in is not looked through again.
 * Throws `usage` where an argument is missing. Pure.
 */
export function expandPrompt(name: string, prompt: PromptText, typed: string): string {
  const all = typed.trim();
  const words = wordsOf(all);
  const missing = prompt.arguments.filter((argument, index) => !argument.endsWith("?") && words[index] === undefined);
  if (missing.length > 0) {
    throw new HoldfastError("usage", `/${name} needs ${missing.join(", ")}`, { hint: `/${[name, ...prompt.arguments].join(" ")}` });
  }
  let isPlaced = false;
  const text = prompt.body.replace(/\$(?:ARGUMENTS\b|[1-9](?!\d)|\$)/g, (found) => {
    if (found === "$$") return "$";
    isPlaced = true;
    return found === "$ARGUMENTS" ? all : (words[Number(found.slice(1)) - 1] ?? "");
  });
  return isPlaced || all === "" ? text : `${text}\n\n${all}`;
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double?.replace(/\\(["\\])/g, "$1") ?? single ?? plain ?? "",
  );
}
