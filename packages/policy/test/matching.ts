import { builtinRules, type Mode, modes, type Rule } from "../src/index.ts";
import { presetExamples } from "../src/presets/examples.ts";

/** All built-in rules with their examples, those of every mode. */
export const allBuiltin: readonly Rule[] = [
  ...new Map(modes.flatMap((mode: Mode) => builtinRules(mode)).map((rule) => [rule.id, rule])).values(),
].map((rule) => ({ ...rule, ...presetExamples[rule.id] }));
