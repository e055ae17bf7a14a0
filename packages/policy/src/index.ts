export { createPolicy, type Explanation, type ExplainingPolicy, type PolicyOptions } from "./policy.ts";
export { parseCommand } from "./shell/parse.ts";
export type { ParsedCommand, ShellAssignment, ShellProblem, ShellRedirect, ShellWord, SimpleCommand } from "./shell/command.ts";
export { builtinRules } from "./rules/builtin.ts";
export { combine } from "./rules/combine.ts";
export { type Authority, type Conditions, type Mode, modes, type Rule, type RuleExample } from "./rules/rule.ts";
export { readDataRules } from "./rules/data-rules.ts";
export type { RuleData } from "./rules/rule-data.ts";
export { type CommandPattern, readPattern, type WordsMatch } from "./rules/command-words.ts";
