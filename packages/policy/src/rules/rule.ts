import type { Decision } from "@holdfast/protocol";
import type { FactKind } from "../facts/fact.ts";

/** Who speaks through a rule. `project` is applied last and only where it is stricter. */
export const authorities = ["organisation", "user", "builtin", "project"] as const;
export type Authority = (typeof authorities)[number];

/** A call to test a rule with: a command, a file tool with its path, or a request with its method and host (`host:port`). */
export type RuleExample =
  | string
  | { readonly tool: string; readonly path: string }
  | { readonly tool: string; readonly method: string; readonly host: string };

/**
 * A rule is data. It matches a call of which one of `facts` is true. `{what}` in a sentence stands for what exactly.
 * Examples must be matched by it, counterexamples must not; both are tried whenever rules are loaded.
 */
export interface Rule {
  readonly id: string;
  /** `builtin`, or a file with the line of the rule. */
  readonly source: string;
  readonly authority: Authority;
  readonly decision: Decision;
  /** A deny of the built-in rules that only the organisation can lift. */
  readonly isFinal?: boolean;
  readonly facts: readonly FactKind[];
  readonly person: string;
  readonly model: string;
  readonly examples: readonly RuleExample[];
  readonly counterexamples: readonly RuleExample[];
}
