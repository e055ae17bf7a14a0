import type { Scope } from "@holdfast/protocol";
import type { PolicyDecision } from "@holdfast/runtime/ports/policy";
import { sha256 } from "@holdfast/runtime/hash";
import type { FactAnswer } from "../decide/judge.ts";
import type { JudgedRequest, Part } from "../decide/part.ts";
import { quoteWords } from "../rules/quote-words.ts";
import type { RuleData } from "../rules/rule-data.ts";

export interface JudgedPart {
  readonly part: Part;
  readonly answers: readonly FactAnswer[];
}

/** What a rule for a reviewed call might say, the narrowest first. Nothing here is sure to allow the call: that is tried. */
export function candidatesFor(judged: JudgedRequest, parts: readonly JudgedPart[], { scope }: PolicyDecision): RuleData[] {
  const reviewed = parts.filter(({ answers }) => answers.some(({ answer }) => answer?.decision === "review"));
  return [...commandConditions(reviewed), ...fileConditions(judged, reviewed), ...toolConditions(judged, scope)].map((condition) =>
    ruleOf(condition, judged, scope),
  );
}

type Condition = Pick<RuleData, "command" | "tool" | "read" | "write" | "host" | "mcp" | "sends_out">;

/** The reviewed commands in their own words; and as far as the word that says what they do: `git push` of `git push origin main`. */
function commandConditions(reviewed: readonly JudgedPart[]): Condition[] {
  const lines = reviewed.map(({ part: { run } }) => run?.command.words.map(({ literal }) => literal) ?? [null]);
  if (lines.length === 0 || lines.some((words) => words.length === 0 || words.includes(null))) return [];
  const whole = (lines as string[][]).map((words) => quoteWords(words));
  const short = (lines as string[][]).map((words) => quoteWords(words.slice(0, subcommandAt(words) + 1)));
  const lists = [whole, short].map((each) => [...new Set(each)]);
  return lists.map((list) => ({ command: list.length === 1 ? list[0]! : list }));
}

/** Where the first word stands that is no option; the program itself, where there is none. */
function subcommandAt(words: readonly string[]): number {
  const at = words.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  return at === -1 || !/^[a-z][\w:-]*$/i.test(words[at] ?? "") ? 0 : at;
}

const reading = ["read_file", "search", "list_folder", "view_image"];
const changing = ["edit_file", "write_file", "apply_patch"];

function fileConditions({ request: { tool } }: JudgedRequest, reviewed: readonly JudgedPart[]): Condition[] {
  const tools = [reading, changing].find((list) => list.includes(tool));
  if (tools === undefined) return [];
  const use = tools === changing ? "write" : "read";
  const paths = [...new Set(reviewed.flatMap(({ part }) => part.touched.filter((file) => file.use === use).map((file) => file.real)))];
  if (paths.length === 0 || paths.some((path) => !path.startsWith("/") || /[*?[\]{}\\]/.test(path))) return [];
  const folders = [...new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/"))))];
  // Beside a hook or a file with secrets lie others. A folder one or two steps below the root is half of a machine.
  const isKept = use === "read" || reviewed.some(({ part }) => part.facts.some((fact) => fact.isProtected === true));
  const isOwn = !isKept && folders.length === 1 && folders[0]!.split("/").length > 3;
  const named = (list: readonly string[]) => ({ tool: tools, [use]: list.length === 1 ? list[0]! : list });
  return [named(paths), ...(isOwn ? [named([`${folders[0]!}/**`])] : [])];
}

function toolConditions({ request: { tool, plan } }: JudgedRequest, { network }: Scope): Condition[] {
  if (plan.mcp !== undefined) return [{ mcp: `${plan.mcp.server}/${plan.mcp.tool}` }];
  if (!Array.isArray(network) || network.length === 0 || !["run_command", "http_request", "web_fetch"].includes(tool)) return [];
  const host = network.length === 1 ? network[0]! : network;
  return [{ tool, host, ...(plan.writes.length > 0 && tool !== "run_command" ? { sends_out: true } : {}) }];
}

/** No wider than the moment: this project, this mode, what is granted now, and as little of strangers' content in the window. */
function ruleOf(condition: Condition, { request, mode }: JudgedRequest, { network, writable: paths }: Scope): RuleData {
  // A rule that names files grants those.
  const writable = condition.write === undefined ? paths : undefined;
  const rule = {
    decision: "allow" as const,
    ...condition,
    // In a project without trust, what its commands put out is in the window soon: the person was told.
    ...(request.trust?.untrustedInWindow === true || !request.isTrusted ? {} : { untrusted_content: false }),
    mode,
    ...(request.project === undefined ? {} : { project: request.project }),
    ...(network === undefined ? {} : { network: network === "all" ? "all" : one(network) }),
    ...(writable === undefined ? {} : { writable: one(writable) }),
  };
  return { id: `allowed-${sha256(JSON.stringify(rule)).slice(0, 10)}`, ...rule };
}

function one(list: readonly string[]): string | readonly string[] {
  return list.length === 1 ? list[0]! : list;
}
