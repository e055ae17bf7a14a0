import type { RuleData } from "./rule-data.ts";
import { quoteWords } from "./quote-words.ts";
import type { Rule } from "./rule.ts";

/** A rule as a file would hold it. */
export function ruleDataOf({ id, decision, isFinal, when, grants, person, model, examples, counterexamples }: Rule): RuleData {
  const { commands } = when;
  const match = commands?.[0]?.match;
  const network = grants?.network === "all" ? ["all"] : grants?.network;
  const data = {
    id,
    decision,
    final: isFinal === true ? true : undefined,
    reason: person,
    model,
    // The words of a glob are kept as a shell would read them: its stars are meant.
    command: one(commands?.map(({ words, match: kind }) => (kind === "glob" ? words.map(quoteGlob).join(" ") : quoteWords(words)))),
    match: match === "prefix" ? undefined : match,
    tool: one(when.tools),
    read: one(when.read),
    write: one(when.write),
    host: one(when.hosts),
    mcp: one(when.mcp),
    fact: one(when.facts),
    mode: one(when.modes),
    untrusted_content: when.untrustedContent,
    trusted_project: when.trustedProject,
    sends_out: when.sendsOut,
    changes_outside: when.changesOutside,
    project: when.project,
    network: one(network),
    writable: one(grants?.writable),
    secret: one(grants?.secrets),
    examples: examples.length === 0 ? undefined : examples,
    counterexamples: counterexamples.length === 0 ? undefined : counterexamples,
  };
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as unknown as RuleData;
}

function one(list: readonly string[] | undefined): string | readonly string[] | undefined {
  return list?.length === 1 ? list[0] : list;
}

/** What a shell would take as more than a character is escaped; escapes that are there stay. */
function quoteGlob(word: string): string {
  return word.replace(/\\[\s\S]|[^\w@%+=:,./*?[\]-]/g, (found) => (found.length > 1 ? found : `\\${found}`));
}
