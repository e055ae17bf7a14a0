import { nameOf } from "./paths.ts";
import type { Words } from "./shell-words.ts";

/** How a runner's own file says what it runs. */
export interface Recipes {
  readonly programs: RegExp;
  /** The files it reads, the first that is there. */
  readonly files: readonly string[];
  /** They are programs, which say what they start in quotes. */
  readonly isProgram?: true;
  /** It does not say which lines a call runs. */
  readonly isLoose: boolean;
  /** The lines that a call runs, as a shell is given them. */
  lines(text: string, words: Words): readonly string[];
}

const header = /^@?([^\s#:=](?:[^#:=]|=(?=["'\w]))*?)\s*:(?![=:])([^#;=]*)(?:;(.*))?(?:#.*)?$/;
/** Files that a runner's file takes in. */
const includes =
  /^\s*(?:(?:-|s)?include|subninja)\s+([^#\n]+)|^\s*(?:import|mod)\??\s+(?:\w+\s+)?["']([^"'\n]+)["']|^\s*taskfile:\s*(\S+)/gm;
const mostTargets = 1_000;

export const recipes: readonly Recipes[] = [
  {
    programs: /^g?make$/,
    files: ["GNUmakefile", "makefile", "Makefile"],
    isLoose: false,
    lines: (text, words) => targetLines(withValues(text, words), words),
  },
  {
    programs: /^just$/,
    files: ["justfile", "Justfile", ".justfile"],
    isLoose: false,
    lines: (text, words) => targetLines(text.replace(/\{\{\s*justfile_directory\(\)\s*\}\}/g, "."), words),
  },
  { programs: /^(?:ninja|samu)$/, files: ["build.ninja"], isLoose: false, lines: ninjaLines },
  { programs: /^(?:task|go-task)$/, files: ["Taskfile.yml", "Taskfile.yaml"], isLoose: true, lines: listed },
  { programs: /^tox$/, files: ["tox.ini", "setup.cfg"], isLoose: true, lines: commandsOf },
  {
    programs: /^(?:nox|rake|gulp|grunt|inv|invoke|doit)$/,
    files: ["noxfile.py", "Rakefile", "gulpfile.js", "gulpfile.mjs", "Gruntfile.js", "tasks.py", "dodo.py"],
    isLoose: true,
    isProgram: true,
    lines: () => [],
  },
  { programs: /^(?:pre-commit|lefthook)$/, files: [".pre-commit-config.yaml", "lefthook.yml"], isLoose: true, lines: listed },
];

export function includedBy(text: string): string[] {
  return [...text.matchAll(includes)].flatMap(([, many = "", one = "", other = ""]) =>
    `${many} ${one} ${other}`.split(/\s+/).filter((path) => path !== ""),
  );
}

/** What `make` puts in place of its variables, where their values are plain. */
function withValues(text: string, words: Words): string {
  const values = new Map<string, string>([
    ["MAKE", "make"],
    ["CURDIR", "."],
    ["SHELL", "sh"],
  ]);
  for (const [, name = "", how, value = ""] of text.matchAll(/^ *(?:export +|override +)?([\w.-]+)\s*([:?+!]*)=[ \t]*((?:\\\n|[^\n#])*)/gm))
    values.set(name, how === "+" ? `${values.get(name) ?? ""} ${value}` : value.trim());
  for (const word of words) {
    const [, name, value = ""] = /^(\w+)=(.*)$/.exec(word) ?? [];
    if (name !== undefined) values.set(name, value);
  }
  let filled = text;
  for (let round = 0; round < 4; round += 1)
    filled = filled.replace(/\$[({]([\w.-]+)[)}]/g, (all, name: string) => values.get(name) ?? all);
  return filled.replaceAll("$$", "$");
}

/** The lines of the targets that a call names (of the first where it names none), and of those they need. */
function targetLines(text: string, words: Words): string[] {
  const targets: { readonly names: readonly string[]; readonly needs: readonly string[]; readonly lines: string[] }[] = [];
  let goal = /^\.DEFAULT_GOAL\s*:?=\s*(\S+)/m.exec(text)?.[1] ?? null;
  for (const line of text.replace(/\\\n\s*/g, " ").split("\n")) {
    if (/^\s+\S/.test(line)) targets.at(-1)?.lines.push(line.trim().replace(/^[@+-]+\s*/, ""));
    const [, names, needs = "", first] = header.exec(line) ?? [];
    if (names === undefined) continue;
    // A recipe of `just` has its parameters behind its name.
    const all = names.split(/\s+/);
    targets.push({
      names: all,
      needs: needs.split(/[\s|()&]+/).filter((one) => one !== ""),
      lines: first === undefined ? [] : [first.trim()],
    });
    if (goal === null && !names.startsWith(".") && !names.includes("%")) goal = all[0] ?? null;
  }
  const given = words.slice(1).filter((word, index) => !/^-|=/.test(word) && !/^-[CfIo]$/.test(words[index] ?? ""));
  const pending = given.length > 0 ? given : goal === null ? [] : [goal];
  const lines: string[] = [];
  const seen = new Set<string>();
  for (let name = pending.pop(); name !== undefined && seen.size < mostTargets; name = pending.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const target of targets) {
      if (!target.names.some((one) => one === name || fits(one, name))) continue;
      lines.push(...target.lines);
      pending.push(...target.needs);
    }
  }
  return lines;
}

/** The commands of all rules, with the files that each edge is built from in place of `$in`. */
function ninjaLines(text: string): string[] {
  const whole = text.replace(/\$\n\s*/g, " ");
  const values = new Map<string, string>();
  const commands = new Map<string, string>();
  for (const [, name = "", value = ""] of whole.matchAll(/^([\w.-]+)\s*=[ \t]*(.*)$/gm)) values.set(name, value);
  for (const [, rule = "", body = ""] of whole.matchAll(/^rule\s+(\S+)[ \t]*\n((?:[ \t]+.*(?:\n|$))*)/gm))
    commands.set(rule, /^[ \t]+command\s*=[ \t]*(.*)$/m.exec(body)?.[1] ?? "");
  const lines: string[] = [];
  for (const [, out = "", rule = "", from = "", body = ""] of whole.matchAll(
    /^build\s+([^:\n]*):\s*(\S+)([^\n]*)\n?((?:[ \t]+.*(?:\n|$))*)/gm,
  )) {
    const own = [...body.matchAll(/^[ \t]+([\w.-]+)\s*=[ \t]*(.*)$/gm)].map(([, name = "", value = ""]) => [name, value] as const);
    const known = new Map([...values, ["in", from.split("|")[0] ?? ""], ["out", out.split("|")[0] ?? ""], ...own]);
    const fill = (line: string): string =>
      line.replace(/\$(?:\{([\w.-]+)\}|(\w+))/g, (all, a?: string, b?: string) => known.get(a ?? b ?? "") ?? all);
    lines.push(fill(fill(commands.get(rule) ?? "")).replaceAll("$$", "$"));
  }
  return [...new Set(lines)].slice(0, mostTargets);
}

/** `%` stands for anything in a rule. */
function fits(pattern: string, name: string): boolean {
  const at = pattern.indexOf("%");
  return at >= 0 && name.startsWith(pattern.slice(0, at)) && name.endsWith(pattern.slice(at + 1));
}

/** Items and values of a YAML file that could be lines of a shell. */
function listed(text: string): string[] {
  return [...text.matchAll(/^[ \t]*(?:-[ \t]+)?(?:(?:cmd|cmds|sh|run|entry):[ \t]*)?[>|]?(?:"([^"\n]*)"|'([^'\n]*)'|(\S.*))$/gm)]
    .map(([, one, two, three]) => one ?? two ?? three ?? "")
    .filter((line) => !/^[\w-]+:/.test(line));
}

/** The values of `commands` and their like in an INI file. */
function commandsOf(text: string): string[] {
  return [...text.matchAll(/^\s*(?:commands\w*|allowlist_externals)\s*=((?:[^\n]*)(?:\n[ \t]+[^\n]*)*)/gm)].flatMap(([, lines = ""]) =>
    lines.split("\n").map((line) =>
      line
        .trim()
        .replace(/^-\s*/, "")
        .replace(/\{(?:toxinidir|tox_root)\}/g, ".")
        .replace(/\{posargs(?::([^}]*))?\}/g, "$1"),
    ),
  );
}

/** The runner's file that a program reads, where it has one. */
export function recipesOf(program: string): Recipes | null {
  return recipes.find(({ programs }) => programs.test(nameOf(program))) ?? null;
}
