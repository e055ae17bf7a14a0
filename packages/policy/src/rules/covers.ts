import { analyse } from "../facts/analyse.ts";
import { type Fact, type FactKind, isGround, type Run } from "../facts/fact.ts";
import { addNothing } from "../reads/arguments.ts";
import { isTrustedName } from "../reads/prove.ts";
import { readGit } from "../programs/git.ts";
import type { ShellWord, SimpleCommand } from "../shell/command.ts";
import { parseCommand } from "../shell/parse.ts";
import { type CommandPattern, wordsBehind } from "./command-words.ts";
import { quoteWords } from "./quote-words.ts";

/** Whether a command surely begins with a rule's words, and its name means the program that it seems to mean. */
export function begins(rule: CommandPattern, { command, isSure }: Run): boolean {
  if (!isSure || command.isKeyword) return false;
  return patternsOf(rule, command).some(
    (pattern) => wordsBehind(pattern, { ...command, words: plainWords(command.words, pattern.words[0] ?? "") }) !== null,
  );
}

/** The rule's words; behind a program that they name, also what they run there. */
function patternsOf(rule: CommandPattern, { via }: SimpleCommand): readonly CommandPattern[] {
  const last = via.at(-1);
  return last === undefined
    ? [rule]
    : [
        rule,
        ...ownOf(rule)
          .inner.filter((each) => each.via === last)
          .map((each) => each.pattern),
      ];
}

/** What the words of a rule are by themselves. */
interface Own {
  /** What is true of these words alone: a rule that allows `git push` allows that it talks to a remote. */
  readonly kinds: ReadonlySet<FactKind>;
  /** What they run: `npx vitest` runs `vitest`. Covered only behind the program that runs it. */
  readonly inner: readonly { readonly pattern: CommandPattern; readonly via: string }[];
}

const known = new WeakMap<CommandPattern, Own>();

/**
 * For rules that allow: whether the rule speaks of this very command, so that it answers for all of it but its redirections
 * and assignments, which are subjects of their own. True where the command's name means the program it seems to mean, every
 * word is literal or a glob that can't become an option, what follows the rule's words only selects or shows, and nothing
 * else is true of the command (`facts`) than of the rule's words alone.
 */
export function covers(rule: CommandPattern, run: Run, facts: readonly Fact[]): boolean {
  const { command } = run;
  if (!run.isSure || command.isKeyword || !staysInside(command)) return false;
  if (!patternsOf(rule, command).some((pattern) => speaksOf(pattern, command))) return false;
  const { kinds } = ownOf(rule);
  return facts.every((fact) => isGround(fact.kind) || kinds.has(fact.kind));
}

function speaksOf(pattern: CommandPattern, command: SimpleCommand): boolean {
  const words = plainWords(command.words, pattern.words[0] ?? "");
  const behind = wordsBehind(pattern, { ...command, words });
  if (behind === null) return false;
  const matched = words.slice(0, words.length - behind.length);
  // A word that a star lets go on stays a plain one.
  if (pattern.match === "glob" && !matched.every((word, i) => word.literal === pattern.words[i] || isPlainWord(word.literal!)))
    return false;
  return addNothing({ ...command, words }, matched.length);
}

function isPlainWord(text: string): boolean {
  return /^[\w:.@+=/-]*$/.test(text) && !text.includes("..");
}

function ownOf(rule: CommandPattern): Own {
  let own = known.get(rule);
  if (own === undefined) {
    const plain =
      rule.match === "glob" ? rule.words.map((word) => word.replace(/\\([\s\S])|[*?]/g, "$1")).filter((word) => word !== "") : rule.words;
    const parsed = parseCommand(quoteWords(plain));
    const [, ...behind] = parsed.commands;
    own = {
      kinds: new Set(analyse(parsed, null).subjects.flatMap((subject) => subject.facts.map((fact) => fact.kind))),
      inner: behind.flatMap((each) => {
        const words = each.words.map((word) => word.literal);
        return words.includes(null) ? [] : [{ pattern: { words: words as string[], match: rule.match }, via: each.via.at(-1) ?? "" }];
      }),
    };
    known.set(rule, own);
  }
  return own;
}

/** Settings of a folder come with it: a rule was made for the workspace, and git's for the folder it was made in. */
function staysInside({ places, words }: SimpleCommand): boolean {
  const program = baseName(words[0]?.literal ?? "");
  if (places === null) return program === "echo";
  return places.every((place) => place === "" || (program !== "git" && !/^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(place)));
}

const silent = new Set(["--no-pager", "-P", "--no-optional-locks"]);

/** Under the rule's name where the system's own folder is written out, and without git's options that only keep it quiet. */
function plainWords(words: readonly ShellWord[], program: string): readonly ShellWord[] {
  const first = words[0];
  if (first?.literal == null) return words;
  const isSame = first.literal === program || (isTrustedName(first.literal) && baseName(first.literal) === program);
  const named = isSame ? [{ ...first, literal: program }, ...words.slice(1)] : words;
  if (program !== "git") return named;
  const { before } = readGit(named.slice(1));
  const isQuiet = before.length > 0 && before.every((word) => silent.has(word.literal ?? ""));
  return isQuiet ? [named[0]!, ...named.slice(1 + before.length)] : named;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
