import type { Expectation } from "@holdfast/protocol/expectation";
import { z } from "zod";
import { decoded } from "./input.ts";

/** What a call may expect, as a model writes it. */
const kinds = {
  exit_code: "number",
  status: "number",
  output_contains: "string",
  output_matches: "string",
  file_changed: "string",
  file_unchanged: "string",
  file_exists: "string",
  tests_passed: "boolean",
} as const;
export type ExpectedName = keyof typeof kinds;

const wanted = { number: "a whole number", string: "a text", boolean: "true or false" } as const;

/**
 * The input of a tool whose calls may say what will be seen if they work. In the schema it is one object, with the names in
 * its description: a schema for each would cost every request more than it helps.
 */
export function expectation(names: readonly ExpectedName[]) {
  const record = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).superRefine((value, context) => {
    for (const [name, one] of Object.entries(value)) {
      const kind = names.find((known) => known === name);
      if (kind === undefined) context.addIssue({ code: "custom", path: [name], message: `there is only ${names.join(", ")}` });
      else if (valueOf(kind, one) === undefined)
        context.addIssue({ code: "custom", path: [name], message: `${wanted[kinds[kind]]} is wanted` });
    }
  });
  return decoded(record)
    .optional()
    .describe(`seen if it works: ${names.join(", ")}`);
}

/** As the runtime judges it. */
export function expectationOf(value: Readonly<Record<string, string | number | boolean>> | undefined): { readonly expect?: Expectation } {
  if (value === undefined) return {};
  const expect: Record<string, string | number | boolean> = {};
  for (const [name, one] of Object.entries(value)) {
    const camel = name.replaceAll(/_[a-z]/g, (part) => part.slice(1).toUpperCase());
    const typed = Object.hasOwn(kinds, name) ? valueOf(name as ExpectedName, one) : undefined;
    if (typed !== undefined) expect[camel] = typed;
  }
  return { expect: expect as Expectation };
}

/** Undefined where it isn't of its kind; a number or a truth value that was written as a text is taken for what it is. */
function valueOf(name: ExpectedName, value: string | number | boolean): string | number | boolean | undefined {
  switch (kinds[name]) {
    case "number": {
      const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
      return Number.isInteger(number) ? number : undefined;
    }
    case "string":
      return typeof value === "string" ? value : undefined;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : typeof value === "boolean" ? value : undefined;
  }
}
