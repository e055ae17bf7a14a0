import type { ShellWord } from "./command.ts";
import { type Input, isInput } from "./inner.ts";
import { optionValues } from "./options.ts";

/** Options that name the file of what a program is to do, with other letters that take a value. */
const scriptOptions: Readonly<Record<string, readonly [names: string, valued: string | null]>> = {
  make: ["-f --file --makefile", "CIoWjlEO"],
  gmake: ["-f --file --makefile", "CIoWjlEO"],
  just: ["-f --justfile", "d"],
  ninja: ["-f", "Cjkldtw"],
  rake: ["-f --rakefile", "CeEGIjprRT"],
  task: ["-t --taskfile", "dIoc"],
  ant: ["-f -file -buildfile", null],
  cmake: ["-P", null],
  sed: ["-f --file", "eEil"],
  gsed: ["-f --file", "eEil"],
  gdb: ["-x -ix -command", null],
  lldb: ["-s -S --source --source-before-file", null],
};

/** Options that hold such text themselves. */
const textOptions: Readonly<Record<string, readonly [names: string, valued: string]>> = {
  make: ["-E --eval", "CIoWjlfO"],
  gmake: ["-E --eval", "CIoWjlfO"],
};

/** Programs that do what their input says where they are given no file, as a debugger does. */
const readers = new Set(["gdb", "lldb"]);

/** Whether a program does what its input says, or a file that only exists while the line runs, in a language that nobody here reads. */
export function readsScript(program: string, args: readonly ShellWord[], input: Input): boolean {
  const text = textOptions[program];
  if (text !== undefined && optionValues(args, text[0].split(" "), text[1]).length > 0) return true;
  const isGiven = input.isPiped || input.hereText !== null || input.hasUnknownHere;
  if (isGiven && readers.has(program)) return true;
  const options = scriptOptions[program];
  if (options === undefined) return false;
  return optionValues(args, options[0].split(" "), options[1]).some(
    ({ text: written, literal }) => literal === "-" || isInput.test(literal ?? "") || /^=?<\(/.test(written),
  );
}
