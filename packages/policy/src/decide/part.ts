import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { Fact, Run } from "../facts/fact.ts";
import type { Mode } from "../rules/rule.ts";
import type { SimpleCommand } from "../shell/command.ts";

/** A file that a part of a call uses. */
export interface Touched {
  readonly use: "read" | "write";
  /** As the call spells it, absolute, without `.` and `..`. */
  readonly plain: string;
  /** Where it really is. */
  readonly real: string;
  /** Below a root of the workspace, where it is there. */
  readonly relative: string | null;
  /** False for a word that only looks like it: the program may do anything with it, or nothing. */
  readonly isSure: boolean;
}

/** What is judged alone: one simple command of a line, or a call as a whole. The strictest answer stands for the call. */
export interface Part {
  /** Null for what is true of a line as a whole, and for other calls. */
  readonly command: SimpleCommand | null;
  /** For the words of a command; null for its redirections and assignments, which rules about words don't speak of. */
  readonly run: Run | null;
  readonly facts: readonly Fact[];
  readonly touched: readonly Touched[];
}

/** What is to be decided, and all that rules may ask about it. */
export interface JudgedRequest {
  readonly request: PolicyRequest;
  readonly mode: Mode;
  readonly home: string | null;
  readonly parts: readonly Part[];
  /** True where every part is proven to only read. */
  readonly provenRead: boolean;
}

export function modeOf(request: Pick<PolicyRequest, "mode" | "isPlanning">): Mode {
  if (request.isPlanning === true) return "plan";
  switch (request.mode) {
    case "read-only":
      return "read-only";
    case "workspace-write":
      return "workspace";
    case "off":
      return "full";
  }
}
