import { isIP } from "node:net";
import { isPublicAddress } from "./addresses.ts";

/** Finds every address of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type HostAnswer = { readonly type: "allowed"; readonly address: string } | { readonly type: "refused"; readonly reason: string };

/** Lower case, no trailing dot, no brackets, non-ASCII names in their ASCII form; null for what is no host. */
export function normalHost(host: string): string | null {
  const text = host.replace(/^\[|\]$/g, "");
  try {
    const url = new URL(`http://${isIP(text) === 6 ? `[${text}]` : text}/`);
    return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "") || null;
  } catch {
    return null;
  }
}

/**
 * Whether `host:port` may be reached, and at which address: the one that was checked is the one to connect to.
 * An entry is a host, `host:port`, or `*.domain` (its subdomains). An address inside (loopback, private, metadata) is
 * refused unless an entry is that address; `localhost` as an entry allows loopback under that name.
 */
export async function answerHost(host: string, port: number, allowed: readonly string[], resolve: Resolve): Promise<HostAnswer> {
  const name = normalHost(host);
  if (name === null) return { type: "refused", reason: `${host} is not a host name` };
  const entries = allowed.flatMap(parseEntry).filter((entry) => entry.port === null || entry.port === port);
  const isNamed = entries.some((entry) => (entry.isWild ? name.endsWith(`.${entry.host}`) && isIP(name) === 0 : entry.host === name));
  if (!isNamed) return { type: "refused", reason: `${name}:${port} is not on the list of allowed hosts` };
  let addresses: readonly string[];
  try {
    addresses = isIP(name) === 0 ? await resolve(name) : [name];
  } catch {
    return { type: "refused", reason: `${name} has no address` };
  }
  const isReachable = (address: string): boolean =>
    isPublicAddress(address) ||
    entries.some((entry) => entry.host === normalHost(address)) ||
    (name === "localhost" && /^(?:127\.|::1$)/.test(address));
  const address = addresses.find(isReachable);
  if (address !== undefined) return { type: "allowed", address };
  return {
    type: "refused",
    reason: `${name} leads to an address inside (${addresses.join(", ") || "none"}), which is not on the list itself`,
  };
}

function parseEntry(entry: string): { readonly host: string; readonly port: number | null; readonly isWild: boolean }[] {
  const isWild = entry.startsWith("*.");
  const text = isWild ? entry.slice(2) : entry;
  const match = isIP(text) === 6 ? null : /^(.*):(\d+)$/.exec(text);
  const host = normalHost(match?.[1] ?? text);
  return host === null ? [] : [{ host, port: match === null ? null : Number(match[2]), isWild }];
}
