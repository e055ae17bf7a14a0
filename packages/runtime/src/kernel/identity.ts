import type { Json } from "@holdfast/protocol";
import { canonical } from "../canonical.ts";
import { sha256 } from "../hash.ts";

/** Fields that say how a call is waited for and judged, not what it does. */
const controls = new Set(["timeout_s", "yield_s", "wait_s", "expect"]);

/** What makes a call the same effect as another, whatever else its input says. */
export function identityOf(input: Json): string {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return sha256(canonical(plain(input)));
  const what = Object.fromEntries(Object.entries(input).filter(([name]) => !controls.has(name)));
  return sha256(canonical(plain(what)));
}

/** Key order is taken out by `canonical`; white space that means nothing, here. */
export function plain(value: Json): Json {
  if (typeof value === "string") return value.trim().replace(/\s+/g, " ");
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
