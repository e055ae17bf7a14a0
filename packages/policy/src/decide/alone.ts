import { type Fact, isGround } from "../facts/fact.ts";
import type { CommandPattern } from "../rules/command-words.ts";
import { begins } from "../rules/covers.ts";
import { quoteWords } from "../rules/quote-words.ts";
import type { RuleSet } from "../rules/rule-set.ts";
import { commandParts, type Known } from "./command.ts";
import type { AloneFacts } from "./judge.ts";
import type { JudgedRequest } from "./part.ts";

/**
 * Looks up what the words of rules would do alone, for the rules that the call's commands begin with: a rule for
 * `git push` is one for what `git push` does, not for what `git push --force` does beside it.
 */
export async function aloneFacts(judged: JudgedRequest, rules: RuleSet, known: Known): Promise<AloneFacts> {
  const found = new Map<CommandPattern, readonly Fact[]>();
  for (const { when } of rules.others) {
    for (const pattern of when.commands ?? []) {
      if (judged.parts.some(({ run }) => run !== null && begins(pattern, run)))
        found.set(pattern, await factsOfWords(pattern, judged, known));
    }
  }
  return ({ when }, { run }) => {
    if (when.commands === undefined || run === null) return null;
    return when.commands.flatMap((pattern) => (begins(pattern, run) ? (found.get(pattern) ?? []) : []));
  };
}

async function factsOfWords({ words, match }: CommandPattern, { request }: JudgedRequest, known: Known): Promise<readonly Fact[]> {
  // What a star stands for is what follows the words.
  const plain = match === "glob" ? words.filter((word) => word !== "*").map((word) => word.replaceAll(/\\(.)|[*?]/g, "$1")) : words;
  const { parts } = await commandParts(request, quoteWords(plain), { ...known, usesPaths: false });
  return parts.flatMap(({ facts }) => facts.filter(({ kind }) => !isGround(kind)));
}
