import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Json } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { readBoundedFile } from "../cli/bounded.ts";

/** Bytes: all of it goes to the model. */
const largestSchema = 32 * 1024;

/** Reads the JSON Schema of `--output-schema`. Throws `usage` with the place in it for what no answer can be held to. */
export async function readOutputSchema(file: string, cwd: string): Promise<Json> {
  const path = resolve(cwd, file);
  const bad = (what: string, hint?: string): HoldfastError =>
    new HoldfastError("usage", `--output-schema ${file}: ${what}`, hint === undefined ? {} : { hint });
  const found = await stat(path).catch(() => null);
  if (found === null || found.isDirectory()) throw bad(found === null ? "there is no such file" : "this is a folder");
  const bytes = await readBoundedFile(path, largestSchema).catch((error: Error) => {
    throw bad(`it can't be read: ${error.message}`);
  });
  if (bytes === null) throw bad(`more than ${largestSchema / 1024} kB; all of it would go to the model`);
  let schema: Json;
  try {
    schema = JSON.parse(bytes.toString("utf8")) as Json;
  } catch (error) {
    throw bad(`this is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { schemaProblem } = await import("@holdfast/checks/output/schema");
  const problem = schemaProblem(schema);
  if (problem !== null) throw bad(problem, "it has to be a JSON Schema by itself (2020-12 or draft-07)");
  return schema;
}
