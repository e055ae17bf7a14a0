import { addFact, addNeed, type Judge, type JudgedCall } from "../facts/fact.ts";
import { nothingFile } from "../shell/nothing.ts";
import { hasOption, optionValues, roughOperands } from "../shell/options.ts";

/** Everyday programs that run another one, or let something go, by one of their options. */

/** A program that is named by an option, or a word, that this matches. */
function starts(pattern: RegExp): Judge {
  return (call, findings) => {
    const end = call.texts.indexOf("--");
    const own = end < 0 ? call.texts : call.texts.slice(0, end);
    if (own.some((text) => pattern.test(text))) addFact(findings, "hidden_code", `${call.text} names a program to run`);
  };
}

/** `zip -m` removes what it packed, and `-TT` is a line. */
const zip: Judge = (call, findings) => {
  if (hasOption(call.args, "--unzip-command") || call.texts.some((text) => /^-\w*TT/.test(text)))
    addFact(findings, "hidden_code", `${call.text} names a program to run`);
  if (hasOption(call.args, "-m", "--move"))
    for (const word of roughOperands(call.args).slice(1)) addNeed(findings, "delete", word, { isRecursive: true });
  addNeed(findings, "write", roughOperands(call.args)[0]);
};

/** Its own tools for files, and builds of the target that installs. */
export const cmake: Judge = (call, findings) => {
  if (call.texts[0] === "-E") return cmakeTool(call, findings);
  const targets = optionValues(call.args, ["-t", "--target"]).map((word) => word.literal ?? "?");
  const installs = call.texts.some((text, i) => /^install(?:\/|$)/.test(text) && call.texts.lastIndexOf("--target", i) >= 0);
  if (hasOption(call.args, "--install") || installs || targets.some((name) => /^install(?:\/|$)/.test(name)))
    addFact(findings, "outside_write", `${call.text} installs into the machine`, { unsandboxed: true });
};

function cmakeTool({ args, texts }: JudgedCall, findings: Parameters<Judge>[1]): void {
  const words = roughOperands(args.slice(2));
  const name = texts[1] ?? "";
  if (/^(?:rm|remove|remove_directory)$/.test(name)) for (const word of words) addNeed(findings, "delete", word, { isRecursive: true });
  else if (/^(?:touch|touch_nocreate|make_directory)$/.test(name)) for (const word of words) addNeed(findings, "write", word);
  else if (/^(?:copy\w*|rename|create_\w*link)$/.test(name))
    addNeed(findings, texts.includes(nothingFile) ? "truncate" : "overwrite", words.at(-1));
  if (name === "rename") addNeed(findings, "delete", words[0]);
}

/** Settings of cargo that name what it runs. */
const cargo: Judge = (call, findings) => {
  const isProgram = ({ literal }: { literal: string | null }): boolean =>
    literal === null || /(?:runner|wrapper|linker|rustc|rustdoc|rustflags|alias)\b/.test(literal);
  if (optionValues(call.args, ["--config"], null).some(isProgram)) addFact(findings, "hidden_code", `${call.text} names a program to run`);
};

export const helperJudges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ["zip", zip],
  ["cargo", cargo],
  ...["npm", "npx", "pnpm", "yarn"].map((name) => [name, starts(/^--(?:script-shell|node-options)(?:=|$)/)] as const),
  ["less", starts(/^\+.*[!|]/s)],
  ["man", starts(/^(?:-\w*[PH]|--p|--h(?!elp$))/)],
  ["split", starts(/^--f/)],
  ...["gcc", "g++", "cc", "c++", "clang", "clang++"].map((name) => [name, starts(/^(?:-wrapper|-f(?:pass-)?plugin=|-specs=)/)] as const),
]);
