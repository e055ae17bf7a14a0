import type { WorldSection } from "@holdfast/protocol";
import type { Director } from "@holdfast/runtime";
import { behaviour, instructions } from "./text/v1.ts";

/**
 * Puts a request together from what was recorded. Instructions and the world as it was at the start come first and never
 * change; everything later is appended, so that a provider's prompt cache keeps hitting.
 */
export function createDirector(): Director {
  return {
    behaviour,
    direct({ world, tools, items }) {
      const sections = [...world].sort((a, b) => (a.id < b.id ? -1 : 1));
      const text = [instructions, ...sections.map(show)].join("\n\n");
      return { instructions: text, tools, items };
    },
  };
}

/** Project text stands below the runtime's own words and says so. */
function show(section: WorldSection): string {
  return section.trust === "project" ? `<project_instructions>\n${section.text}\n</project_instructions>` : section.text;
}
