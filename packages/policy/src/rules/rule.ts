import type { Decision, Scope } from "@holdfast/protocol";
import type { FactKind } from "../facts/fact.ts";
import type { CommandPattern } from "./command-words.ts";

/** Who speaks through a rule. `project` is applied last and only where it is stricter. */
export const authorities = ["organisation", "user", "builtin", "project"] as const;
export type Authority = (typeof authorities)[number];

/** What a session is allowed by default. `plan` explores only and ends in a plan. */
export const modes = ["read-only", "workspace", "full", "plan"] as const;
export type Mode = (typeof modes)[number];

/** A call to test a rule with: a command, a file tool with its path, a request with its method and host (`host:port`), or a tool of an MCP server. */
export type RuleExample =
  | string
  | { readonly tool: string; readonly path: string }
  | { readonly tool: string; readonly method: string; readonly host: string }
  | { readonly mcp: string };

/** A glob against real paths: absolute, below the home (`~/…`), or below a root of the workspace. */
export type PathPattern = string;

/**
 * What a rule matches: every condition that is there must hold; of a list, one entry. A rule that restricts holds where it
 * may hold (a word that nobody knows may be any); one that allows only where it surely does.
 */
export interface Conditions {
  readonly facts?: readonly FactKind[];
  /** Names of tools; `*` stands for any text. */
  readonly tools?: readonly string[];
  readonly commands?: readonly CommandPattern[];
  readonly read?: readonly PathPattern[];
  readonly write?: readonly PathPattern[];
  /** `name`, `name:port`, or `*.domain`. */
  readonly hosts?: readonly string[];
  /** `SERVER/TOOL`; `*` stands for any text. */
  readonly mcp?: readonly string[];
  /** Whether content that nobody vouches for is in the window. */
  readonly untrustedContent?: boolean;
  readonly trustedProject?: boolean;
  /** Whether it reaches another machine, or a service: whatever is asked there carries data out. */
  readonly sendsOut?: boolean;
  /** Whether it changes something outside the workspace. */
  readonly changesOutside?: boolean;
  readonly modes?: readonly Mode[];
  /** Real path of the project's folder: only in sessions there. */
  readonly project?: string;
}

/**
 * A rule is data. `{what}` in a sentence stands for what exactly. Examples must be matched by it, counterexamples must not;
 * both are tried whenever rules are loaded.
 */
export interface Rule {
  readonly id: string;
  /** File with the line of the rule; those of the program itself begin with `builtin/`. */
  readonly source: string;
  readonly authority: Authority;
  readonly decision: Decision;
  /** A deny of the built-in rules that only the organisation can lift. */
  readonly isFinal?: boolean;
  readonly when: Conditions;
  /** What an allow adds to the session's reach for the calls that it allows. */
  readonly grants?: Scope;
  readonly person: string;
  readonly model: string;
  readonly examples: readonly RuleExample[];
  readonly counterexamples: readonly RuleExample[];
}
