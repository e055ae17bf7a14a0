/**
 * Makes the built-in rules (packages/policy/presets/*.toml) into modules, so that no start has to read TOML: the rules, and
 * apart from them their examples, which only tests and `holdfast policy` want. `--check` writes nothing and fails where the
 * modules are not what would be written.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseToml } from "../packages/holdfast/src/config/toml-file.ts";
import { readRules } from "../packages/policy/src/rules/read-rules.ts";

const policy = join(import.meta.dirname, "../packages/policy");
const rules: string[] = [];
const examples: string[] = [];
for (const file of readdirSync(join(policy, "presets")).toSorted()) {
  const text = readFileSync(join(policy, "presets", file), "utf8");
  const { tree, lineOf } = await parseToml(text, file);
  const read = readRules(tree, { name: `builtin/${file}`, authority: "builtin", lineOf });
  for (const { line, message, hint } of read.problems) {
    console.error(`${file}:${line}: ${message}${hint === undefined ? "" : ` (${hint})`}`);
    process.exitCode = 1;
  }
  const lines = read.rules.map((rule) => {
    const { examples: matched, counterexamples, ...bare } = rule;
    examples.push(`  ${JSON.stringify(rule.id)}: ${literal({ examples: matched, counterexamples })},\n`);
    return `    ${literal({ ...bare, examples: [], counterexamples: [] })},\n`;
  });
  rules.push(`  ${JSON.stringify(file.replace(/\.toml$/, ""))}: [\n${lines.join("")}  ],\n`);
}

const head = "// Made from packages/policy/presets by scripts/export-presets.ts (npm run schemas).\n";
const files: readonly (readonly [name: string, content: string])[] = [
  [
    "rules.ts",
    `${head}import type { Rule } from "../rules/rule.ts";\n\n/** The built-in rules by file, without their examples. */\nexport const presetRules = {\n${rules.join("")}} satisfies Readonly<Record<string, readonly Rule[]>>;\n`,
  ],
  [
    "examples.ts",
    `${head}import type { Rule } from "../rules/rule.ts";\n\n/** Examples of the built-in rules, by id. */\nexport const presetExamples: Readonly<Record<string, Pick<Rule, "examples" | "counterexamples">>> = {\n${examples.join("")}};\n`,
  ],
];
for (const [name, content] of files) {
  const path = join(policy, "src/presets", name);
  if (present(path) === content) continue;
  if (process.argv.includes("--check")) {
    console.error(`packages/policy/src/presets/${name} is not current: run 'npm run schemas'`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, content);
    console.log(`packages/policy/src/presets/${name} written`);
  }
}

/** Hidden characters of examples are written so that they show. */
function literal(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u00a0\u00ad\u0400-\u04ff\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function present(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
