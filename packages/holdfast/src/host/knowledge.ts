import type * as harness from "@holdfast/harness";
import type { WorldSection } from "@holdfast/protocol";
import type { Embedder, Files, Recall, Tool } from "@holdfast/runtime";
import type { Config } from "../config/config.ts";
import { openDocuments } from "../documents/library.ts";
import { openSkills } from "../skills/library.ts";

interface KnowledgePlaces {
  readonly home: string;
  readonly userHome: string;
  /** Real paths; the first is the project's. */
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly isTrusted: boolean;
  readonly files: Files;
  readonly embedder?: Embedder | undefined;
}

interface Knowledge {
  readonly tools: readonly Tool[];
  /** What the model is told of skills and pinned documents at the start of a turn. */
  sections(isTrusted: boolean): Promise<WorldSection[]>;
  /** Another text where that may have changed. */
  mark(): string;
  /** Null where the config names no event. */
  readonly recall: Recall | null;
  close(): void;
}

type KnowledgeTools = Pick<typeof harness, "readSkillTool" | "searchSkillsTool" | "searchDocumentsTool">;

/** Skills and documents: what a session can know beside its workspace. Nothing is read before it is asked for. */
export function openKnowledge(
  config: Config,
  places: KnowledgePlaces,
  { readSkillTool, searchSkillsTool, searchDocumentsTool }: KnowledgeTools,
): Knowledge {
  const { embedder, files, isTrusted, ...where } = places;
  const { packages, disabled, budgetTokens } = config.skills;
  const skills = openSkills({ ...where, isTrusted, packages, disabled, budget: budgetTokens });
  const documents = openDocuments({ ...where, files, ...config.documents, ...(embedder === undefined ? {} : { embedder }) });
  return {
    tools: [searchDocumentsTool(documents), readSkillTool(skills), searchSkillsTool(skills)],
    sections: async (trusted) => (await Promise.all([skills.sections(trusted), documents.sections(trusted)])).flat(),
    mark: skills.mark,
    recall: config.documents.events.length === 0 ? null : documents,
    close: documents.close,
  };
}
