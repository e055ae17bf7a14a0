import type { Authority, Rule } from "@holdfast/policy";

export interface PolicyPlace {
  readonly home: string;
  /** The person's own home folder, for `~`. */
  readonly userHome: string;
  /** The project's folder; null where no project is concerned. */
  readonly project: string | null;
  readonly isTrusted: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What is wrong in a rule file; `where` is `FILE:LINE`. */
export interface PolicyProblem {
  readonly where: string;
  readonly message: string;
  readonly hint?: string;
}

export interface GatheredPolicy {
  /** Rules of organisation, user and project, in this order, as their files hold them. */
  readonly rules: readonly Rule[];
  readonly problems: readonly PolicyProblem[];
  /** Worth knowing; nothing is wrong. */
  readonly notes: readonly string[];
  /** Files that were read. */
  readonly files: readonly string[];
}

export interface PolicyFile {
  readonly path: string;
  readonly authority: Authority;
  /** The folder that a project's file must lie in without a link on the way. */
  readonly inside?: string;
  readonly isRequired?: true;
}
