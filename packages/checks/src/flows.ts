import { simpleCommands } from "./shell-words.ts";

const shell = "(?:sh|bash|dash|zsh|ksh)";
const program = `(?:${shell}|node|python[\\d.]*|perl|ruby)`;
/** What is written into a shell, or into an interpreter that is given no script. */
const piped = new RegExp(`\\|\\s*(?:\\S*\\/)?(?:${shell}\\b|${program}(?:\\s+--[\\w-]+(?:=\\S+)?)*\\s*-?\\s*(?:$|[;&|)]))`);
const eachRun = new RegExp(`\\b(?:xargs|parallel)\\b[^|;\\n]*?\\b${program}\\s*(?:-\\S+\\s*)*(?:\\{\\}\\s*)?(?:$|[;&|)])`);
/** What a program prints is the script of another, or its name. */
const given = new RegExp(`(?:^|[\\s;&|({])(?:${program}|eval|exec|source|export|env|\\.)\\s+(?:-\\S+\\s+)*["']?(?:\\$\\(|\`)`);
/** A variable's value is run. */
const runVariable = new RegExp(
  `(?:^|[;&|({]|\\bdo|\\bthen)\\s*(?:(?:${program}|eval|exec|source|\\.)\\s+(?:-\\S+\\s+)*)?["']?\\$\\{?([A-Za-z_]\\w*)`,
  "gm",
);
/** What a line prints or how it ends is only looked at. */
const looksAt = /\$\(|`|(?<!\|)\|(?!\||\s*tee\b)|(?<![&\d=])>(?!&|\s*\/dev\/)|^\s*(?:if|while|until|!)\b|^\s*\[|\b(?:diff|cmp)\b/;

/** A script that takes data apart and uses each piece. */
export const takesLines = /\b(?:read|mapfile|readarray|xargs|parallel|awk)\b|\bfor\s+\w+\s+in\b/;

/** The words of a text that are run as scripts, those that are only looked at, and those whose matches are run as tests. */
export interface Flow {
  readonly fed: ReadonlySet<string>;
  readonly captured: ReadonlySet<string>;
  readonly run: Set<string>;
}

/** The words of lines whose files are run as scripts or say which are, and of lines that only look at what they start. */
export function flows(text: string): { readonly fed: ReadonlySet<string>; readonly captured: ReadonlySet<string> } {
  const fed = new Set<string>();
  const captured = new Set<string>();
  const run = [...text.matchAll(runVariable)].map(([, name = ""]) => name);
  const sets =
    run.length === 0 ? null : new RegExp(`(?:^|[\\s;&|])(?:${run.join("|")})=["']?(?:\\$\\(|\`)|\\bfor\\s+(?:${run.join("|")})\\s+in\\b`);
  const reads = run.length > 0 && new RegExp(`\\b(?:read|mapfile|readarray)\\b[^\\n;]*\\b(?:${run.join("|")})\\b`).test(text);
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    const words = simpleCommands(line).flat();
    const isFed =
      piped.test(line) ||
      eachRun.test(line) ||
      given.test(line) ||
      sets?.test(line) === true ||
      (reads && /\bdone\s*<|\|\s*while\b/.test(line));
    for (const word of isFed ? words : []) fed.add(word);
    for (const word of looksAt.test(line) ? words : []) captured.add(word);
  }
  return { fed, captured };
}

const folders =
  /\$\(\s*(?:pwd(?:\s+-[LP])?|dirname\b[^()`]*|realpath\b[^()`]*|readlink\b[^()`]*|git\s+rev-parse\s+--show-toplevel|cd\b[^()`]*&&\s*pwd(?:\s+-[LP])?)\s*\)|`(?:pwd|dirname\s[^`\n]*)`/g;

/** Writes what prints a folder of the workspace as a variable, so that what stands behind it is read as a path. */
export function withFolders(text: string): string {
  let plain = text;
  for (let depth = 0; depth < 3; depth += 1) plain = plain.replace(folders, "$HERE");
  return plain;
}
