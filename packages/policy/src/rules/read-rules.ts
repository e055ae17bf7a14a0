import type { Decision, Scope } from "@holdfast/protocol";
import type { FactKind } from "../facts/fact.ts";
import type { CommandPattern, WordsMatch } from "./command-words.ts";
import { readPattern } from "./command-words.ts";
import { isTable, type RuleProblem, type Wrong } from "./problem.ts";
import { readExamples } from "./read-examples.ts";
import { conditionKeys, type RuleKey, type RuleKeyName, ruleKeys, stateKeys } from "./keys.ts";
import type { Authority, Conditions, Mode, Rule } from "./rule.ts";

export interface RuleFile {
  /** As sources of rules name it. */
  readonly name: string;
  readonly authority: Authority;
  /** The line that sets a key; the elements of `rule` have their index as key. */
  readonly lineOf: (path: readonly string[]) => number;
}

export interface ReadRules {
  readonly rules: readonly Rule[];
  readonly problems: readonly RuleProblem[];
}

/** The rules of a file's tree (what a TOML parser makes of it), and everything that is wrong in it. Pure. */
export function readRules(tree: unknown, file: RuleFile): ReadRules {
  const problems: RuleProblem[] = [];
  const rules: Rule[] = [];
  const wrong: Wrong = (path, message, more = {}) => problems.push({ line: file.lineOf(path), message, ...more });
  if (!isTable(tree)) return { rules, problems: [{ line: 1, message: "this is not a table" }] };
  for (const key of Object.keys(tree))
    if (key !== "rule") wrong([key], `unknown key ${JSON.stringify(key)}`, { unknown: { word: key, known: ["rule"] } });
  const list = tree["rule"] ?? [];
  if (!Array.isArray(list) || !list.every(isTable)) {
    wrong(["rule"], "rule is not a list of tables", { hint: "write [[rule]]" });
    return { rules, problems };
  }
  const seen = new Map<string, { readonly line: number; readonly text: string }>();
  for (const [index, entry] of list.entries()) {
    const path = ["rule", String(index)];
    const before = problems.length;
    const rule = readRule(entry, path, file, wrong);
    const id = typeof entry["id"] === "string" ? entry["id"] : null;
    const text = JSON.stringify(entry);
    const earlier = id === null ? undefined : seen.get(id);
    // Word for word the same says nothing new: two processes may have kept what a person allowed.
    if (earlier?.text === text) continue;
    if (earlier !== undefined) {
      wrong([...path, "id"], `there is a rule ${JSON.stringify(id)} already`, { hint: `at line ${earlier.line}: give each its own id` });
    } else if (id !== null) seen.set(id, { line: file.lineOf(path), text });
    if (rule !== null && problems.length === before) rules.push(rule);
  }
  return { rules, problems };
}

function readRule(entry: Record<string, unknown>, path: readonly string[], file: RuleFile, wrong: Wrong): Rule | null {
  const known = Object.keys(ruleKeys) as RuleKeyName[];
  for (const key of Object.keys(entry)) {
    if (!Object.hasOwn(ruleKeys, key))
      wrong([...path, key], `unknown key ${JSON.stringify(key)} in a rule`, { unknown: { word: key, known } });
  }
  const at = (key: RuleKeyName): readonly string[] => [...path, key];
  const has = (key: RuleKeyName): boolean => Object.hasOwn(entry, key);
  const texts = (key: RuleKeyName): string[] | undefined => (has(key) ? readTexts(entry[key], key, at(key), wrong) : undefined);
  const text = (key: RuleKeyName): string | undefined => {
    if (has(key) && typeof entry[key] !== "string") wrong(at(key), `${key} is not ${ruleKeys[key].wanted}`);
    return typeof entry[key] === "string" ? texts(key)?.[0] : undefined;
  };
  const toggle = (key: RuleKeyName): boolean | undefined => {
    if (has(key) && typeof entry[key] !== "boolean") wrong(at(key), `${key} is not ${ruleKeys[key].wanted}`);
    return typeof entry[key] === "boolean" ? entry[key] : undefined;
  };

  const id = text("id");
  const decision = text("decision") as Decision | undefined;
  if (!has("id")) wrong(path, "a rule has no id", { hint: `id: ${ruleKeys.id.help}` });
  if (!has("decision")) wrong(path, "a rule has no decision", { hint: `decision: ${ruleKeys.decision.help}` });
  refuseOutOfPlace(entry, decision, path, file, wrong);
  const when = defined<Conditions>({
    facts: texts("fact") as FactKind[] | undefined,
    tools: texts("tool"),
    commands: readCommands(texts("command"), (text("match") ?? "prefix") as WordsMatch, at("command"), wrong),
    read: texts("read"),
    write: texts("write"),
    hosts: texts("host"),
    mcp: texts("mcp"),
    untrustedContent: toggle("untrusted_content"),
    trustedProject: toggle("trusted_project"),
    sendsOut: toggle("sends_out"),
    changesOutside: toggle("changes_outside"),
    modes: texts("mode") as Mode[] | undefined,
    project: text("project"),
  });
  const isFinal = toggle("final");
  const grants = readGrants(texts("network"), texts("writable"), texts("secret"));
  const person = text("reason");
  const model = text("model");
  const examples = readExamples(entry["examples"], at("examples"), wrong);
  const counterexamples = readExamples(entry["counterexamples"], at("counterexamples"), wrong);
  if (id === undefined || decision === undefined || !Object.hasOwn(defaultSentences, decision)) return null;
  return {
    id,
    source: `${file.name}:${file.lineOf(path)}`,
    authority: file.authority,
    decision,
    ...(isFinal === true ? { isFinal } : {}),
    when,
    ...(grants === null ? {} : { grants }),
    person: person ?? defaultSentences[decision].person(id),
    model: model ?? person ?? defaultSentences[decision].model(id),
    examples,
    counterexamples,
  };
}

const defaultSentences: Readonly<Record<Decision, { person: (id: string) => string; model: (id: string) => string }>> = {
  allow: { person: (id) => `The rule ${id} allows it.`, model: () => "Allowed by a rule." },
  review: { person: (id) => `The rule ${id} asks a person first.`, model: (id) => `Needs a person: the rule ${id} says so.` },
  deny: {
    person: (id) => `The rule ${id} refuses it.`,
    model: (id) => `Refused by the rule ${id}. Find another way, without what it names.`,
  },
};

/** Keys that say nothing there, or that a file of this authority can't say. */
function refuseOutOfPlace(
  entry: Record<string, unknown>,
  decision: Decision | undefined,
  path: readonly string[],
  { authority }: RuleFile,
  wrong: Wrong,
): void {
  const has = (key: RuleKeyName): boolean => Object.hasOwn(entry, key);
  if (![...conditionKeys, ...stateKeys].some(has))
    wrong(path, "a rule has no condition: it would match every call", { hint: `say what it matches: ${conditionKeys.join(", ")}` });
  if (has("match") && !has("command")) wrong([...path, "match"], "match says how command is meant, and there is no command");
  for (const key of ["network", "writable", "secret"] as const) {
    if (has(key) && decision !== undefined && decision !== "allow")
      wrong([...path, key], `${key} adds to what a call may reach, so it goes with decision = "allow"`);
  }
  if (has("final") && authority !== "builtin") wrong([...path, "final"], "only built-in rules can be final");
  if (has("project") && authority === "project") wrong([...path, "project"], "a project's file speaks of its own project alone");
  if (typeof entry["id"] === "string" && entry["id"].startsWith("builtin:") && authority !== "builtin")
    wrong([...path, "id"], "ids that begin with builtin: are those of the built-in rules");
  if (authority === "project" && decision === "allow") {
    wrong([...path, "decision"], "a project's rules can only make things stricter", {
      hint: 'write "review" or "deny"; what is allowed, the user says in $HOLDFAST_HOME/policy',
    });
  }
}

function readTexts(value: unknown, key: RuleKeyName, path: readonly string[], wrong: Wrong): string[] | undefined {
  const { is, wanted, ...spec }: RuleKey = ruleKeys[key];
  const list = typeof value === "string" ? [value] : value;
  if (
    !Array.isArray(list) ||
    list.length === 0 ||
    !list.every((one) => typeof one === "string") ||
    (is === "text" && list !== value && list.length !== 1)
  ) {
    wrong(path, `${key} is not ${wanted}`);
    return undefined;
  }
  for (const [index, one] of list.entries()) {
    const place = Array.isArray(value) ? [...path, String(index)] : path;
    if (spec.oneOf !== undefined && !spec.oneOf.includes(one))
      wrong(place, `${JSON.stringify(one)} is not ${wanted}`, { unknown: { word: one, known: spec.oneOf } });
    else if (spec.shape !== undefined && !spec.shape.test(one)) wrong(place, `${JSON.stringify(one)} is not ${wanted}`);
  }
  return list;
}

function readCommands(
  texts: readonly string[] | undefined,
  match: WordsMatch,
  path: readonly string[],
  wrong: Wrong,
): readonly CommandPattern[] | undefined {
  return texts?.flatMap((text, index) => {
    const pattern = readPattern(text, match);
    if (pattern === null) {
      wrong([...path, String(index)], `${JSON.stringify(text)} is not one simple command of plain words`, {
        hint: "no pipes, redirections, assignments or variables; put quotes around what the shell would expand",
      });
    }
    return pattern ?? [];
  });
}

function readGrants(
  network: readonly string[] | undefined,
  writable: readonly string[] | undefined,
  secrets: readonly string[] | undefined,
): Scope | null {
  if (network === undefined && writable === undefined && secrets === undefined) return null;
  return {
    ...(network === undefined ? {} : { network: network.includes("all") ? ("all" as const) : [...network] }),
    ...(writable === undefined ? {} : { writable: [...writable] }),
    ...(secrets === undefined ? {} : { secrets: [...secrets] }),
  };
}

/** Without the keys that are undefined. */
function defined<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;
}
