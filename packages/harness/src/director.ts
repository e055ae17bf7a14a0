import type { WorldSection } from "@holdfast/protocol";
import type { Director } from "@holdfast/runtime";
import { behaviour, describeChecks, describeOutput, describeRules, describeServers, instructions } from "./text/v1.ts";

export interface DirectorOptions {
  /** MCP servers whose tools can be found, by the names of the config. */
  readonly servers?: readonly string[];
}

/**
 * Puts a request together from what was recorded. Instructions and the world as it was at the start come first and never
 * change; everything later is appended, so that a provider's prompt cache keeps hitting.
 */
export function createDirector(options: DirectorOptions = {}): Director {
  const { servers = [] } = options;
  return {
    behaviour,
    describe: ({ settings, checks }) => [
      { id: "rules", trust: "system", text: describeRules(settings) },
      ...(servers.length === 0 ? [] : [{ id: "servers", trust: "system", text: describeServers(servers) } as const]),
      ...(settings.outputSchema === undefined
        ? []
        : [{ id: "output", trust: "system", text: describeOutput(settings.outputSchema) } as const]),
      ...(checks.length === 0 ? [] : [{ id: "checks", trust: "system", text: describeChecks(checks) } as const]),
    ],
    askJudgement: async (input) => (await import("./compaction/record.ts")).askJudgement(input),
    compact: async (input) => (await import("./compaction/derive.ts")).deriveState(input),
    direct({ world, tools, items }) {
      const sections = [...world].sort((a, b) => (a.id < b.id ? -1 : 1));
      const text = [instructions, ...sections.map(show)].join("\n\n");
      return { instructions: text, tools, items };
    },
  };
}

/** Project text stands below the runtime's own words and says so; it can't end its own mark. */
function show(section: WorldSection): string {
  if (section.trust !== "project") return section.text;
  return `<project_instructions>\n${section.text.replaceAll("</project_instructions", "<\\/project_instructions")}\n</project_instructions>`;
}
