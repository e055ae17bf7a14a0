import type { Family } from "./languages.ts";

/** Comments that decide whether or how tests run, as words: what else a comment says is left out. */
export function saidBy(family: Family, comment: string): readonly string[] {
  if (family === "js") return directives(comment, /@ts-expect-error\b|@(?:vitest|jest)-environment(?:-options)?[ \t]+[^\n*]+/g);
  if (family === "go") return isGoRule.test(comment) ? [quoted(comment.replace(/^[ \t]*\/\/[ \t]*/gm, ""))] : [];
  if (family === "shell") return directives(comment, /^#[ \t]*bats[ \t][^\n]*/g);
  return family === "php" && comment.startsWith("/**") ? annotations(comment) : [];
}

const isGoRule = /^\/\/(?:go:build\b|[ \t]*\+build\b|[ \t]*(?:unordered )?output:)/i;

function directives(comment: string, pattern: RegExp): string[] {
  return [...comment.matchAll(pattern)].map(([all]) => quoted(all));
}

function quoted(text: string): string {
  return `"${text
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim()}"`;
}

/** As an attribute would say it. */
function annotations(comment: string): string[] {
  const found = comment.matchAll(
    /@(dataProvider\w*|testWith|test|requires|group|ticket|large|medium|depends\w*|before\w*|after\w*|expectedException\w*)\b[ \t]*([^\n]*)/g,
  );
  return [...found].flatMap(([, name = "", value = ""]) => ["@", name, "(", quoted(value.replace(/\s*\*\/$/, "")), ")"]);
}
