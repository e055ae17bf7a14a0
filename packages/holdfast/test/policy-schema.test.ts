import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Schema } from "@cfworker/json-schema";
import { Validator } from "@cfworker/json-schema";
import { readRules } from "@holdfast/policy/rules/read-rules";
import { ruleFileSchema } from "@holdfast/policy/rules/schema";
import { parse } from "smol-toml";
import { expect, test } from "vitest";

const at = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");
const validator = new Validator(ruleFileSchema() as Schema, "2020-12", false);
const fits = (tree: unknown): boolean => validator.validate(tree).valid;
const isRead = (tree: unknown): boolean => readRules(tree, { name: "x.toml", authority: "user", lineOf: () => 1 }).problems.length === 0;

test("the schema of rule files in the repository is that of the table of a rule's keys", () => {
  expect(JSON.parse(at("../schema/policy.json"))).toEqual(ruleFileSchema());
});

test("the rules of the documents fit it, and so do the built-in ones but for what is theirs alone", () => {
  const shown = [...at("../../../docs/policy.md").matchAll(/^```toml\n([\s\S]*?)^```/gm)].map(([, text]) => parse(text!));
  expect(shown.length).toBeGreaterThan(1);
  for (const tree of shown) expect([tree, fits(tree)]).toEqual([tree, true]);
  const presets = join(import.meta.dirname, "../../policy/presets");
  for (const file of readdirSync(presets)) {
    const text = readFileSync(join(presets, file), "utf8").replaceAll(/^final = .*\n/gm, "");
    expect([file, fits(parse(text))]).toEqual([file, true]);
  }
});

const rule = 'id = "a"\ndecision = "review"\n';

test.each([
  [`${rule}command = "git push"\nmatch = "exact"`, true],
  [`${rule}host = ["*.example.com", "localhost:3000", "[::1]:80"]`, true],
  [`${rule}sends_out = true\nexamples = ["a", { mcp = "a/b" }]`, true],
  [rule, false],
  ['id = "a"\ncommand = "x"', false],
  [`${rule}comand = "x"`, false],
  [`${rule}command = []`, false],
  [`${rule}command = 3`, false],
  [`${rule}tool = "x"\nmatch = "exact"`, false],
  [`${rule}command = "x"\nmatch = "suffix"`, false],
  [`${rule}fact = "networks"`, false],
  [`${rule}mode = "yolo"`, false],
  [`${rule}mcp = "no-slash"`, false],
  [`${rule}host = "https://x.example"`, false],
  [`${rule}sends_out = "yes"`, false],
  [`${rule}command = "x"\nfinal = true`, false],
  [`${rule}command = "x"\nexamples = [{ tool = "a" }]`, false],
])("the schema and the reader agree: %s", (text, isRight) => {
  const tree = parse(`[[rule]]\n${text}\n`);
  expect([fits(tree), isRead(tree)]).toEqual([isRight, isRight]);
});
