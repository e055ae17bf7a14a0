import { relative } from "node:path";
import type { FaultySkill, FoundSkills } from "../skills/find.ts";
import { table, wrap } from "./layout.ts";
import { sanitizeLine } from "./sanitize.ts";

const whose = { user: "yours", project: "project", package: "package" } as const;

/** The skills as a table; `remarks` tells what isn't used, and why. */
export function renderSkills({ skills, unread, faulty }: FoundSkills, width: number): { lines: string[]; remarks: string[] } {
  const rows = skills.map((skill) => [sanitizeLine(skill.name), whose[skill.from], sanitizeLine(skill.description)]);
  const stopped = faulty.flatMap(({ path, faults }) => faults.filter(({ stops }) => stops).map((fault) => ({ path, ...fault })));
  const remarks = [
    ...(skills.length === 0
      ? ["no skills: put NAME/SKILL.md into ~/.agents/skills, $HOLDFAST_HOME/skills, or .agents/skills of a trusted project"]
      : []),
    ...stopped.map(({ path, line, message }) => `not used: ${sanitizeLine(path)}:${line}: ${sanitizeLine(message)}`),
    ...(unread.length === 0
      ? []
      : [`not used: ${unread.map(({ name }) => sanitizeLine(name)).join(", ")} of this project, which is not trusted (holdfast trust)`]),
  ];
  return {
    lines: rows.length === 0 ? [] : table([["skill", "whose", "what"], ...rows], width),
    remarks: remarks.flatMap((remark) => wrap(remark, width)),
  };
}

/** `file:line: error: what`, seen from `cwd` where that is shorter. */
export function renderFaults(faulty: readonly FaultySkill[], cwd: string): string[] {
  return faulty.flatMap(({ path, faults }) => {
    const below = relative(cwd, path);
    const shown = below.startsWith("..") ? path : below;
    const inOrder = faults.toSorted((a, b) => a.line - b.line);
    return inOrder.map(({ line, severity, message }) => `${sanitizeLine(shown)}:${line}: ${severity}: ${sanitizeLine(message)}`);
  });
}
