import type { Scope } from "@holdfast/protocol";
import type { Fact } from "../facts/fact.ts";
import { namesHost, namesReal } from "../rules/patterns.ts";
import type { Rule } from "../rules/rule.ts";
import type { Part } from "./part.ts";

/** Both together. */
export function widen(a: Scope, b: Scope): Scope {
  const network =
    a.network === "all" || b.network === "all" ? ("all" as const) : [...new Set([...(a.network ?? []), ...(b.network ?? [])])];
  const writable = [...new Set([...(a.writable ?? []), ...(b.writable ?? [])])];
  const secrets = [...new Set([...(a.secrets ?? []), ...(b.secrets ?? [])])];
  return {
    ...(network === "all" || network.length > 0 ? { network } : {}),
    ...(writable.length > 0 ? { writable } : {}),
    ...(secrets.length > 0 ? { secrets } : {}),
    ...(a.unsandboxed === true || b.unsandboxed === true ? { unsandboxed: true } : {}),
  };
}

/**
 * What a rule grants so that a call can do what the fact says; null where the call needs more than the rule's words give.
 * Hosts that the call names are granted one by one; where it doesn't tell which it needs, those of the rule.
 */
export function grantedScope({ when, grants }: Rule, fact: Fact, part: Part, home: string | null): Scope | null {
  const { network, writable } = fact.scope;
  let granted: Scope = {};
  if (network === "all") {
    if (grants?.network === undefined) return null;
    granted = { network: grants.network };
  } else if (network !== undefined) {
    const allowed = grants?.network === "all" ? null : [...(grants?.network ?? []), ...(when.hosts ?? [])];
    if (allowed !== null && !network.every((host) => namesHost(allowed, host))) return null;
    granted = { network: [...network] };
  }
  if (writable !== undefined) {
    const places = writable.map((path) => placeOf(path, { when, ...(grants === undefined ? {} : { grants }) }, part, home));
    if (places.includes(null)) return null;
    granted = { ...granted, writable: [...new Set(places as string[])] };
  }
  return grants?.secrets === undefined ? granted : { ...granted, secrets: grants.secrets };
}

/**
 * What a rule makes writable for a path: the folder that it names as a whole, so that files can be made there, else the path;
 * null where it speaks of neither.
 */
function placeOf(
  path: string,
  { when, grants }: Pick<Rule, "when" | "grants">,
  { command, touched }: Part,
  home: string | null,
): string | null {
  const absolute = (folder: string): string => (folder.startsWith("~/") && home !== null ? home + folder.slice(1) : folder);
  const folders = [
    ...(grants?.writable ?? []).map(absolute),
    ...(when.write ?? []).flatMap((pattern) => (/^[^*?[\]{}\\]+\/\*\*$/.test(pattern) ? [absolute(pattern.slice(0, -3))] : [])),
  ];
  const folder = folders.find((one) => one.startsWith("/") && (path === one || path.startsWith(one.endsWith("/") ? one : `${one}/`)));
  // A command may make other files on its way; a tool writes what it says.
  if (folder !== undefined) return command === null ? path : folder;
  const relative = touched.find((file) => file.real === path)?.relative ?? null;
  return namesReal(when.write ?? [], path, relative, home) ? path : null;
}
