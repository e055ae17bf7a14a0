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
  const short = (lines as string[][]).map((words) => quoteWords(words.slice(0, (verbAt(words) ?? words.length) + 1)));
  const lists = [whole, short].map((each) => [...new Set(each)]);
  return lists.map((list) => ({ command: list.length === 1 ? list[0]! : list }));
}

/** Programs whose first word says only what it is about, and a second one what is done to that. */
const grouping: ReadonlySet<string> = new Set(["aws", "gh", "glab", "doctl", "flyctl", "fly", "vercel", "firebase", "openstack", "oci"]);

/** The same for some words of a program. */
const groups: Readonly<Record<string, RegExp>> = {
  git: /^(?:remote|stash|submodule|worktree|notes|lfs|bisect|config)$/,
  npm: /^(?:access|config|dist-tag|hook|org|owner|pkg|profile|team|token)$/,
  docker:
    /^(?:builder|buildx|compose|config|container|context|image|manifest|network|plugin|secret|service|stack|swarm|system|trust|volume)$/,
  podman: /^(?:container|generate|image|machine|manifest|network|play|pod|secret|system|volume)$/,
  kubectl: /^(?:auth|certificate|cluster-info|config|create|rollout|set|top)$/,
  helm: /^(?:dependency|get|plugin|registry|repo|show)$/,
  cargo: /^(?:owner)$/,
};

/** Programs of which the words that say what they do are as many as it takes: nothing short of all of them is offered. */
const deep: ReadonlySet<string> = new Set(["gcloud", "az", "ibmcloud", "aliyun"]);

/**
 * Where the word stands that says what is done; null where that can't be told. An option before it may take the next word for
 * its value (`kubectl --context prod delete`), and what is called by that would hold for everything.
 */
function verbAt(words: readonly string[]): number | null {
  const [program = "", first = ""] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (deep.has(name)) return null;
  const at = grouping.has(name) || groups[name]?.test(first) === true ? 2 : 1;
  return words.slice(1, at + 1).length === at && words.slice(1, at + 1).every((word) => /^[a-z][\w:-]*$/i.test(word)) ? at : null;
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
