import type { WorldSection } from "@holdfast/protocol";
import { instructions } from "../text/v1.ts";

/** A piece of what stands before the conversation, as the model reads it. `section` null: the runtime's own words. */
export interface HeadPart {
  readonly section: WorldSection | null;
  readonly text: string;
}

/** In one order whatever order the world was looked at, so that the same record gives the same request. */
export function headParts(world: readonly WorldSection[]): readonly HeadPart[] {
  const sections = [...world].sort((a, b) => (a.id < b.id ? -1 : 1));
  return [{ section: null, text: instructions }, ...sections.map((section) => ({ section, text: showSection(section) }))];
}

export const betweenParts = "\n\n";

/** Project text stands below the runtime's own words and says so; it can't end its own mark. */
export function showSection({ trust, text }: Pick<WorldSection, "trust" | "text">): string {
  if (trust !== "project") return text;
  return `<project_instructions>\n${text.replaceAll("</project_instructions", "<\\/project_instructions")}\n</project_instructions>`;
}
