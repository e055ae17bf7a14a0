import { programOf, type ShellAssignment, type ShellWord } from "./command.ts";

const takesValue: Readonly<Record<string, RegExp>> = {
  read: /^-\w*[adinNptu]$/,
  mapfile: /^-\w*[dnOsuCc]$/,
  readarray: /^-\w*[dnOsuCc]$/,
};

/** Variables that a builtin sets without `NAME=value` being written: `read PATH`, `printf -v PATH`, `getopts x PATH`, `let PATH=1`. */
export function assignedBy(words: readonly ShellWord[]): ShellAssignment[] {
  const program = programOf(words);
  const args = words.slice(1).map((word) => word.literal ?? "");
  const names = program === null ? [] : namesIn(program, args);
  return names.flatMap((name) => (/^[A-Za-z_]\w*$/.test(name) ? [{ name, value: null }] : []));
}

function namesIn(program: string, args: readonly string[]): readonly string[] {
  switch (program) {
    case "read":
    case "mapfile":
    case "readarray": {
      const array = args.flatMap((arg, at) => (program === "read" && /^-\w*a$/.test(arg) ? [args[at + 1] ?? ""] : []));
      const operands = args.filter((arg, at) => !arg.startsWith("-") && !takesValue[program]!.test(args[at - 1] ?? ""));
      return [...array, ...operands];
    }
    case "printf":
      return args[0] === "-v" ? args.slice(1, 2) : [];
    case "getopts":
      return args.slice(1, 2);
    case "wait":
      return args.flatMap((arg, at) => (arg === "-p" ? [args[at + 1] ?? ""] : []));
    case "let":
      return args.flatMap((arg) => /^\s*(\w+)\s*[-+*/%&|^<>]*=(?!=)/.exec(arg)?.[1] ?? []);
    // A name for another variable: what it is set to sets that one.
    case "declare":
    case "typeset":
    case "local":
      return args.some((arg) => /^-\w*n/.test(arg)) ? args.flatMap((arg) => /^\w+=(\w+)$/.exec(arg)?.[1] ?? []) : [];
    default:
      return [];
  }
}
