import type { FoundPrompts } from "../prompts/find.ts";
import { table, wrap } from "./layout.ts";
import { sanitizeLine } from "./sanitize.ts";

/** The prompts as a table; `remarks` tells of files that can't be used. */
export function renderPrompts({ prompts, refused, untrusted }: FoundPrompts, width: number): { lines: string[]; remarks: string[] } {
  const rows = prompts.map((prompt) => [
    sanitizeLine(["/" + prompt.name, ...prompt.arguments].join(" ")),
    prompt.from === "user" ? "yours" : "project",
    sanitizeLine(prompt.description),
  ]);
  const remarks = [
    ...(prompts.length === 0
      ? ["no prompts: put NAME.md into $HOLDFAST_HOME/prompts, or into .holdfast/prompts of a trusted project"]
      : []),
    ...refused.map(({ path, why }) => `not used: ${sanitizeLine(path)}: ${sanitizeLine(why)}`),
    ...(untrusted.length === 0 ? [] : [`not used: ${untrusted.join(", ")} of this project, which is not trusted (holdfast trust)`]),
  ];
  return {
    lines: rows.length === 0 ? [] : table([["prompt", "whose", "what"], ...rows], width),
    remarks: remarks.flatMap((remark) => wrap(remark, width)),
  };
}
