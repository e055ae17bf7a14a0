import type { Network } from "@holdfast/runtime/ports/network";
import type { SecretStore } from "@holdfast/runtime/ports/secrets";

/** Who answers a search: what the user's config names. */
export type SearchProvider = SearchService | SearchModel;

export interface SearchService {
  readonly kind: "brave" | "tavily" | "searxng" | "exa";
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Null where it needs none, or none is there. */
  readonly apiKey: string | null;
}

/** A model whose provider searches the web for it. It is asked by itself, beside the conversation. */
export interface SearchModel {
  readonly kind: "model";
  readonly wire: "responses" | "messages" | "gemini";
  /** The whole address of its requests. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** Further ones that the provider's config names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What the tools of the web act through. */
export interface HttpPorts {
  readonly network: Network;
  readonly secrets: SecretStore;
  /** Names that a header may give. */
  readonly secretNames: readonly string[];
  /** Hosts known to answer a repeated `Idempotency-Key` from their record, in the syntax of `Reach`. */
  readonly keyedHosts: readonly string[];
  /** Null: there is no web_search. */
  readonly search: SearchProvider | null;
}
