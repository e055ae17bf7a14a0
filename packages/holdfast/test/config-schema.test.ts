import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Schema } from "@cfworker/json-schema";
import { Validator } from "@cfworker/json-schema";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { fileTop } from "../src/config/load.ts";
import { configReference } from "../src/config/reference.ts";
import { configSchema } from "../src/config/schema.ts";
import { readSettings } from "../src/config/settings.ts";

const at = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8");
const validator = new Validator(configSchema() as Schema, "2020-12", false);

test("the schema and the reference in the repository are those of the table of keys", () => {
  expect(JSON.parse(at("../schema/config.json"))).toEqual(configSchema());
  expect(at("../../../docs/config.md")).toBe(configReference());
});

const all = `
effort = "low"
approvals = "ask"
models = { main = "openai/x", child = "ollama/y" }
[model."openai/x"]
context_window = 1000
price_input = 0
price_output = 1.5
[providers.local]
base_url = "http://127.0.0.1:1/v1"
wire = "messages"
api_key_env = "KEY"
headers = { X-Team = "a" }
[compaction]
trigger_tokens = 9
[network]
idle_timeout_ms = 9
[limits]
preset = "strict"
max_cost = 1.5
timeout = "1h30m"
[checks]
commands = ["npm test"]
baseline = false
[sandbox]
mode = "off"
allow_net = ["*.npmjs.org", "[::1]:80", "localhost:3000", "all"]
[mcp.fs]
command = "x"
args = ["", "-a"]
env = { A = "" }
tools = ["read"]
[[hooks.before_tool]]
command = "x"
matcher = "edit_file"
[web]
search = { provider = "brave", base_url = "https://x.example", api_key_env = "K" }
[sessions]
keep_days = 9
[profiles.p]
model = "a/b"
[profiles.p.limits]
timeout = 90
`;

test.each([
  [all, true],
  ['model = "a/b"', true],
  ['modle = "a/b"', false],
  ["model = 3", false],
  ['[model."noslash"]\ncontext_window = 1', false],
  ["effort = 'extreme'", false],
  ["limits.max_steps = 0", false],
  ["limits.max_steps = 1.5", false],
  ['limits.timeout = "soon"', false],
  ['limits.timeout = "0m"', false],
  ["limits.timeout = 0", false],
  ["limits.max_cost = 0", false],
  ['providers.a = { api_key = "a", api_key_env = "B" }', false],
  ['providers.a.base_url = "ftp://x"', false],
  ['providers."a b".wire = "chat"', false],
  ['[[hooks.stop]]\nmatcher = "x"', false],
  ['hooks.stop = { command = "x" }', false],
  ['mcp.a = { command = "a", url = "http://b" }', false],
  ["checks.commands = ['']", false],
  ['sandbox.allow_net = ["https://a.example"]', false],
  ["profiles.p.profiles = {}", false],
  ["[profiles.p.limits]\nmax_stepz = 1", false],
])("an editor with the schema and Holdfast agree about %j", (text, isGood) => {
  const tree = parse(text);
  const { problems } = readSettings(tree, fileTop, () => ({ layer: "user", name: "config.toml", line: 1, profile: null }));
  expect(problems.length === 0).toBe(isGood);
  expect(validator.validate(JSON.parse(JSON.stringify(tree))).valid).toBe(isGood);
});
