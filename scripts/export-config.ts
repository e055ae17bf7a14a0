/**
 * Writes what is made from the tables of config keys and of a rule's keys: packages/holdfast/schema/config.json and
 * policy.json, for editors, and docs/config.md.
 * `--check` writes nothing and fails where they are not what would be written.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { configReference } from "../packages/holdfast/src/config/reference.ts";
import { configSchema } from "../packages/holdfast/src/config/schema.ts";
import { ruleFileSchema } from "../packages/policy/src/rules/schema.ts";

const root = join(import.meta.dirname, "..");

const files: readonly (readonly [path: string, content: string])[] = [
  ["packages/holdfast/schema/config.json", `${JSON.stringify(configSchema(), null, 2)}\n`],
  ["packages/holdfast/schema/policy.json", `${JSON.stringify(ruleFileSchema(), null, 2)}\n`],
  ["docs/config.md", configReference()],
];

for (const [path, content] of files) {
  const file = join(root, path);
  if (present(file) === content) continue;
  if (process.argv.includes("--check")) {
    console.error(`${path} is not current: run 'npm run schemas'`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    console.log(`${path} written`);
  }
}

function present(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
