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

/**
 * What a tool does, by the verb of its name; where the name has none, by the first verb of its description. Whatever else a
 * name looks at, a verb of doing in it says what it does: `find_or_create`, `read_then_send`.
 */
export function actionOf({ name, description }: Pick<DescribedTool, "name" | "description">): Action {
  const words = nameWords(name);
  const first = words.findIndex((word) => toolKinds.has(word));
  const doing =
    first !== -1 && toolKinds.get(words[first]!)![0] === "read" ? words.findIndex((_, index) => index > first && doesAt(words, index)) : -1;
  const at = doing === -1 ? first : doing;
  const verb =
    at === -1
      ? (nameWords(description.slice(0, 80)).find((word) => toolKinds.has(word.replace(/s$/, ""))) ?? "").replace(/s$/, "")
      : words[at]!;
  const things = new Set(words.filter((_, index) => index !== at).map(stem));
  const kinds = [...(verb === "check" ? (checking.get(words[at + 1] ?? "") ?? ["read" as const]) : (toolKinds.get(verb) ?? []))];
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

/** Who checks out, orders. */
const checking: ReadonlyMap<string, readonly ActionKind[]> = new Map([
  ["out", ["book"]],
  ["in", ["update"]],
  ["off", ["update"]],
]);

/** After these a word is a verb, whatever else it may be. */
const joining = /^(?:and|or|then|also|plus|me|it|them|n)$/;
/** Of a name that looks also what a thing is like: `list_open_issues`. */
const alsoLike = /^(?:open|draft|complete|clear|empty|star|pin|close|new|save)$/;
const alsoNoun =
  /^(?:log|record|label|tag|schedule|update|copy|store|share|mark|import|push|sync|print|run|call|rent|change|patch|archive|register|launch|grant|contact|correct|resume|checkout|alert|upload|ping|charge|tip|duplicate|clone|broadcast|trigger|deploy|play|book|tweet|stop|move|leave)$/;
/** `list_merge_requests`, `get_deploy_status` */
const ofDoing =
  /^(?:request|status|state|history|template|log|job|info|id|option|setting|polic|rule|balance|queue|event|count|date|time|reason|method|type|list|detail|polici|token|key)/;

/** Whether a word behind a verb of looking says that something is done. */
function doesAt(words: readonly string[], index: number): boolean {
  const [before, word, next] = [words[index - 1]!, words[index]!, words[index + 1]];
  const [kind] = toolKinds.get(word) ?? ["read"];
  if (kind === "read") return false;
  if (joining.test(before)) return true;
  if (next !== undefined && (toolKinds.get(word) ?? []).includes("pay") && /^(?:money|funds?|cash)$/.test(next)) return true;
  return !isThing(stem(word)) && !alsoLike.test(word) && !alsoNoun.test(word) && (next === undefined || !ofDoing.test(next));
}

export function isReadName(name: string): boolean {
  return actionOf({ name, description: "" }).kinds[0] === "read";
}

/**
 * Whether a call only looks. `yes`: the tool's hint says so, and its name doesn't say otherwise; or its name says so, and its
 * hints that it destroys nothing and reaches nobody (a mail is marked as read). `by_name`: its name says so, and its hints
 * nothing. A hint that it destroys something is believed.
 */
export function looksOf(tool: DescribedTool): "yes" | "by_name" | "no" {
  const { kinds, things } = actionOf(tool);
  const { reads, destroys, reachesOut } = tool.hints;
  if (destroys === true) return "no";
  const isCalledSo = kinds[0] === "read";
  if (reads === true)
    return isCalledSo || kinds.length === 0 || (kinds[0] === "run" && asked.some((thing) => things.has(thing))) ? "yes" : "no";
  if (!isCalledSo) return "no";
  if (reads === undefined) return isLookName(tool.name) ? "by_name" : "no";
  return destroys === false && reachesOut === false ? "yes" : "no";
}
/** Of a verb that says little, what it runs: `run_query`. */
const asked = ["query", "search", "sql", "report", "select", "lookup", "graphql"].map(stem);

export const looking = /^(?:get|list|read|search|find|fetch|show|view|count|look|lookup|describe|browse)$/;
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

/** Whether a program among a call's values does something, or nobody can tell. */
export function runsProgram(tool: DescribedTool, values: readonly { readonly path: string; readonly value: string | number }[]): boolean {
  return values.some(({ path, value }) => {
    if (typeof value !== "string" || !takesProgram(tool, [path])) return false;
    if (value.length > longestProgram) return true;
    const words = nameWords(path);
    if (
      words.some((word) => /^(?:sql|statements?)$/.test(word)) &&
      !/^[\s(]*(?:select|with|show|explain|describe|desc|values|table)\b/i.test(value)
    )
      return true;
    if (words.some((word) => /^(?:commands?|code|script|program)$/.test(word)) && /[\s;(){}=|$`<>]/.test(value.trim())) return true;
    return changing.test(value);
  });
}
/** Longer ones aren't looked through. */
const longestProgram = 10_000;
/** What changes something in the languages of databases, wherever it stands. */
const changing = new RegExp(
  [
    "^\\s*(?:drop|truncate|alter|grant|revoke|upsert|vacuum|attach|reindex)\\s",
    "^\\s*(?:call|exec|execute|do|load|merge|create|delete|set)\\s+[\\w.]+\\s*(?:[(=;'@]|$)",
    "\\b(?:drop|truncate|alter|create(?: or replace| unique| temp(?:orary)?)?)\\s+(?:table|database|schema|index|view|materialized|column|user|role|sequence|trigger|function|procedure|type)\\b",
    "\\b(?:delete\\s+from|insert\\s+into|replace\\s+into|merge\\s+into|into\\s+(?:out|dump)file|detach\\s+delete)\\b",
    "\\bupdate\\s[^;]{1,200}\\bset\\b|\\b(?:merge|create)\\s*\\(|\\bmutation\\b|\\$(?:out|merge)\\b|;\\s*\\w",
  ].join("|"),
  "i",
);

/** The words of a tool's name and description. */
export function aboutOf({ name, description }: DescribedTool): ReadonlySet<string> {
  return new Set([...nameWords(name).map(stem), ...tellingWords(description.slice(0, 200))]);
}
