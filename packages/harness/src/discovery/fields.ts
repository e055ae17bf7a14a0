import type { Json } from "@holdfast/protocol";

/** The fields of a JSON object; none where it is something else. */
export function fieldsOf(value: Json): { readonly [key: string]: Json } {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as { readonly [key: string]: Json }) : {};
}
