import { quoteWords } from "./quote-words.ts";
import { isTable } from "./problem.ts";
import { type ReadRules, readRules } from "./read-rules.ts";

/**
 * Rules given as data instead of a file: each is what a file's `[[rule]]` holds, or short, `{ rule, match }` with the words
 * of a command (as a line, or as a list in `words`), or just the line. A short one allows, whatever network its words need by themselves. The
 * position in the list stands for the line, and for an id that isn't given.
 */
export function readDataRules(list: readonly unknown[], name: string): ReadRules {
  const entries = list.map((entry, index) => {
    const rule = typeof entry === "string" ? { rule: entry } : entry;
    return isTable(rule) ? whole(rule, index) : rule;
  });
  return readRules({ rule: entries }, { name, authority: "user", lineOf: ([, index]) => Number(index ?? 0) + 1 });
}

function whole(entry: Record<string, unknown>, index: number): Record<string, unknown> {
  const { rule, words, ...rest } = entry;
  const said = rule ?? words;
  const id = { id: `rule-${index + 1}` };
  if (said === undefined) return { ...id, ...rest };
  const isList = Array.isArray(said) && said.every((word) => typeof word === "string");
  // In a glob the words' stars are meant; quoted, they would be stars.
  const command = isList ? (rest["match"] === "glob" ? said.join(" ") : quoteWords(said)) : said;
  const decision = rest["decision"] ?? "allow";
  return { ...id, decision, command, ...(decision === "allow" ? { network: "all" } : {}), ...rest };
}
