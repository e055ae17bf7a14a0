/**
 * Writes the protocol as JSON Schema (2020-12) into packages/protocol/schema, one file a shape, each referring to the
 * others by file name. `--check` writes nothing and fails where the files are not what would be written.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import * as protocol from "../packages/protocol/src/index.ts";

const folder = join(import.meta.dirname, "../packages/protocol/schema");

/** File name → content, for every schema that the protocol exports, for the error codes, and for an event as a client gets it. */
export function schemaFiles(): Map<string, string> {
  const named = z.registry<{ id: string }>();
  const seen = new Set<z.core.$ZodType>();
  const add = (id: string, schema: z.core.$ZodType): void => {
    if (seen.has(schema)) throw new Error(`the protocol exports ${id} under two names`);
    seen.add(schema);
    named.add(schema, { id });
  };
  for (const [name, value] of Object.entries(protocol)) {
    if (value instanceof z.ZodType) add(name, value);
  }
  const [first, ...others] = Object.entries(protocol.eventPayloads).map(([type, payload]) =>
    z.object({ seq: z.number().int(), at: z.number(), type: z.literal(type), payload }),
  );
  if (first) add("event", z.discriminatedUnion("type", [first, ...others]));
  add("errorCode", z.enum(protocol.errorCodes));
  const { schemas } = z.toJSONSchema(named, { uri: fileName, io: "input", target: "draft-2020-12" });
  return new Map(Object.entries(schemas).map(([id, schema]) => [fileName(id), `${JSON.stringify(schema, null, 2)}\n`]));
}

/** `changedFile` → `changed-file.json` */
function fileName(id: string): string {
  return `${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.json`;
}

function present(): Map<string, string> {
  mkdirSync(folder, { recursive: true });
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

if (import.meta.main) {
  const wanted = schemaFiles();
  const found = present();
  const stale = [...new Set([...wanted.keys(), ...found.keys()])].filter((name) => wanted.get(name) !== found.get(name));
  if (process.argv.includes("--check")) {
    for (const name of stale) console.error(`packages/protocol/schema/${name} is not current: run 'npm run schemas'`);
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    for (const name of stale) {
      const content = wanted.get(name);
      if (content === undefined) rmSync(join(folder, name));
      else writeFileSync(join(folder, name), content);
    }
    console.log(`${wanted.size} schemas, ${stale.length} changed`);
  }
}
