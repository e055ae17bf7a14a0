import type { Json } from "@holdfast/protocol";

type Fields = Record<string, unknown>;

export interface VettedSchema {
  readonly schema: Json;
  /** What was mended, for the person who looks after the server. */
  readonly notes: readonly string[];
}

/** A schema that can't be used; the text says why. */
export class SchemaFault extends Error {}

const longestSchema = 32_000;
const deepest = 60;
/** Descriptions inside a schema are for the model: this much of each is enough. */
const longestDescription = 600;

/** Keywords whose value is a schema, a list of schemas, or a table of schemas by name. */
const schemaKeys = new Set(
  "additionalProperties unevaluatedProperties propertyNames items additionalItems unevaluatedItems contains not if then else contentSchema".split(
    " ",
  ),
);
const listKeys = new Set("allOf anyOf oneOf prefixItems".split(" "));
const tableKeys = new Set("properties patternProperties dependentSchemas $defs definitions".split(" "));

/**
 * Looks through a tool's input schema as the server sent it (JSON Schema 2020-12 or draft 7). What every reader would trip
 * over is mended without changing which inputs are valid, as far as they can be told; `$defs` and `$ref` stay as they are.
 * Throws `SchemaFault` where it can't be used: no object, another type than object, too large, too deep.
 */
export function vetSchema(given: unknown): VettedSchema {
  const notes: string[] = [];
  if (given === undefined || given === null) return { schema: { type: "object" }, notes: ["it has no input schema"] };
  if (!isFields(given)) throw new SchemaFault("its input schema is not an object");
  const { type } = given;
  if (type !== undefined && type !== "object" && !(Array.isArray(type) && type.includes("object"))) {
    throw new SchemaFault(`its input is of type ${JSON.stringify(type)?.slice(0, 40)}, not object`);
  }
  if (isTooDeep(given, 0)) throw new SchemaFault(`its input schema is nested more than ${deepest} levels deep`);
  const size = JSON.stringify(given).length;
  if (size > longestSchema * 20) throw new SchemaFault(tooLong(size));
  const anchors = anchorsOf(given);
  const walked = walk(given, given, anchors, notes) as Fields;
  if (type === undefined) notes.push("its input schema has no type; object is meant");
  const schema = { ...walked, type: "object" } as unknown as Json;
  const length = JSON.stringify(schema).length;
  if (length > longestSchema) throw new SchemaFault(tooLong(length));
  return { schema, notes: [...new Set(notes)] };
}

function tooLong(length: number): string {
  return `its input schema has ${length} characters; ${longestSchema} at most can be shown to a model`;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth > deepest || Object.values(value).some((inner) => isTooDeep(inner, depth + 1));
}

function walk(schema: unknown, root: Fields, anchors: ReadonlySet<string>, notes: string[]): unknown {
  if (typeof schema === "boolean") return schema;
  if (!isFields(schema)) {
    notes.push("a part of its input schema is no schema and was dropped");
    return {};
  }
  const result: Fields = {};
  for (const [key, value] of Object.entries(schema)) {
    const mended = mend(key, value, root, anchors, notes);
    if (mended !== undefined) define(result, key, mended);
  }
  return result;
}

/** Undefined where the keyword has to go. */
function mend(key: string, value: unknown, root: Fields, anchors: ReadonlySet<string>, notes: string[]): unknown {
  const drop = (why: string): undefined => {
    notes.push(why);
    return undefined;
  };
  const inner = (one: unknown): unknown => walk(one, root, anchors, notes);
  if (tableKeys.has(key)) {
    if (!isFields(value)) return drop(`${key} in its input schema is no table`);
    const table: Fields = {};
    for (const [name, one] of Object.entries(value)) define(table, name, inner(one));
    return table;
  }
  if (listKeys.has(key)) return Array.isArray(value) ? value.map(inner) : drop(`${key} in its input schema is no list`);
  if (key === "items" && Array.isArray(value)) return value.map(inner);
  if (schemaKeys.has(key)) return inner(value);
  if (key === "enum" || key === "required") return Array.isArray(value) ? value : drop(`${key} in its input schema is no list`);
  if (key === "$ref" || key === "$dynamicRef") {
    return resolves(value, root, anchors) ? value : drop(`${JSON.stringify(value)?.slice(0, 80)} in its input schema leads nowhere`);
  }
  if (typeof value === "number" && !Number.isFinite(value)) return drop(`${key} in its input schema is no number that can be sent`);
  if ((key === "description" || key === "title" || key === "$comment") && typeof value === "string") {
    return value.length <= longestDescription ? value : `${value.slice(0, longestDescription - 1).toWellFormed()}…`;
  }
  return value;
}

/** A property may be called `__proto__`. */
function define(table: Fields, key: string, value: unknown): void {
  Object.defineProperty(table, key, { value, enumerable: true, writable: true, configurable: true });
}

function anchorsOf(value: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    if ((key === "$anchor" || key === "$dynamicAnchor") && typeof inner === "string") found.add(`#${inner}`);
    if ((key === "$id" || key === "id") && typeof inner === "string") found.add(inner);
    anchorsOf(inner, found);
  }
  return found;
}

/** Whether a reference leads to something in this very schema (RFC 6901 pointers, anchors, ids). */
function resolves(reference: unknown, root: Fields, anchors: ReadonlySet<string>): boolean {
  if (typeof reference !== "string") return false;
  if (reference === "#" || anchors.has(reference)) return true;
  if (!reference.startsWith("#/")) return false;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Fields)[key];
  }
  return isFields(at) || typeof at === "boolean";
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
