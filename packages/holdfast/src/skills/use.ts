import { sayReadSkill } from "@holdfast/harness/skills/skill-tools";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Said } from "../prompts/use.ts";
import type { FoundSkills } from "./find.ts";

/** `/name args` or `$name args`; null for any other text. Pure. */
export function readSkillCall(text: string): { readonly name: string; readonly args: string } | null {
  const match = /^[/$]([a-z0-9][a-z0-9-]*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return match === null ? null : { name: match[1] ?? "", args: match[2] ?? "" };
}

/** A skill's instructions and what is asked of it, as one prompt; null where there is no such skill. Throws `usage` for one that is not trusted. Pure. */
export function saySkill({ skills, unread }: FoundSkills, name: string, args: string): Said | null {
  const skill = skills.find((one) => one.name === name);
  if (skill?.from === "user") return { text: sayReadSkill(skill, args), trust: "user" };
  if (skill !== undefined) return { text: sayReadSkill(skill, ""), trust: "project", ...(args.trim() === "" ? {} : { own: args.trim() }) };
  if (!unread.some((one) => one.name === name)) return null;
  throw new HoldfastError("usage", `the skill ${name} is this project's, which is not trusted`, {
    hint: "read it (holdfast skills show), then trust the project: holdfast trust",
  });
}
