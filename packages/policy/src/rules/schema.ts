import { conditionKeys, type RuleKey, ruleKeys, stateKeys } from "./keys.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

const text: JsonSchema = { type: "string", minLength: 1 };
const callOf = (...keys: readonly string[]): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
  required: keys,
  additionalProperties: false,
});
/** As `read-examples.ts` reads them. */
const call: JsonSchema = { anyOf: [text, callOf("tool", "path"), callOf("tool", "method", "host"), callOf("mcp")] };

/** The JSON Schema (2020-12) of a rule file, for editors. What it takes may still be refused for more than its form. */
export function ruleFileSchema(): JsonSchema {
  // Of a rule of the program alone.
  const { final: _, ...keys } = ruleKeys;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Rules of Holdfast's policy",
    type: "object",
    properties: {
      rule: {
        type: "array",
        items: {
          type: "object",
          properties: Object.fromEntries(
            Object.entries<RuleKey>(keys).map(([name, key]) => [name, { ...valueSchema(key), description: key.help }]),
          ),
          required: ["id", "decision"],
          anyOf: [...conditionKeys, ...stateKeys].map((key) => ({ required: [key] })),
          dependentRequired: { match: ["command"] },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  };
}

function valueSchema({ is, shape, oneOf }: RuleKey): JsonSchema {
  const one: JsonSchema = {
    ...text,
    ...(shape === undefined ? {} : { pattern: shape.source }),
    ...(oneOf === undefined ? {} : { enum: oneOf }),
  };
  switch (is) {
    case "text":
      return one;
    case "texts":
      return { anyOf: [one, { type: "array", items: one, minItems: 1 }] };
    case "toggle":
      return { type: "boolean" };
    case "examples":
      return { type: "array", items: call };
  }
}
