import { quotedPath } from "@holdfast/runtime/paths/quoted";

/** What a review is asked for. `files`: each changed file with the number of parts that its change is shown in. */
export interface ReviewRequest {
  readonly range: string;
  readonly files: readonly { readonly path: string; readonly parts: number }[];
  /** What the person wants looked at in particular; "" for nothing. */
  readonly wishes: string;
}

/** Files named in the request; the rest is counted, and read_change names them where asked for an unknown one. */
const mostNamed = 300;

export function reviewPrompt({ range, files, wishes }: ReviewRequest): string {
  const named = files.slice(0, mostNamed).map(({ path, parts }) => `- ${quotedPath(path)}${parts > 1 ? ` (${parts} parts)` : ""}`);
  const more = files.length > mostNamed ? [`- and ${files.length - mostNamed} more`] : [];
  return [
    `Review ${range}. Change nothing.`,
    "",
    `Read the change of every file below with read_change, all its parts, and whatever else of the project you need to judge them. Look for what is wrong: bugs, lost cases, broken promises to callers, races, security, tests that prove nothing. Leave style alone where it hides nothing.`,
    "A finding names the file and line in the new version (of deleted lines: where they were), and its evidence: what in the code shows it, or what a command you ran showed. Report what you can show and nothing else; no finding is a good result.",
    ...(wishes === "" ? [] : ["", `Asked for in particular: ${wishes}`]),
    "",
    "Changed files:",
    ...named,
    ...more,
  ].join("\n");
}

export function fixPrompt(): string {
  return "Fix the findings of your review, each with the smallest right change, and test what you can. Where one turns out to be wrong, say so instead.";
}

export const severities = ["critical", "high", "medium", "low"] as const;

/** The final answer of a review. */
export const reviewSchema = {
  type: "object",
  additionalProperties: false,
  required: ["summary", "findings"],
  properties: {
    summary: { type: "string", description: "what was looked at and what it amounts to, in a few sentences" },
    findings: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["file", "line", "severity", "title", "detail", "evidence"],
        properties: {
          file: { type: "string" },
          line: { type: "integer", minimum: 1 },
          severity: { type: "string", enum: [...severities] },
          title: { type: "string" },
          detail: { type: "string", description: "what goes wrong, when, and what would be right" },
          evidence: { type: "string", description: "what shows it" },
        },
      },
    },
  },
};
