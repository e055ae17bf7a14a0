import type { Schema } from "@cfworker/json-schema";
import { dereference, Validator } from "@cfworker/json-schema";
import type { Json } from "@holdfast/protocol";
import { draftOf, isObject } from "./draft.ts";

type Kind = "schema" | "schemas" | "map" | "items" | "strings" | "values" | "count" | "number" | "flag" | "pattern" | "type" | "text";

/** What the value of a keyword has to be. Keywords that aren't here are annotations, and may be anything. */
const keywords: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    type: ["type"],
    values: ["enum"],
    strings: ["required"],
    map: ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"],
    schema: [
      "additionalProperties",
      "unevaluatedProperties",
      "propertyNames",
      "additionalItems",
      "unevaluatedItems",
      "contains",
      "not",
      "if",
      "then",
      "else",
    ],
    items: ["items"],
    schemas: ["prefixItems", "allOf", "anyOf", "oneOf"],
    count: ["minItems", "maxItems", "minContains", "maxContains", "minLength", "maxLength", "minProperties", "maxProperties"],
    number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    flag: ["uniqueItems"],
    pattern: ["pattern"],
    text: ["format", "$ref"],
  } satisfies Record<Kind, readonly string[]>).flatMap(([kind, names]) => names.map((name): [string, Kind] => [name, kind as Kind])),
);
const types = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Deeper than any schema that a person writes, and far from what the stack holds. */
const mostDeep = 100;
/** Where the validator notes what a reference stands for. */
const absoluteRef = "__absolute_ref__";

/**
 * Why a value is no schema that an answer can be held to, with the place in it (a JSON pointer); null where it is one. What
 * lies elsewhere (a `$ref` to another document) is refused: nothing is ever loaded.
 */
export function schemaProblem(schema: Json): string | null {
  if (!isObject(schema)) return "a JSON Schema is an object";
  const draft = draftOf(schema);
  if (draft === null) return `/$schema: ${JSON.stringify(schema["$schema"])} is not a draft known here (2020-12, 2019-09, draft-07)`;
  const problem = problemAt(schema, "", 0) ?? unresolved(schema);
  if (problem !== null) return problem;
  try {
    // A schema that refers to nothing but itself shows only when it is used.
    const validator = new Validator(structuredClone(schema) as Schema, draft, false);
    for (const value of [null, true, 0, "", [], {}]) validator.validate(value);
    return null;
  } catch (error) {
    return error instanceof RangeError ? "it refers to itself without an end" : error instanceof Error ? error.message : String(error);
  }
}

function problemAt(schema: Json, at: string, depth: number): string | null {
  if (typeof schema === "boolean") return null;
  if (!isObject(schema)) return `${at}: a schema is an object, true or false`;
  if (depth > mostDeep) return `${at}: the schema is nested too deep`;
  for (const [keyword, value] of Object.entries(schema)) {
    const kind = keywords.get(keyword);
    const problem = kind === undefined ? null : mismatch(keyword, value, kind, `${at}/${keyword}`, depth);
    if (problem !== null) return problem;
  }
  return null;
}

function mismatch(keyword: string, value: Json, kind: Kind, at: string, depth: number): string | null {
  const each = (entries: readonly (readonly [string | number, Json])[]): string | null =>
    entries.reduce<string | null>((found, [key, inner]) => found ?? problemAt(inner, `${at}/${key}`, depth + 1), null);
  const unless = (holds: boolean, what: string): string | null => (holds ? null : `${at}: ${keyword} is ${what}`);
  switch (kind) {
    case "schema":
      return problemAt(value, at, depth + 1);
    case "items":
      return Array.isArray(value) ? each([...value.entries()]) : problemAt(value, at, depth + 1);
    case "schemas":
      return Array.isArray(value) && value.length > 0 ? each([...value.entries()]) : `${at}: ${keyword} is a list of schemas`;
    case "map":
      return isObject(value) ? each(Object.entries(value)) : `${at}: ${keyword} is an object of schemas`;
    case "strings":
      return unless(Array.isArray(value) && value.every((one) => typeof one === "string"), "a list of names");
    case "values":
      return unless(Array.isArray(value) && value.length > 0, "a list of values");
    case "count":
      return unless(typeof value === "number" && Number.isInteger(value) && value >= 0, "a whole number from 0 on");
    case "number":
      return unless(
        typeof value === "number" && (keyword !== "multipleOf" || value > 0),
        keyword === "multipleOf" ? "above 0" : "a number",
      );
    case "flag":
      return unless(typeof value === "boolean", "true or false");
    case "text":
      return unless(typeof value === "string", "a text");
    case "pattern":
      return unless(typeof value === "string" && isPattern(value), "a regular expression");
    case "type": {
      const names = Array.isArray(value) ? value : [value];
      return unless(
        names.length > 0 && names.every((name) => typeof name === "string" && types.has(name)),
        `one of ${[...types].join(", ")}`,
      );
    }
  }
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

/** The first reference that leads out of the schema or nowhere in it. */
function unresolved(schema: Json): string | null {
  const copy = structuredClone(schema) as Schema;
  const known = dereference(copy);
  let problem: string | null = null;
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== "object" || value === null || problem !== null) return;
    const node = value as Schema;
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"] as const) {
      const target: unknown = node[keyword];
      if (typeof target !== "string") continue;
      if (!target.startsWith("#")) problem = `${at}/${keyword}: ${JSON.stringify(target)} leads out of the schema; nothing is loaded`;
      else if (keyword === "$dynamicRef") problem = `${at}/${keyword}: dynamic references are not known here; use $ref`;
      else if (keyword === "$ref" && known[node[absoluteRef] ?? target] === undefined) {
        problem = `${at}/${keyword}: there is no ${JSON.stringify(target)} in the schema`;
      }
    }
    // What these hold is data, not schema.
    for (const [key, inner] of Object.entries(node)) {
      if (!["const", "enum", "default", "examples"].includes(key)) walk(inner, `${at}/${key}`);
    }
  };
  walk(copy, "");
  return problem;
}
