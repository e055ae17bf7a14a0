import { factKinds } from "../facts/fact.ts";
import { wordsMatches } from "./command-words.ts";
import { modes } from "./rule.ts";

/** What a value must be: a text, or a list of them (a text alone is a list of one), each of a shape. */
export interface RuleKey {
  readonly is: "text" | "texts" | "toggle" | "examples";
  /** What fits, as it follows "is not". */
  readonly wanted: string;
  readonly shape?: RegExp;
  readonly oneOf?: readonly string[];
  readonly help: string;
}

const host = /^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$|^\[[0-9A-Fa-f:]+\](?::\d{1,5})?$/;
const path = /^(?!~[^/])[^\0]+$/;

/** Every key of a rule. Reading, errors, and docs/policy.md come from this table. */
export const ruleKeys = {
  id: {
    is: "text",
    wanted: "letters, digits, and any of . : _ - within, at most 80",
    shape: /^[A-Za-z0-9][\w.:-]{0,79}$/,
    help: "its name, which decisions show",
  },
  decision: { is: "text", wanted: "allow, review or deny", oneOf: ["allow", "review", "deny"], help: "`allow`, `review` or `deny`" },
  reason: { is: "text", wanted: "a text", shape: /\S/, help: "a sentence for the person; `{what}` stands for what exactly" },
  model: { is: "text", wanted: "a text", shape: /\S/, help: "a sentence for the model: what was refused, and what would be allowed" },
  command: { is: "texts", wanted: "a command, or a list of them", shape: /\S/, help: "one simple command, as a shell would read it" },
  match: {
    is: "text",
    wanted: "prefix, glob or exact",
    oneOf: wordsMatches,
    help: "how `command` is meant: `prefix` (where nothing is said), `glob` (`*` stands for any text within a word) or `exact`",
  },
  tool: { is: "texts", wanted: "the name of a tool, or a list of them", shape: /^[\w.*-]+$/, help: "names of tools; `*` for any text" },
  read: { is: "texts", wanted: "a path pattern, or a list of them", shape: path, help: "patterns of files that it reads" },
  write: { is: "texts", wanted: "a path pattern, or a list of them", shape: path, help: "patterns of files that it writes or deletes" },
  host: {
    is: "texts",
    wanted: "a host such as api.example.com, *.example.com or localhost:3000",
    shape: host,
    help: "hosts that it reaches",
  },
  mcp: {
    is: "texts",
    wanted: "SERVER/TOOL, where * stands for any text",
    shape: /^[^/\s]+\/\S+$/,
    help: "tools of MCP servers, `SERVER/TOOL`; `*` for any text",
  },
  fact: { is: "texts", wanted: "a fact that the policy knows", oneOf: factKinds, help: "what the policy found out about it" },
  mode: { is: "texts", wanted: "read-only, workspace, full or plan", oneOf: modes, help: "only in sessions of this mode" },
  untrusted_content: { is: "toggle", wanted: "true or false", help: "whether content that nobody vouches for is in the window" },
  trusted_project: { is: "toggle", wanted: "true or false", help: "whether the project is trusted" },
  sends_out: { is: "toggle", wanted: "true or false", help: "whether it reaches another machine or a service" },
  changes_outside: { is: "toggle", wanted: "true or false", help: "whether it changes something outside the workspace" },
  project: {
    is: "text",
    wanted: "the absolute path of a folder",
    shape: /^\/[^\0]*$/,
    help: "only in sessions of the project in this folder",
  },
  final: { is: "toggle", wanted: "true or false", help: "a deny that only the organisation can lift; of the built-in rules alone" },
  network: {
    is: "texts",
    wanted: 'hosts, or "all"',
    shape: host,
    help: "what an allow adds for the calls that it allows: hosts that they may reach",
  },
  writable: {
    is: "texts",
    wanted: "an absolute path, or one that begins with ~/",
    shape: /^(?:\/|~\/)[^\0]+$/,
    help: "what an allow adds for the calls that it allows: paths that they may write",
  },
  secret: {
    is: "texts",
    wanted: "the name of a secret: letters, digits, - and _",
    shape: /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    help: "what an allow adds for the commands that it allows: secrets of `[secrets]`, each as an environment variable",
  },
  examples: { is: "examples", wanted: "a list of calls", help: "calls that it must match; tried whenever the file is read" },
  counterexamples: { is: "examples", wanted: "a list of calls", help: "calls that it must not match" },
} as const satisfies Readonly<Record<string, RuleKey>>;

export type RuleKeyName = keyof typeof ruleKeys;

/** Without one of these a rule would match every call. */
export const conditionKeys: readonly RuleKeyName[] = ["command", "tool", "read", "write", "host", "mcp", "fact"];
export const stateKeys: readonly RuleKeyName[] = ["untrusted_content", "trusted_project", "sends_out", "changes_outside"];
