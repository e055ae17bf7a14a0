import type { TrustLabel } from "@holdfast/protocol";

/**
 * Something in a skill that isn't as it should be. `line` is that of the file, from 1 on. `stops`: the skill can't be used.
 * An error is against the specification (agentskills.io/specification); a warning is for a person to think of.
 */
export interface SkillFault {
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly stops: boolean;
}

/** What a SKILL.md says. Texts are as written, except that characters which don't show are shown. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly license: string | null;
  readonly compatibility: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Tools that the skill would like to be allowed. They grant nothing. */
  readonly allowedTools: readonly string[];
  readonly body: string;
}

/** `text` is null where some fault stops it. */
export interface ReadSkill {
  readonly text: SkillText | null;
  readonly faults: readonly SkillFault[];
}

export const skillSources = ["user", "project", "package"] as const;
export type SkillSource = (typeof skillSources)[number];

/** A skill that can be used here. */
export interface Skill extends SkillText {
  readonly from: SkillSource;
  /** Real path of its folder. */
  readonly folder: string;
}

/** What a skill's words may influence: a person's own are theirs; others' have no more authority than the project. */
export function trustOfSkill({ from }: Pick<Skill, "from">, isTrusted: boolean): TrustLabel {
  if (from === "user") return "user";
  return isTrusted ? "project" : "untrusted";
}
