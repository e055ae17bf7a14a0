import type { CallPlan, TrustLabel } from "@holdfast/protocol";
import { linePath } from "@holdfast/runtime/paths/quoted";
import { lowestTrust } from "@holdfast/protocol/trust";
import type { FoundChunk, Tool } from "@holdfast/runtime";
import { fieldsOf } from "../discovery/fields.ts";

/** A piece of a document, and how far it is to be trusted. `path` is as a person reads it. */
export interface FoundDocument extends FoundChunk {
  readonly trust: TrustLabel;
}

export interface DocumentLibrary {
  /** Brings the index up to date first. `remarks`: what could not be looked at, a line each. */
  search(
    query: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<{ readonly found: readonly FoundDocument[]; readonly remarks: readonly string[] }>;
}

const mostFound = 6;
const excerptChars = 1_000;

/** `search_documents`: pieces of the project's documents, and of folders that the config names, by words about them. */
export function searchDocumentsTool(library: DocumentLibrary): Tool {
  return {
    isDeferred: true,
    isUnnamed: true,
    spec: {
      name: "search_documents",
      description:
        "Find passages in documents (Markdown, text, reStructuredText …) of this project and of the user's folders, by words about what is asked. Says for each where it stands.",
      schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    },
    async plan(input) {
      const { query } = fieldsOf(input);
      if (typeof query !== "string" || query.trim() === "") {
        return { type: "refused", text: "search_documents takes {query}: a few words about what is looked for." };
      }
      return planOf(query);
    },
    async run({ plan }, _, signal) {
      const { query } = fieldsOf(plan.input) as { query: string };
      const { found, remarks } = await library.search(query, mostFound, signal);
      if (found.length === 0) return { status: "completed", text: ["No document has these words.", ...remarks].join("\n"), trust: "tool" };
      const text = [...found.map(showFound), ...remarks].join("\n\n");
      return { status: "completed", text, trust: lowestTrust("tool", ...found.map(({ trust }) => trust)) };
    },
  };
}

/** Where it stands, and what it says. */
export function showFound({ path, line, endLine, heading, text, isWhole, trust }: FoundDocument): string {
  const said = text.length <= excerptChars ? text : `${text.slice(0, excerptChars).toWellFormed()}…`;
  const about = [
    `${linePath(path)}:${line}-${endLine}`,
    ...(heading === "" ? [] : [heading]),
    ...(isWhole ? [] : ["only its beginning is indexed"]),
  ];
  return `${about.join(" · ")} (${trust}):\n${said.trim()}`;
}

function planOf(query: string): CallPlan {
  const summary = `Search the documents: ${query}`;
  return { input: { query }, summary, reads: ["documents:*"], writes: [], workspace: "none", replay: "safe", changesWorkspace: false };
}
