export { createPolicy, type PolicyOptions } from "./policy.ts";
export { parseCommand } from "./shell/parse.ts";
export type { ParsedCommand, ShellAssignment, ShellProblem, ShellRedirect, ShellWord, SimpleCommand } from "./shell/command.ts";
export { builtinRules } from "./rules/builtin.ts";
export { combine } from "./rules/combine.ts";
export type { Authority, Rule, RuleExample } from "./rules/rule.ts";
