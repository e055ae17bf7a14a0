import { stat } from "node:fs/promises";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Rule } from "@holdfast/policy";
import { tryExamples } from "@holdfast/policy/examples/try-examples";
import { readRules } from "@holdfast/policy/rules/read-rules";
import type { RuleProblem } from "@holdfast/policy/rules/problem";
import { nearest } from "../cli/nearest.ts";
import { parseToml, readConfigText } from "../config/toml-file.ts";
import type { GatheredPolicy, PolicyFile, PolicyPlace, PolicyProblem } from "./policy-file.ts";
import { realPatterns } from "./real-patterns.ts";

/** Reads rule files one after another, and tries the examples of their rules. */
export async function readFiles(files: readonly PolicyFile[], place: PolicyPlace): Promise<Omit<GatheredPolicy, "notes">> {
  const rules: Rule[] = [];
  const problems: PolicyProblem[] = [];
  const seen = new Map<string, string>();
  for (const file of files) {
    const read = await readFile(file);
    problems.push(...read.problems);
    for (const rule of read.rules) {
      const before = seen.get(rule.id);
      if (before === undefined) seen.set(rule.id, rule.source);
      else problems.push({ where: rule.source, message: `there is a rule ${JSON.stringify(rule.id)} already`, hint: `in ${before}` });
      rules.push(await withRealPatterns(rule, place.userHome));
    }
  }
  return { rules, problems, files: files.map(({ path }) => path) };
}

async function readFile({
  path,
  authority,
  inside,
  isRequired,
}: PolicyFile): Promise<{ rules: readonly Rule[]; problems: PolicyProblem[] }> {
  try {
    const text = await readConfigText(path, inside);
    if (text === null) {
      const problem = { where: path, message: "there is no such file", hint: "HOLDFAST_POLICY names it" };
      return { rules: [], problems: isRequired === true ? [problem] : [] };
    }
    if ((((await stat(path)).mode ?? 0) & 0o002) !== 0)
      return { rules: [], problems: [{ where: path, message: "everybody can write this file", hint: `chmod o-w ${path}` }] };
    const { tree, lineOf } = await parseToml(text, path);
    const { rules, problems } = readRules(tree, { name: path, authority, lineOf });
    const failed = await Promise.all(rules.map((rule) => failedExamples(rule, path, lineOf, tree)));
    return { rules, problems: [...problems.map((problem) => placed(problem, path)), ...failed.flat()] };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    // The message begins with the file, and its line where there is one.
    const where = /^(.*?(?::\d+)?): ([\s\S]*)$/.exec(error.message);
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    return { rules: [], problems: [{ where: where?.[1] ?? path, message: where?.[2] ?? error.message.replace(`${path} `, ""), ...hint }] };
  }
}

function placed({ line, message, hint, unknown }: RuleProblem, path: string): PolicyProblem {
  const close = unknown === undefined ? null : nearest(unknown.word, unknown.known);
  const known = unknown === undefined || close !== null ? undefined : `known: ${unknown.known.join(", ")}`;
  const said = close === null ? (hint ?? known) : `did you mean ${close}?`;
  return { where: `${path}:${line}`, message, ...(said === undefined ? {} : { hint: said }) };
}

async function failedExamples(
  rule: Rule,
  path: string,
  lineOf: (path: readonly string[]) => number,
  tree: unknown,
): Promise<PolicyProblem[]> {
  const failed = await tryExamples(rule);
  const index = (tree as { rule?: { id?: unknown }[] }).rule?.findIndex(({ id }) => id === rule.id) ?? 0;
  return failed.map(({ kind, index: at, example, why }) => {
    const line = lineOf(["rule", String(index), `${kind}s`, String(at)]);
    const shown = typeof example === "string" ? example : JSON.stringify(example);
    return { where: `${path}:${line}`, message: `${kind} of the rule ${JSON.stringify(rule.id)} ${why}: ${shown}` };
  });
}

async function withRealPatterns(rule: Rule, userHome: string): Promise<Rule> {
  const { read, write } = rule.when;
  if (read === undefined && write === undefined) return rule;
  return {
    ...rule,
    when: {
      ...rule.when,
      ...(read === undefined ? {} : { read: await realPatterns(read, userHome) }),
      ...(write === undefined ? {} : { write: await realPatterns(write, userHome) }),
    },
  };
}
