import type { Json } from "@holdfast/protocol";

/** A name is wanted, and shown to nobody. */
export const outputName = "final_answer";

const takenKeywords = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "enum",
  "const",
  "$ref",
  "$defs",
  "definitions",
  "title",
  "description",
  "pattern",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
]);
const mostDeep = 10;

/**
 * Whether OpenAI's strict mode takes a schema (its guide to structured outputs, "Supported schemas"): an object at the
 * root, every object closed with all of its properties required, a subset of the keywords. What it would refuse is sent as
 * a wish instead; the runtime judges the answer in either case.
 */
export function isStrict(schema: Json): boolean {
  return isObject(schema) && schema["type"] === "object" && schema["anyOf"] === undefined && isTaken(schema, "$schema", 0);
}

function isTaken(schema: Json, also: string, depth: number): boolean {
  if (!isObject(schema) || depth > mostDeep) return false;
  const keys = Object.keys(schema);
  if (!keys.every((key) => takenKeywords.has(key) || key === also)) return false;
  const { properties, required, items, anyOf } = schema;
  const isOpen =
    schema["type"] === "object" || properties !== undefined
      ? schema["additionalProperties"] !== false || !hasAll(properties ?? {}, required ?? [])
      : false;
  if (isOpen || Array.isArray(items)) return false;
  const inner = [
    ...[properties, schema["$defs"], schema["definitions"]].flatMap((map) => (isObject(map) ? Object.values(map) : [])),
    ...(items === undefined ? [] : [items]),
    ...(Array.isArray(anyOf) ? (anyOf as Json[]) : []),
  ];
  return inner.every((each) => isTaken(each, "", depth + 1));
}

function hasAll(properties: Json, required: Json): boolean {
  return isObject(properties) && Array.isArray(required) && Object.keys(properties).every((name) => required.includes(name));
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
