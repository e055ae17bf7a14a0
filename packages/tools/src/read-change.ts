import type { InspectedPart } from "@holdfast/protocol/check";
import type { Tool } from "@holdfast/runtime/ports/tool-host";
import { quotedPath } from "@holdfast/runtime/paths/quoted";
import { z } from "zod";
import { defineTool, refuse } from "./define.ts";
import { whole } from "./input.ts";

/** The change of one file, in the pieces it is shown in. */
export interface ReadableChange {
  readonly path: string;
  /** Of the whole text. */
  readonly digest: string;
  readonly parts: readonly string[];
}

/** Characters that one call shows at most, beyond its first part. */
const mostChars = 48_000;

const input = z.strictObject({
  paths: z.array(z.string()).min(1).max(50),
  part: whole(1, 100_000).optional().describe("of a change that is shown in parts; with one path"),
});

/** Shows changes that are to be reviewed, and records which parts of them were shown. Nothing is read anew: they stay as they are. */
export function readChange(changes: readonly ReadableChange[]): Tool {
  // Also as they are named in lists.
  const byPath = new Map([
    ...changes.map((change) => [quotedPath(change.path), change] as const),
    ...changes.map((change) => [change.path, change] as const),
  ]);
  return defineTool({
    name: "read_change",
    description: "Show the change (a diff) of files under review.",
    input,
    async plan({ paths, part }) {
      const unknown = paths.find((path) => !byPath.has(path));
      if (unknown !== undefined) return refuse(`${unknown} is not among the changed files. They are: ${listOf(changes)}`);
      const [path = ""] = paths;
      if (part !== undefined && paths.length > 1) return refuse("part goes with one path.");
      const { length } = byPath.get(path)?.parts ?? [];
      if (part !== undefined && part > length) return refuse(`The change of ${path} has ${length} parts.`);
      return { summary: `Read the change of ${paths.join(", ")}` };
    },
    async run({ paths, part = 1 }) {
      const shown: string[] = [];
      const inspected: InspectedPart[] = [];
      let chars = 0;
      for (const path of new Set(paths)) {
        const { path: changed, digest, parts } = byPath.get(path)!;
        const text = parts[part - 1] ?? "";
        if (shown.length > 0 && chars + text.length > mostChars) {
          shown.push(`[Not shown for want of room: ${path}]`);
          continue;
        }
        chars += text.length;
        const more = part < parts.length ? `\n[part ${part} of ${parts.length}: go on with part ${part + 1}]` : "";
        shown.push(`${text.trimEnd()}${more}`);
        inspected.push({ path: changed, digest, part });
      }
      return { status: "completed", text: shown.join("\n"), trust: "tool", inspected };
    },
  });
}

function listOf(changes: readonly ReadableChange[]): string {
  const paths = changes.map(({ path }) => quotedPath(path));
  return paths.length <= 50 ? paths.join(", ") : `${paths.slice(0, 50).join(", ")} and ${paths.length - 50} more`;
}
