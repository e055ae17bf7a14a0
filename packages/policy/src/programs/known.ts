import type { Judge } from "../facts/fact.ts";
import { argumentForms } from "../reads/argument-table.ts";
import { readForms } from "../reads/table.ts";
import { builtins } from "../shell/builtins.ts";
import { readRunner } from "../shell/runners.ts";
import { opaqueWrappers, shells, wrapperForms } from "../shell/wrapper-table.ts";
import { programOf, type SimpleCommand } from "../shell/command.ts";
import { databaseJudges } from "./databases.ts";
import { deviceJudge, fileJudges } from "./files.ts";
import { frameworkJudges } from "./frameworks.ts";
import { helperJudges } from "./helpers.ts";
import { interpreterJudge } from "./inline-code.ts";
import { networkJudges } from "./network.ts";
import { packageJudges } from "./packages.ts";
import { patchJudges } from "./patch.ts";
import { editJudges } from "./sed.ts";
import { systemJudges } from "./system.ts";
import { taskJudges } from "./targets.ts";

export const judgeTables: readonly ReadonlyMap<string, Judge>[] = [
  networkJudges,
  packageJudges,
  systemJudges,
  databaseJudges,
  taskJudges,
  fileJudges,
  editJudges,
  frameworkJudges,
  helperJudges,
  patchJudges,
];

/** A program of which something is known to speak against what it does. */
export function isJudged(program: string): boolean {
  return (
    program === "git" ||
    shells.has(program) ||
    wrapperForms.has(program) ||
    interpreterJudge(program) !== null ||
    deviceJudge(program) !== null ||
    judgeTables.some((judges) => judges.has(program))
  );
}

const tested = new Set([...argumentForms.keys()].map((words) => words.split(" ", 1)[0]!));
/** Their operands are text, or names of programs that aren't run. */
const takesText = new Set(
  "man info apropos whatis where whereis whence tldr cheat pgrep pidof logger figlet cowsay gum banner boxes lolcat eslint tsc prettier ruff mypy pylint flake8 black".split(
    " ",
  ),
);
/** Judged for something else; they run another program as well. */
const runsOthers = new Set(
  "gdb lldb perf prlimit py-spy cmake direnv nix nix-shell conda mamba micromamba yarn pnpm bun ansible watchman tmux screen ninja".split(
    " ",
  ),
);

/** True for a program that may run what its operands name, as far as anyone here knows. */
export function mayRunOperands(command: SimpleCommand): boolean {
  const program = programOf(command.words);
  if (program === null || command.isKeyword) return false;
  if (runsOthers.has(program)) return readRunner(program, command.words) === null;
  const isKnown =
    isJudged(program) ||
    opaqueWrappers.has(program) ||
    readForms.has(program) ||
    builtins.has(program) ||
    tested.has(program) ||
    takesText.has(program);
  return !isKnown && readRunner(program, command.words) === null;
}
