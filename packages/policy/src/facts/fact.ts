import type { Scope } from "@holdfast/protocol";
import type { ShellWord, SimpleCommand } from "../shell/command.ts";

/** What can be true of a call, and what rules match on. `call`: that there is one. */
export const factKinds = [
  "call",
  "destroys_system",
  "device_write",
  "fork_bomb",
  "own_records",
  "no_sandbox",
  "unparsed",
  "too_complex",
  "hidden_characters",
  "hidden_code",
  "unknown_program",
  "typed_input",
  "changed_environment",
  "inline_code",
  "network",
  "inside_host",
  "metadata_host",
  "claimed_key",
  "remote_change",
  "loses_work",
  "outside_write",
  "protected_write",
  "runs_later",
  "secret_read",
  "secret_folder",
  "privilege",
  "processes",
  "services",
  "outlives",
  "database",
  "repeats_doubt",
  "asks_beyond",
  "unknown_tool",
  "read_only_edit",
  "proven_read",
  "confined",
  "confined_read_only",
  "unconfined",
  "file_read",
  "file_edit",
  "harmless_tool",
  "mcp_call",
  "mcp_allowed",
  "mcp_read",
  "asked_for",
  "untrusted_value",
  "steered",
  "carries_out",
  "allowed_host",
  "configured_service",
] as const;
export type FactKind = (typeof factKinds)[number];

const grounds: readonly FactKind[] = [
  "proven_read",
  "confined",
  "confined_read_only",
  "unconfined",
  "file_read",
  "file_edit",
  "harmless_tool",
  "mcp_read",
  "asked_for",
  "allowed_host",
  "configured_service",
];

/** What says nothing against a call, and only has to be allowed. */
export function isGround(kind: FactKind): boolean {
  return grounds.includes(kind);
}

export interface Fact {
  readonly kind: FactKind;
  /** What exactly, for sentences. */
  readonly what: string;
  /** What an approval would have to add so that the call can do it. */
  readonly scope: Scope;
  /** True where it is no more than what a variable may come to: a reason to ask, never one to allow. */
  readonly isGuess?: boolean;
  /** True where it is told by what a script or a task is called: what it does isn't known before it runs. */
  readonly isByName?: boolean;
  /** True where version control has some of what would be lost. */
  readonly isPartlyKept?: boolean;
  /** True where one of its files runs later, or decides what does: no pattern allows that in passing. */
  readonly isProtected?: boolean;
  /** The files it is about, by real path. */
  readonly paths?: readonly string[];
  /** The hosts it reaches, `name` or `name:port`; `any` where that can't be known. */
  readonly hosts?: readonly string[] | "any";
}

/** One simple command, behind all wrappers that only run it. */
export interface Run {
  readonly command: SimpleCommand;
  /** False where its name may mean another program: a function, an alias, a file of the workspace. Nothing is allowed by such a name. */
  readonly isSure: boolean;
  /** What it may run besides, as far as its words tell: only rules that restrict ask about them. */
  readonly mayRun: readonly SimpleCommand[];
}

/** How a command uses a path. Decided later, when the host has said where the path leads. */
export type PathUse =
  | "read"
  /** Shows names, sizes and dates, not contents. */
  | "list"
  | "write"
  /** A tool that would be fetched where this file isn't there. */
  | "installed"
  /** Puts another content, or another file, where one may be: `mv a b`. */
  | "overwrite"
  /** Empties or destroys a content: `truncate`, `shred`. */
  | "truncate"
  | "delete"
  /** Goes from here to `target`; out of the workspace it is as good as deleted. */
  | "move"
  /** Restores an old content over a path, where there is such a path: `git checkout X`. */
  | "restore";

export interface PathNeed {
  readonly use: PathUse;
  readonly word: ShellWord;
  readonly isRecursive: boolean;
  /** Added to the word where it turns out to be a folder: `mv a folder` writes `folder/a`. */
  readonly inside?: readonly string[];
  readonly target?: ShellWord;
  /** True while its path is no more than what a variable may come to. */
  readonly isGuess?: boolean;
}

/** What the judges of programs say about one command. */
export interface Findings {
  readonly facts: Fact[];
  readonly needs: PathNeed[];
}

/** Looks at one program's call. Pure; words that aren't literal must not be taken as harmless. */
export type Judge = (call: JudgedCall, findings: Findings) => void;

export interface JudgedCall {
  readonly command: SimpleCommand;
  readonly program: string;
  readonly args: readonly ShellWord[];
  /** Values of `args`, "" where unknown. */
  readonly texts: readonly string[];
  readonly text: string;
}

export const noScope: Scope = {};

export function addFact(findings: Findings, kind: FactKind, what: string, scope: Scope = noScope): void {
  findings.facts.push({ kind, what, scope });
}

export function addNeed(findings: Findings, use: PathUse, word: ShellWord | undefined, more: Partial<PathNeed> = {}): void {
  if (word !== undefined) findings.needs.push({ use, word, isRecursive: false, ...more });
}
