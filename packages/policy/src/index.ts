export { createPolicy, type PolicyOptions } from "./policy.ts";
export { parseCommand } from "./shell/parse.ts";
export type { ParsedCommand, ShellAssignment, ShellProblem, ShellRedirect, ShellWord, SimpleCommand } from "./shell/command.ts";
export { builtinRules } from "./rules/builtin.ts";
export { combine } from "./rules/combine.ts";
export type { Authority, Conditions, Mode, Rule, RuleExample } from "./rules/rule.ts";
export { renderRule, type RuleData } from "./rules/rule-data.ts";
export { quoteWords } from "./rules/quote-words.ts";
export { type CommandPattern, readPattern, type WordsMatch } from "./rules/command-words.ts";
