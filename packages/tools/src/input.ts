import type { Json } from "@holdfast/protocol/json";
import { z } from "zod";

/** A whole number; one that a model wrote as a string is taken for what it is. */
export function whole(min: number, max?: number) {
  const number = max === undefined ? z.int().min(min) : z.int().min(min).max(max);
  return z.preprocess((value) => (typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value), number);
}

export function flag() {
  return z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
}

/** A list or an object; one that a model encoded once too often is decoded. */
export function decoded<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => {
    if (typeof value !== "string") return value;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      return value;
    }
  }, schema);
}

export type ParsedInput<T> = { readonly type: "valid"; readonly value: T } | { readonly type: "invalid"; readonly text: string };

/** `null` stands for an absent key; keys that the tool doesn't have are named, as they may carry a meaning it would miss. */
export function parseInput<T>(name: string, schema: z.ZodType<T>, input: Json): ParsedInput<T> {
  const parsed = schema.safeParse(withoutNulls(input));
  if (parsed.success) return { type: "valid", value: parsed.data };
  const issues = parsed.error.issues.map((issue) => {
    const where = issue.path
      .map((part, at) => (typeof part === "number" ? `[${part}]` : at === 0 ? String(part) : `.${String(part)}`))
      .join("");
    return `- ${where === "" ? "" : `${where}: `}${issue.message}`;
  });
  return { type: "invalid", text: `The input of ${name} is invalid; nothing was done.\n${issues.join("\n")}` };
}

function withoutNulls(input: Json): Json {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as Json;
}

/** The schema as a request carries it: no keyword that tells a model nothing, the keys in the order written. */
export function requestSchema(schema: z.ZodType): Json {
  return slim(z.toJSONSchema(schema) as Json);
}

/** A bound that whoever knows the word keeps anyway: a refusal names it where one does not. */
function isEmptyBound(key: string, value: Json): boolean {
  if (typeof value !== "number") return false;
  return ((key === "minimum" || key === "minLength") && value <= 1) || Math.abs(value) === Number.MAX_SAFE_INTEGER;
}

function slim(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(slim);
  const dropped = new Set(["$schema", "additionalProperties", "propertyNames"]);
  const entries = Object.entries(value as { [key: string]: Json })
    .filter(([key, each]) => !dropped.has(key) && !isEmptyBound(key, each))
    .map(([key, each]): [string, Json] => [key, slim(each)]);
  return Object.fromEntries(entries);
}
