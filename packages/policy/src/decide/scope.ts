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
  return {
    ...(network === "all" || network.length > 0 ? { network } : {}),
    ...(writable.length > 0 ? { writable } : {}),
    ...(a.unsandboxed === true || b.unsandboxed === true ? { unsandboxed: true } : {}),
  };
}

/**
 * What a rule grants so that a call can do what the fact says; null where the call needs more than the rule's words give.
 * Hosts that the call names are granted one by one; where it doesn't tell which it needs, those of the rule.
 */
export function grantedScope({ when, grants }: Rule, fact: Fact, touched: Part["touched"], home: string | null): Scope | null {
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
    const patterns = [...(when.write ?? []), ...(grants?.writable ?? [])];
    const relativeOf = (path: string) => touched.find((file) => file.real === path)?.relative ?? null;
    const isNamed = (path: string) =>
      namesReal(patterns, path, relativeOf(path), home) || (grants?.writable ?? []).some((folder) => isIn(path, folder, home));
    if (!writable.every(isNamed)) return null;
    granted = { ...granted, writable: [...writable] };
  }
  return granted;
}

function isIn(path: string, folder: string, home: string | null): boolean {
  const real = folder.startsWith("~/") && home !== null ? home + folder.slice(1) : folder;
  return path === real || path.startsWith(real.endsWith("/") ? real : `${real}/`);
}
