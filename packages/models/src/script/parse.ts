import type { Json } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { modelErrorClasses } from "@holdfast/protocol/event";
import { callStatuses } from "@holdfast/protocol/item";
import { isNode, LineCounter, parseDocument, type Document } from "yaml";
import type { Script, ScriptCall, ScriptExpectation, ScriptFailure, ScriptStep } from "./script.ts";

/**
 * Reads a script from YAML or JSON: `steps:` with a list, or the list alone. Throws `model_script` naming the file, the
 * line, the place and what is wrong there; keys that mean nothing are errors, since they are most likely misspelt.
 */
export function parseScript(text: string, name: string): Script {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problem = document.errors[0];
  if (problem !== undefined) throw complaint(name, lines.linePos(problem.pos[0]).line, problem.message);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases without an anchor, or too many of them.
    throw complaint(name, 1, error instanceof Error ? error.message : String(error));
  }
  const place: Place = { document, lines, name, path: [] };
  const isList = Array.isArray(value);
  const steps = isList ? list(place, value, step) : readFields(place, value, { steps: (at, inner) => list(at, inner, step) }).steps;
  if (steps === undefined || steps.length === 0) throw fault(place, "has no steps; it needs a list of them, or `steps:` with one");
  return { name, steps, lines: steps.map((_, i) => lineOf({ ...place, path: isList ? [i] : ["steps", i] })) };
}

/** Where in the file a value stands. */
interface Place {
  readonly document: Document;
  readonly lines: LineCounter;
  readonly name: string;
  readonly path: readonly (string | number)[];
}
type Reader<T> = (place: Place, value: unknown) => T;
type Fields = Readonly<Record<string, Reader<unknown>>>;
type Read<F extends Fields> = { [K in keyof F]?: ReturnType<F[K]> };

function step(place: Place, value: unknown): ScriptStep {
  return readFields(place, value, {
    reasoning: string,
    text: string,
    calls: (at, inner) => list(at, inner, call),
    deltas: integer(1, 100_000),
    delayMs: integer(0, 3_600_000),
    fail: failure,
    isCutShort: boolean,
    expect: expectation,
    repeat: integer(1, 100_000),
  });
}

function call(place: Place, value: unknown): ScriptCall {
  const fields = readFields(place, value, { name: string, input: (_, inner) => inner as Json });
  if (fields.name === undefined || fields.name === "") throw fault(place, "needs the `name` of a tool");
  return { name: fields.name, input: fields.input ?? {} };
}

function failure(place: Place, value: unknown): ScriptFailure {
  const { class: group, ...rest } = readFields(place, value, {
    class: oneOf(modelErrorClasses),
    message: string,
    status: integer(100, 599),
    code: string,
    retryAfterMs: integer(0, 86_400_000),
  });
  if (group === undefined) throw fault(place, `needs a \`class\`, one of ${modelErrorClasses.join(", ")}`);
  return { class: group, ...rest };
}

function expectation(place: Place, value: unknown): ScriptExpectation {
  return readFields(place, value, { lastResultContains: string, lastStatus: oneOf(callStatuses) });
}

function readFields<F extends Fields>(place: Place, value: unknown, fields: F): Read<F> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fault(place, `must be a mapping, not ${kindOf(value)}`);
  const read: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = { ...place, path: [...place.path, key] };
    const reader = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (reader === undefined) throw fault(at, `is no known key; here can stand ${Object.keys(fields).join(", ")}`);
    read[key] = reader(at, inner);
  }
  return read as Read<F>;
}

function list<T>(place: Place, value: unknown, reader: Reader<T>): T[] {
  if (!Array.isArray(value)) throw fault(place, `must be a list, not ${kindOf(value)}`);
  return value.map((inner: unknown, i) => reader({ ...place, path: [...place.path, i] }, inner));
}

function string(place: Place, value: unknown): string {
  if (typeof value !== "string") throw fault(place, `must be text, not ${kindOf(value)}; put it in quotes`);
  return value;
}

function boolean(place: Place, value: unknown): boolean {
  if (typeof value !== "boolean") throw fault(place, `must be true or false, not ${kindOf(value)}`);
  return value;
}

function integer(min: number, max: number): Reader<number> {
  return (place, value) => {
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
      throw fault(place, `must be a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

function oneOf<const T extends readonly string[]>(names: T): Reader<T[number]> {
  return (place, value) => {
    const found = names.find((name) => name === value);
    if (found === undefined) throw fault(place, `must be one of ${names.join(", ")}`);
    return found;
  };
}

function kindOf(value: unknown): string {
  return value === null || value === undefined
    ? "nothing"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "a mapping"
        : `a ${typeof value}`;
}

function fault(place: Place, text: string): HoldfastError {
  const path = place.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
  return complaint(place.name, lineOf(place), `${path === "" ? "the script" : path.replace(/^\./, "")} ${text}`);
}

/** The line of the value, or of the nearest thing around it that has one. */
function lineOf(place: Place): number {
  for (let length = place.path.length; length >= 0; length--) {
    const path = place.path.slice(0, length);
    const node = path.length === 0 ? place.document.contents : place.document.getIn(path, true);
    if (isNode(node) && node.range) return place.lines.linePos(node.range[0]).line;
  }
  return 1;
}

function complaint(name: string, line: number, text: string): HoldfastError {
  return new HoldfastError("model_script", `${name}:${line}: ${text}`, { hint: "A script is a list of steps such as `- text: Done.`" });
}
