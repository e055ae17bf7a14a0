import { isInsideHost, isMetadataHost, isNamedHost } from "@holdfast/runtime/network/hosts";
import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { Fact } from "../facts/fact.ts";

/**
 * Facts of a call that the runtime itself sends out. Its plan declares the host as `host:NAME:PORT`: read, or written where
 * the request may change something there. Unlike a command it has no network of its own: loopback is the machine's.
 */
export function httpFacts({ plan, tool, network }: PolicyRequest): Fact[] {
  const hosts = [...plan.reads, ...plan.writes].flatMap(hostOfResource);
  if (hosts.length === 0) return [{ kind: "unknown_tool", what: `${tool} without a host`, scope: {} }];
  const what = plan.summary || tool;
  const claimed: Fact[] = plan.isKeyClaimed === true ? [{ kind: "claimed_key", what, scope: {} }] : [];
  return [...claimed, ...hosts.map(judge)];

  function judge({ name, port }: { readonly name: string; readonly port: number }): Fact {
    const entry = entryFor(name, port);
    const fact = (kind: Fact["kind"], scope: Fact["scope"] = { network: [entry] }): Fact => ({ kind, what, scope, hosts: [entry] });
    if (Array.isArray(network) && isNamedHost(name, port, network)) return fact("allowed_host", {});
    if (isMetadataHost(name)) return fact("metadata_host", {});
    if (isInsideHost(name)) return fact("inside_host");
    if (plan.writes.length > 0) return fact("remote_change");
    return network === "all" || network.includes("all") ? fact("allowed_host", {}) : fact("network");
  }
}

function hostOfResource(resource: string): { name: string; port: number }[] {
  const found = /^host:(.+):(\d{1,5})$/.exec(resource);
  return found === null ? [] : [{ name: found[1] ?? "", port: Number(found[2]) }];
}

/** What an approval grants: the host, and where its port is not the usual one, that port alone. */
function entryFor(name: string, port: number): string {
  if (port === 80 || port === 443) return name;
  return name.includes(":") ? `[${name}]:${port}` : `${name}:${port}`;
}
