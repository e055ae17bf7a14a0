import type { Usage } from "@holdfast/protocol";
import type { Model } from "@holdfast/runtime";
import { costOf, type ModelFacts } from "./catalog/facts.ts";

/** The same model with what is known of it. */
export function withFacts(model: Model, facts: ModelFacts): Model {
  const cost = facts.prices === null ? null : (usage: Usage): number => costOf(facts, usage) ?? 0;
  return { ...model, contextWindow: facts.contextWindow, maxOutput: facts.maxOutput, cost };
}
