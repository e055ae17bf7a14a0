import type { CallPlan, Json } from "@holdfast/protocol";
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

/**
 * What a call says, without what it would be without: values that are its tool's defaults, and empty ones. Where a tool tells
 * an empty value from none, a person is asked once too often.
 */
export function meantBy(input: Json, schema: Json): Json {
  if (!isObject(input)) return input;
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  const said = Object.entries(input).filter(([name, value]) => {
    const about = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const usual = isObject(about) ? about["default"] : undefined;
    return usual === undefined ? !isEmpty(value) : canonical(value) !== canonical(usual);
  });
  return Object.fromEntries(said);
}

function isEmpty(value: Json): boolean {
  if (value !== null && typeof value === "object") return Object.keys(value).length === 0;
  return value === null || value === false || value === "";
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return value !== undefined && value !== null && typeof value === "object" && !Array.isArray(value);
}

/** By what a call that runs this line is known when it comes again. */
export function repeatsOf({ input, command }: Pick<CallPlan, "input" | "command">, line: string): string {
  // A line's end stands between two commands, and isn't white space that means nothing.
  const read = line.replaceAll("\n", " ; ");
  const said = isObject(input) ? mapped(input, (value) => (value === command ? read : value)) : { input, line: read };
  return sha256(canonical(plain(said))).slice(0, 16);
}

function mapped(input: { [key: string]: Json }, change: (value: Json) => Json): Json {
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, change(value)]));
}

/** Key order is taken out by `canonical`; white space that means nothing, here. */
export function plain(value: Json): Json {
  if (typeof value === "string") return value.trim().replace(/\s+/g, " ");
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
