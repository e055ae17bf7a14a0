import type { NetworkAccess } from "@holdfast/protocol";
import { addressFamily, isMetadataAddress, isPublicAddress } from "./addresses.ts";

/** Finds every address of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type HostAnswer =
  /** Every address that may be connected to, in the resolver's order; `address` is the first. */
  | { readonly type: "allowed"; readonly address: string; readonly addresses: readonly string[] }
  | { readonly type: "refused"; readonly reason: string }
  /** No rule is against it, but nobody knows where it is. */
  | { readonly type: "unresolved"; readonly reason: string };

/** What may be reached: the hosts of some entries, or every public one and these. */
export interface Reach {
  readonly isOpen: boolean;
  /** An entry is a host, `host:port`, or `*.domain` (its subdomains). */
  readonly hosts: readonly string[];
}

/** What a session's network, widened by what was approved, comes to: `all` opens every public host, also beside other entries. */
export function reachOf(...accesses: readonly (NetworkAccess | undefined)[]): Reach {
  const entries = accesses.flatMap((access) => (access === undefined || access === "none" ? [] : access));
  return { isOpen: entries.includes("all"), hosts: entries.filter((entry) => entry !== "all") };
}

/** Lower case, no trailing dot, no brackets, non-ASCII names in their ASCII form; null for what is no host. */
export function normalHost(host: string): string | null {
  const text = host.replace(/^\[|\]$/g, "");
  try {
    const url = new URL(`http://${addressFamily(text) === 6 ? `[${text}]` : text}/`);
    return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "") || null;
  } catch {
    return null;
  }
}

/** True where an entry of the list is this host, given in its normal form, at this port. */
export function isNamedHost(name: string, port: number, hosts: readonly string[]): boolean {
  return entriesFor(port, hosts).some((entry) =>
    entry.isWild ? name.endsWith(`.${entry.host}`) && addressFamily(name) === 0 : entry.host === name,
  );
}

/** True for a host whose own name says that it lies inside: loopback by name, or an address that is not public. */
export function isInsideHost(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || (addressFamily(name) !== 0 && !isPublicAddress(name));
}

/** True for a host that hands out a machine's credentials. */
export function isMetadataHost(name: string): boolean {
  return /^(?:metadata|metadata\.google\.internal|instance-data(?:\.ec2\.internal)?)$/.test(name) || isMetadataAddress(name);
}

/**
 * Whether `host:port` may be reached, and at which addresses: those that were checked are the ones to connect to. An address
 * inside (loopback, private, metadata) is refused unless an entry is that address; `localhost` as an entry allows loopback
 * under that name.
 */
export async function answerHost(host: string, port: number, reach: Reach, resolve: Resolve): Promise<HostAnswer> {
  const name = normalHost(host);
  if (name === null) return { type: "refused", reason: `${host} is not a host name` };
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return { type: "refused", reason: `${port} is not a port` };
  const isNamed = isNamedHost(name, port, reach.hosts);
  if (!isNamed && !reach.isOpen) return { type: "refused", reason: `${name}:${port} is not on the list of allowed hosts` };
  let addresses: readonly string[];
  try {
    addresses = addressFamily(name) === 0 ? await resolve(name) : [name];
  } catch {
    return { type: "unresolved", reason: `no address was found for ${name}` };
  }
  const entries = entriesFor(port, reach.hosts);
  const isReachable = (address: string): boolean =>
    isPublicAddress(address) ||
    entries.some((entry) => entry.host === normalHost(address)) ||
    (isNamed && name === "localhost" && /^(?:127\.|::1$)/.test(address));
  const reachable = addresses.filter(isReachable);
  const [address] = reachable;
  if (address !== undefined) return { type: "allowed", address, addresses: reachable };
  return {
    type: "refused",
    reason: `${name} leads to an address inside (${addresses.join(", ") || "none"}), which is not on the list itself`,
  };
}

interface Entry {
  readonly host: string;
  readonly port: number | null;
  readonly isWild: boolean;
}

function entriesFor(port: number, hosts: readonly string[]): Entry[] {
  return hosts.flatMap(parseEntry).filter((entry) => entry.port === null || entry.port === port);
}

function parseEntry(entry: string): Entry[] {
  const isWild = entry.startsWith("*.");
  const text = isWild ? entry.slice(2) : entry;
  const match = addressFamily(text) === 6 ? null : /^(.*):(\d+)$/.exec(text);
  const host = normalHost(match?.[1] ?? text);
  return host === null ? [] : [{ host, port: match === null ? null : Number(match[2]), isWild }];
}
