import { parse, type Command, type HereDoc, type ParsedScript, type Word } from "unbash";

/** A patch that a command line applies, and nothing else: what `apply_patch` would have been given. */
export interface CommandPatch {
  readonly patch: string;
  /** The folder that its paths start from, as the line names it; null for where the line runs. */
  readonly folder: string | null;
}

const names = new Set(["apply_patch", "applypatch"]);
const shells = new Set(["bash", "sh", "zsh", "dash"]);

/**
 * Finds out whether a line is one call of `apply_patch` whose patch stands in it word for word: as a here-document, a word,
 * or `"$(cat <<'EOF' …)"`, after `cd FOLDER &&` or not, in `bash -lc` or not. Null for any other line: that one runs as
 * it stands, and finds the program of that name.
 */
export function patchInCommand(line: string): CommandPatch | null {
  if (!line.includes("apply_patch") && !line.includes("applypatch")) return null;
  try {
    return patchIn(line, 0);
  } catch {
    // The parser gave up: nothing is known about the line.
    return null;
  }
}

function patchIn(line: string, depth: number): CommandPatch | null {
  const script = parse(line);
  const only = onlyCommand(script);
  if (only?.type === "Command") {
    const inner = depth === 0 ? shellLine(only) : null;
    if (inner !== null) return patchIn(inner, 1);
    const patch = patchOf(only);
    return patch === null ? null : { patch, folder: null };
  }
  if (only?.type !== "AndOr" || only.commands.length !== 2 || only.operators[0] !== "&&") return null;
  const [first, second] = only.commands;
  if (first?.type !== "Command" || second?.type !== "Command") return null;
  const folder = first.name?.value === "cd" && isBare(first, 1) ? literal(first.suffix[0]) : null;
  const patch = patchOf(second);
  if (folder === null || /^(?:-|~|$)/.test(folder) || patch === null) return null;
  return { patch, folder };
}

function onlyCommand(script: ParsedScript) {
  const [statement] = script.commands;
  if ((script.errors ?? []).length > 0 || script.commands.length !== 1 || statement === undefined || statement.background === true)
    return null;
  return statement.command;
}

/** The line of `bash -lc LINE`. */
function shellLine(command: Command): string | null {
  const isShell = shells.has(command.name?.value ?? "") && isBare(command, 2);
  return isShell && /^-l?c$/.test(literal(command.suffix[0]) ?? "") ? literal(command.suffix[1]) : null;
}

function patchOf(command: Command): string | null {
  if (!names.has(command.name?.value ?? "") || !isBare(command, 1)) return null;
  const given = command.suffix[0];
  if (given?.type === "HereDoc") return hereText(given);
  if (given?.type === "HereString") return literal(given.target);
  return literal(given) ?? substituted(given);
}

/** No assignments before it, and so many words or redirections behind it. */
function isBare(command: Command, count: number): boolean {
  return command.prefix.length === 0 && command.suffix.length === count && command.name?.parts === undefined;
}

/** In an unquoted here-document the shell would change what holds `$`, a backquote or a backslash. */
function hereText({ operator, delimiter, body, descriptor, closing }: HereDoc): string | null {
  if (operator !== "<<" || delimiter === undefined || descriptor !== undefined || closing === undefined) return null;
  return delimiter.quoted || !/[$`\\]/.test(body.text) ? body.text : null;
}

type Suffix = Command["suffix"][number];

/** The value of a word that is the same in every run. */
function literal(word: Suffix | Word | undefined): string | null {
  if (word?.type !== "Word") return null;
  // A `~` or a glob alone is also without parts.
  if (word.parts === undefined) return /[*?[~{]/.test(word.text) ? null : word.value;
  const values: string[] = [];
  for (const part of word.parts) {
    if (part.type === "SingleQuoted" || part.type === "AnsiCQuoted") values.push(part.value);
    else if (part.type === "Literal" && !/[*?[~{]/.test(part.text)) values.push(part.value);
    else if (part.type === "DoubleQuoted" && part.parts.every((inner) => inner.type === "Literal"))
      values.push(...part.parts.map((inner) => (inner.type === "Literal" ? inner.value : "")));
    else return null;
  }
  return values.join("");
}

/** The text of `"$(cat <<'EOF' …)"`. */
function substituted(word: Suffix | undefined): string | null {
  const quoted = word?.type === "Word" && word.parts?.length === 1 ? word.parts[0] : undefined;
  const part = quoted?.type === "DoubleQuoted" && quoted.parts.length === 1 ? quoted.parts[0] : undefined;
  const script = part?.type === "CommandExpansion" ? part.script : undefined;
  const cat = script === undefined ? null : onlyCommand(script);
  if (cat?.type !== "Command" || cat.name?.value !== "cat" || !isBare(cat, 1)) return null;
  const here = cat.suffix[0];
  return here?.type === "HereDoc" ? (hereText(here)?.replace(/\n+$/, "") ?? null) : null;
}

/** The same patch with its paths starting from where `folder` starts. */
export function fromFolder(patch: string, folder: string | null): string {
  if (folder === null) return patch;
  return patch.replaceAll(/^(\*\*\* (?:Add File|Update File|Delete File|Move to): *)([^\s/~].*)$/gm, (_, heading: string, path: string) =>
    folder.endsWith("/") ? `${heading}${folder}${path}` : `${heading}${folder}/${path}`,
  );
}
