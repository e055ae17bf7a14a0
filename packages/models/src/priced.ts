import type { Usage } from "@holdfast/protocol";
import type { Model } from "@holdfast/runtime";
import { costOf, type ModelFacts } from "./catalog/facts.ts";
import type { ResolvedFacts } from "./catalog/find.ts";

/** The same model with what is known of it. */
export function withFacts(model: Model, facts: ModelFacts & Partial<Pick<ResolvedFacts, "windowFrom">>): Model {
  const cost = facts.prices === null ? null : (usage: Usage): number => costOf(facts, usage) ?? 0;
  return { ...model, contextWindow: facts.contextWindow, assumesWindow: facts.windowFrom === "assumed", maxOutput: facts.maxOutput, cost };
}
