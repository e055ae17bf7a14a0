import type { ActionKind } from "./lexicon.ts";
import { askedKinds, isThing, toolKinds } from "./lexicon.ts";
import { nameWords, stem, tellingWords } from "./words.ts";

/** What a tool says of itself: hints. They can make a call be asked about, and alone never let one pass. */
export interface ToolHints {
  readonly reads?: boolean;
  readonly destroys?: boolean;
  readonly reachesOut?: boolean;
}

export interface DescribedTool {
  /** Its own name, without that of its server. */
  readonly name: string;
  readonly description: string;
  readonly hints: ToolHints;
}

export interface Action {
  /** In the order in which they decide; empty: nobody can tell. */
  readonly kinds: readonly ActionKind[];
  /** The verb of its name. */
  readonly verb: string;
  /** Stems of the things that its name speaks of. */
  readonly things: ReadonlySet<string>;
}

/** What a tool does, by the verb of its name; where the name has none, by the first verb of its description. */
export function actionOf({ name, description }: Pick<DescribedTool, "name" | "description">): Action {
  const words = nameWords(name);
  const at = words.findIndex((word) => toolKinds.has(word));
  const verb =
    at === -1
      ? (nameWords(description.slice(0, 80)).find((word) => toolKinds.has(word.replace(/s$/, ""))) ?? "").replace(/s$/, "")
      : words[at]!;
  const things = new Set(words.filter((_, index) => index !== at).map(stem));
  const kinds = [...(toolKinds.get(verb) ?? [])];
  const money = ["money", "payment", "transaction", "transfer", "fund"];
  if (kinds.includes("send") && money.some((thing) => things.has(stem(thing)))) return { kinds: ["pay"], verb, things };
  // "Add a participant", "add to a channel": somebody is brought in.
  if (
    kinds[0] === "create" &&
    verb === "add" &&
    /participant|member|user|guest|attende|person|people|collaborator|reviewer/.test(words.join(" "))
  )
    kinds.unshift("invite");
  // "Add a comment", "create a message": something is said to others.
  if (kinds[0] === "create" && /^(?:comment|reply|message|post|tweet|review)s?$/.test(words.at(-1) ?? "")) kinds.unshift("post", "send");
  if (kinds.length === 0 && askedKinds.has(verb)) kinds.push(...askedKinds.get(verb)!);
  return { kinds, verb, things };
}

export function isReadName(name: string): boolean {
  return actionOf({ name, description: "" }).kinds[0] === "read";
}

/**
 * Whether a call only looks. `yes`: the tool's hint says so, and its name doesn't say otherwise; or its name says so, and its
 * hints that it destroys nothing and reaches nobody (a mail is marked as read). `by_name`: its name says so, and its hints nothing.
 */
export function looksOf(tool: DescribedTool): "yes" | "by_name" | "no" {
  const { kinds } = actionOf(tool);
  const { reads, destroys, reachesOut } = tool.hints;
  const isCalledSo = kinds[0] === "read";
  if (reads === true) return isCalledSo || kinds.length === 0 || kinds.includes("read") || kinds[0] === "run" ? "yes" : "no";
  if (!isCalledSo) return "no";
  if (reads === undefined) return isLookName(tool.name) ? "by_name" : "no";
  return destroys === false && reachesOut === false ? "yes" : "no";
}

const looking = /^(?:get|list|read|search|find|fetch|show|view|count|look|lookup|describe|browse)$/;
/** Of a name also what a thing is like: `list_open_issues`. */
const alsoLike = /^(?:open|draft|complete|clear|empty|star|pin|close|new|save)$/;

/** Whether a name says that a tool looks and does nothing else: `find_and_replace` and `get_or_create` don't, nor `check_in`. */
function isLookName(name: string): boolean {
  const { verb } = actionOf({ name, description: "" });
  const others = nameWords(name).filter((word) => word !== verb && !isThing(stem(word)) && !alsoLike.test(word));
  return looking.test(verb) && others.every((word) => (toolKinds.get(word) ?? ["read"])[0] === "read");
}

/** Whether what it is asked with is a program: "SELECT" looks, "DELETE" doesn't. */
export function takesProgram(tool: DescribedTool, parameters: readonly string[]): boolean {
  const about = aboutOf(tool);
  const isOfPrograms = programs.some((word) => about.has(stem(word)));
  return parameters.some((path) => {
    const words = nameWords(path);
    return (
      words.some((word) => /^(?:sql|command|commands|code|script|statement|statements|expression|program)$/.test(word)) ||
      (isOfPrograms && words.includes("query"))
    );
  });
}
const programs = ["database", "sql", "db", "command", "shell", "script", "graphql", "table", "query"];

/** The words of a tool's name and description. */
export function aboutOf({ name, description }: DescribedTool): ReadonlySet<string> {
  return new Set([...nameWords(name).map(stem), ...tellingWords(description.slice(0, 200))]);
}
