import type { Json } from "@holdfast/protocol";

/** The drafts of JSON Schema that a schema may name in `$schema`; without one it is the newest. */
const drafts = {
  "json-schema.org/draft/2020-12/schema": "2020-12",
  "json-schema.org/draft/2019-09/schema": "2019-09",
  "json-schema.org/draft-07/schema": "7",
} as const;

export type Draft = (typeof drafts)[keyof typeof drafts];

/** Null for a draft that is not known. */
export function draftOf(schema: { readonly [key: string]: Json }): Draft | null {
  const named = schema["$schema"];
  if (named === undefined) return "2020-12";
  if (typeof named !== "string") return null;
  const name = named.replace(/^https?:\/\//, "").replace(/#$/, "");
  return Object.hasOwn(drafts, name) ? drafts[name as keyof typeof drafts] : null;
}

export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
