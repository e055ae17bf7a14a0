import type { NetworkAccess, Scope } from "@holdfast/protocol";
import type { Fact } from "../facts/fact.ts";
import { missingHosts } from "../programs/hosts.ts";

/**
 * Takes from what is needed what the session's network already allows: reaching such a host is no more than a fact. A
 * change elsewhere stays one, whatever the network.
 */
export function withoutAllowedNetwork(facts: readonly Fact[], network: NetworkAccess): Fact[] {
  return facts.map((fact) => {
    const needed = fact.scope.network;
    if (needed === undefined) return fact;
    const hosts = needed === "all" ? ("any" as const) : needed;
    const missing = missingHosts(needed === "all" ? null : needed, network);
    if (missing !== null) return { ...fact, hosts, scope: { ...fact.scope, network: missing.network! } };
    const scope = withoutNetwork(fact.scope);
    return fact.kind === "network" ? { ...fact, kind: "allowed_host", hosts, scope } : { ...fact, hosts, scope };
  });
}

function withoutNetwork(scope: Scope): Scope {
  const { network: _, ...rest } = scope;
  return rest;
}
