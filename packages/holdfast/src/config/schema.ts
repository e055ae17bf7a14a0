import type { Key, Named, Node, Table } from "./kinds.ts";
import { fileTop } from "./load.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema (2020-12) of a config file, for editors. */
export function configSchema(): JsonSchema {
  const { profiles, ...settings } = fileTop.keys;
  const properties = Object.fromEntries(Object.keys(settings).map((name) => [name, { $ref: `#/$defs/settings/properties/${name}` }]));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Holdfast's config",
    type: "object",
    properties: {
      ...properties,
      profiles: { ...named({ $ref: "#/$defs/settings" }, profiles?.node as Named), description: profiles?.help },
    },
    additionalProperties: false,
    $defs: { settings: tableSchema({ ...fileTop, keys: settings }) },
  };
}

function tableSchema({ keys, rivals }: Table): JsonSchema {
  const entries = Object.entries(keys);
  const required = entries.filter(([, key]) => key.required).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, key]) => [name, keySchema(key)])),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    ...(rivals.length === 0 ? {} : { not: { anyOf: rivals.map((pair) => ({ required: pair })) } }),
  };
}

function keySchema(key: Key): JsonSchema {
  return { ...nodeSchema(key.node), description: key.help, ...(key.default === undefined ? {} : { default: key.default }) };
}

function nodeSchema(node: Node): JsonSchema {
  switch (node.is) {
    case "leaf":
      return node.schema;
    case "table":
      return tableSchema(node);
    case "named":
      return named(nodeSchema(node.of), node);
    case "rows":
      return { type: "array", items: tableSchema(node.of) };
    case "adding":
      return { type: "array", items: node.of.schema };
    case "either":
      return { anyOf: [node.leaf.schema, nodeSchema(node.named)] };
  }
}

function named(of: JsonSchema, { names }: Named): JsonSchema {
  return { type: "object", patternProperties: { [names.pattern]: of }, additionalProperties: false };
}
