import type { Network } from "@holdfast/runtime/ports/network";
import type { SecretStore } from "@holdfast/runtime/ports/secrets";

/** A search service that the user's config names. */
export interface SearchProvider {
  readonly kind: "brave" | "tavily" | "searxng" | "exa";
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Null where it needs none, or none is there. */
  readonly apiKey: string | null;
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
