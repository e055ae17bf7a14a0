import type { Offer } from "@holdfast/protocol";

/** The user's own rules, as far as the answers to approvals add to them. Never the repository's. */
export interface RuleStore {
  /** Keeps a rule whose text a person has seen; one that is kept already stays as it is. Returns where it is, for people. */
  keep(offer: Offer): Promise<string>;
}
