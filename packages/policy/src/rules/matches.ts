import type { JudgedRequest, Part, Touched } from "../decide/part.ts";
import type { Fact, FactKind, Run } from "../facts/fact.ts";
import { isLoopback } from "../programs/hosts.ts";
import { actsOnInput } from "../reads/fed.ts";
import { type CommandPattern, type Matched, mentions } from "./command-words.ts";
import { begins } from "./covers.ts";
import { namesFile, namesHost, namesReal } from "./patterns.ts";
import type { Rule } from "./rule.ts";
import { matchesWildcard } from "./wildcard.ts";

/** How sure it must be that a rule speaks of a part: one that restricts counts where it may be meant. */
export type Certainty = "surely" | "perhaps";

/** Whether all conditions of a rule hold for a part, but for `facts`, which each fact answers for itself. */
export function holds({ when, decision }: Rule, part: Part, judged: JudgedRequest, certainty: Certainty): Matched {
  const { request } = judged;
  const answers: Matched[] = [];
  const is = (condition: boolean): void => void answers.push(condition ? "yes" : "no");
  if (when.modes !== undefined) is(when.modes.includes(judged.mode));
  if (when.project !== undefined) is(request.project === when.project);
  if (when.trustedProject !== undefined) is(request.isTrusted === when.trustedProject);
  if (when.untrustedContent !== undefined) is((request.trust?.untrustedInWindow ?? false) === when.untrustedContent);
  if (when.tools !== undefined) is(when.tools.some((pattern) => matchesWildcard(pattern, request.tool)));
  if (when.mcp !== undefined) is(isMcpTool(when.mcp, judged));
  if (when.sendsOut !== undefined) is(sendsOut(part) === when.sendsOut);
  if (when.changesOutside !== undefined) is(changesOutside(part, judged) === when.changesOutside);
  if (answers.includes("no")) return "no";
  const { run } = part;
  if (when.commands !== undefined) {
    if (run === null) return "no";
    // Who allows words doesn't allow what else the program is told to do. A rule that names a fact says what may be done.
    if (certainty === "surely" && decision === "allow" && when.facts === undefined && actsOnInput(run.command)) return "no";
    if (certainty === "surely") is(when.commands.some((pattern) => begins(pattern, run)));
    else answers.push(most(when.commands.map((pattern) => meant(pattern, run))));
  }
  if (when.hosts !== undefined) answers.push(reaches(when.hosts, part, certainty));
  if (when.read !== undefined || when.write !== undefined) answers.push(uses(when, part, judged, certainty));
  return answers.includes("no") ? "no" : answers.includes("maybe") ? "maybe" : "yes";
}

/** What a command may run besides is perhaps meant. */
function meant(pattern: CommandPattern, { command, mayRun }: Run): Matched {
  const own = mentions(pattern, command);
  return own === "no" && mayRun.some((each) => mentions(pattern, each) !== "no") ? "maybe" : own;
}

function most(answers: readonly Matched[]): Matched {
  return answers.includes("yes") ? "yes" : answers.includes("maybe") ? "maybe" : "no";
}

function isMcpTool(patterns: readonly string[], { request }: JudgedRequest): boolean {
  const { mcp } = request.plan;
  return mcp !== undefined && patterns.some((pattern) => matchesWildcard(pattern, `${mcp.server}/${mcp.tool}`));
}

function reaches(patterns: readonly string[], { facts }: Part, certainty: Certainty): Matched {
  const reached = facts.flatMap(({ hosts }) => (hosts === undefined ? [] : [hosts]));
  if (certainty === "surely")
    return reached.some((hosts) => hosts !== "any" && hosts.every((host) => namesHost(patterns, host))) ? "yes" : "no";
  if (reached.some((hosts) => hosts !== "any" && hosts.some((host) => namesHost(patterns, host)))) return "yes";
  return reached.includes("any") ? "maybe" : "no";
}

/** A rule that says both may be meant by either. */
function uses({ read, write }: Rule["when"], { touched }: Part, { home }: JudgedRequest, certainty: Certainty): Matched {
  const patternsFor = (file: Touched): readonly string[] => (file.use === "read" ? read : write) ?? [];
  if (certainty === "surely") {
    const isNamed = (file: Touched) => file.isSure && namesReal(patternsFor(file), file.real, file.relative, home);
    return touched.some(isNamed) ? "yes" : "no";
  }
  const named = touched.filter((file) => namesFile(patternsFor(file), file, home));
  return named.some((file) => file.isSure) ? "yes" : named.length > 0 ? "maybe" : "no";
}

const outbound: readonly FactKind[] = [
  "remote_change",
  "metadata_host",
  "inside_host",
  "configured_service",
  "mcp_call",
  "mcp_allowed",
  "mcp_read",
  "asked_for",
  "untrusted_value",
  "steered",
  "carries_out",
];

/** Whatever another machine is asked may carry data out; the session's own servers are not another machine. */
export function sendsOut({ facts }: Part): boolean {
  return facts.some(
    ({ kind, hosts }) =>
      outbound.includes(kind) || hosts === "any" || hosts?.some((host) => !isLoopback(host.replace(/:\d+$/, ""))) === true,
  );
}

const changing: readonly FactKind[] = [
  "remote_change",
  "outside_write",
  "own_records",
  "device_write",
  "destroys_system",
  "privilege",
  "services",
  "database",
  "runs_later",
];

/** What a call does beyond the files of the workspace. Of a tool of an MCP server only its plan can say that it reads. */
export function changesOutside({ facts }: Part, { request: { plan, tool } }: JudgedRequest): boolean {
  if (facts.some(({ kind }) => changing.includes(kind))) return true;
  const isRequest = tool === "http_request" || tool === "web_fetch" || plan.mcp !== undefined;
  return isRequest && plan.writes.length > 0;
}

/** What no rule lifts: what can't be read is never allowed, and a mode can do no more than it can. */
const fixed: readonly FactKind[] = [
  "unparsed",
  "too_complex",
  "hidden_characters",
  "no_sandbox",
  "read_only_edit",
  "repeats_doubt",
  "asks_beyond",
];
/** What only a rule lifts that names the fact: nobody allows it in passing. */
const named: readonly FactKind[] = [
  "destroys_system",
  "device_write",
  "fork_bomb",
  "own_records",
  "metadata_host",
  "hidden_code",
  "unknown_program",
  "typed_input",
  "claimed_key",
  "untrusted_value",
  "steered",
  "carries_out",
];
const ofPaths: readonly FactKind[] = [
  "outside_write",
  "protected_write",
  "secret_read",
  "secret_folder",
  "loses_work",
  "file_edit",
  "file_read",
];
const ofHosts: readonly FactKind[] = ["network", "inside_host", "allowed_host"];
const ofTools: readonly FactKind[] = [
  "unknown_tool",
  "mcp_call",
  "mcp_allowed",
  "mcp_read",
  "asked_for",
  "network",
  "inside_host",
  "allowed_host",
  "configured_service",
  "harmless_tool",
];

/**
 * Whether a rule whose conditions surely hold for a part speaks of one of its facts: then it has a say in it, also for an
 * allow. A rule that names commands speaks of what their words alone would do (`alone`), not of what further words, a
 * redirection or an assignment add.
 */
export function speaksOf(rule: Rule, fact: Fact, part: Part, judged: JudgedRequest, alone: readonly Fact[] | null): boolean {
  const { when } = rule;
  if (rule.decision === "allow" && (fixed.includes(fact.kind) || fact.isGuess === true)) return false;
  if (when.facts !== undefined) return when.facts.includes(fact.kind) && isWithin(rule, fact, part, judged);
  if (fact.kind === "call") return true;
  if (named.includes(fact.kind) && !(alone?.some(({ kind }) => kind === fact.kind) ?? false)) return false;
  if ((when.read !== undefined || when.write !== undefined) && ofPaths.includes(fact.kind)) return isWithin(rule, fact, part, judged);
  if (when.hosts !== undefined && (ofHosts.includes(fact.kind) || (fact.kind === "remote_change" && when.sendsOut === true)))
    return isWithin(rule, fact, part, judged);
  if (alone !== null && alone.some((own) => own.kind === fact.kind && coversScope(own, fact))) return isWithin(rule, fact, part, judged);
  if (when.mcp !== undefined && ["mcp_call", "mcp_allowed", "mcp_read", "asked_for"].includes(fact.kind)) return true;
  if (when.tools !== undefined && part.command === null)
    return ofTools.includes(fact.kind) || (fact.kind === "remote_change" && when.sendsOut === true);
  return false;
}

/** Of these, a folder or a star allows none in passing: whoever says "the files of this project" doesn't mean its hooks and keys. */
const kept: readonly FactKind[] = ["protected_write", "secret_read", "secret_folder"];

/** Where the rule names files or hosts, all of the fact's are among them. */
function isWithin({ when, decision }: Rule, fact: Fact, { touched }: Part, { home }: JudgedRequest): boolean {
  if (when.hosts !== undefined && fact.hosts !== undefined) {
    const { hosts } = fact;
    const patterns = when.hosts;
    if (hosts === "any" || !hosts.every((host) => namesHost(patterns, host))) return false;
  }
  if (when.read === undefined && when.write === undefined) return true;
  const isRead = fact.kind === "secret_read" || fact.kind === "file_read";
  const isKept = fact.isProtected === true || kept.includes(fact.kind);
  const isOneByOne = decision === "allow" && isKept && when.facts === undefined;
  const patterns = [...((isRead ? when.read : when.write) ?? []), ...(fact.kind === "secret_folder" ? (when.read ?? []) : [])].filter(
    (pattern) => !isOneByOne || !/[*?[\]{}]/.test(pattern),
  );
  const relativeOf = (real: string) => touched.find((file) => file.real === real)?.relative ?? null;
  const paths = fact.paths ?? touched.filter((file) => file.use === (isRead ? "read" : "write")).map((file) => file.real);
  return paths.length > 0 && paths.every((real) => namesReal(patterns, real, relativeOf(real), home));
}

/**
 * Whether what the words alone would reach is all that the command reaches. Words that leave open which host they ask, such
 * as `git push`, don't stand for a host that further words name.
 */
function coversScope(own: Fact, fact: Fact): boolean {
  const within = <T>(inner: readonly T[] | undefined, outer: readonly T[] | undefined) =>
    (inner ?? []).every((one) => outer?.includes(one) === true);
  if (!within(fact.paths, own.paths)) return false;
  if (fact.hosts === undefined) return true;
  return own.hosts === "any" || fact.hosts === "any" ? own.hosts === fact.hosts : within(fact.hosts, own.hosts);
}
