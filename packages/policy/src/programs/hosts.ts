import type { NetworkAccess, Scope } from "@holdfast/protocol";
import type { ShellWord } from "../shell/command.ts";

/** The host that a word names, as `name` or `name:port` would; null where it names none that can be read. */
export function hostOf(text: string): string | null {
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/?#]*@)?(\[[0-9a-f:.]+\]|[^/:?#]+)/i.exec(text);
  const bare = url ?? /^(?:[^@/\s]+@)?(\[[0-9a-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::|\/|\?|$)/i.exec(text);
  const host = bare?.[1]?.toLowerCase().replace(/^\[|\]$/g, "");
  return host === undefined || host === "" || !/^[\w.:-]+$/.test(host) ? null : host;
}

/** The session's own network: a server that it started itself. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || host === "0.0.0.0" || /^127(?:\.\d+){1,3}$/.test(host);
}

/** Hosts of words; null where one of them can't be read. */
export function hostsOf(words: readonly ShellWord[]): string[] | null {
  // Of an address such as `http://[::1]:80/` the shell makes a pattern that matches no file.
  const hosts = words.map(({ literal, text }) =>
    hostOf(literal ?? (/^https?:\/\/\[[\da-f:.]+\](?:[:/][\w./-]*)?$/i.test(text) ? text : "")),
  );
  return hosts.includes(null) ? null : [...new Set(hosts as string[])];
}

/** What the session's network lacks for these hosts; null where it lacks nothing. `null` hosts can't be read. */
export function missingHosts(hosts: readonly string[] | null, network: NetworkAccess): Scope | null {
  if (network === "all" || network.includes("all")) return null;
  if (hosts === null || hosts.length === 0) return { network: "all" };
  const missing = hosts.filter((host) => !isLoopback(host) && !(network !== "none" && network.some((rule) => matchesHost(host, rule))));
  return missing.length === 0 ? null : { network: missing };
}

/** `*.example.com` covers every name below, not the name itself. */
function matchesHost(host: string, rule: string): boolean {
  return rule.startsWith("*.") ? host.endsWith(rule.slice(1).toLowerCase()) : host === rule.toLowerCase();
}

/** Marks a network need; the session's own settings are applied when the call is decided. */
export function networkScope(hosts: readonly string[] | null): Scope {
  return { network: hosts === null || hosts.length === 0 ? "all" : [...hosts] };
}
