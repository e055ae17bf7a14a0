import type { RiskNote } from "@holdfast/protocol";
import type { Fact, FactKind } from "../facts/fact.ts";
import { changesOutside, sendsOut } from "../rules/matches.ts";
import type { JudgedRequest } from "./part.ts";

type Reversible = RiskNote["reversible"];

interface Weight {
  /** What it touches, in words; null where the fact's own words say it, or nothing is touched. */
  readonly touches: string | null;
  readonly reversible: Reversible;
  readonly reach: RiskNote["reach"];
}

const touch = (touches: string | null, reversible: Reversible, reach: RiskNote["reach"]): Weight => ({ touches, reversible, reach });
const code = (touches: string): Weight => touch(touches, "unknown", "workspace");

/** What each fact means for what can happen. Facts that aren't here add nothing. */
const weights: Readonly<Partial<Record<FactKind, Weight>>> = {
  destroys_system: touch("a whole system, home or the folders around the workspace", "no", "machine"),
  device_write: touch("a device", "no", "machine"),
  fork_bomb: touch("the machine's processes", "by_hand", "machine"),
  own_records: touch("Holdfast's own records", "no", "machine"),
  unparsed: code("what can't be read"),
  too_complex: code("more than can be judged"),
  hidden_characters: code("what doesn't show as what it is"),
  hidden_code: code("code that can't be seen before it runs"),
  unknown_program: code("a program that isn't known before it runs"),
  typed_input: code("a program that runs, by what is typed to it"),
  changed_environment: code("which program runs, or its settings"),
  inline_code: code("whatever the code on the line does"),
  network: touch(null, "nothing", "elsewhere"),
  inside_host: touch(null, "unknown", "machine"),
  metadata_host: touch("the credentials of the machine", "no", "elsewhere"),
  remote_change: touch(null, "no", "elsewhere"),
  loses_work: touch("work that exists nowhere else", "no", "workspace"),
  outside_write: touch("files outside the workspace", "by_hand", "machine"),
  protected_write: touch("a file that runs later, or decides what does", "by_hand", "machine"),
  runs_later: touch("settings of later runs", "by_hand", "machine"),
  secret_read: touch("credentials", "no", "machine"),
  secret_folder: touch("credentials", "no", "machine"),
  privilege: touch("the machine, with more rights", "unknown", "machine"),
  processes: touch("other processes", "no", "machine"),
  services: touch("services of the machine", "by_hand", "machine"),
  outlives: touch("the machine after the session", "by_hand", "machine"),
  database: touch("data in a database", "no", "elsewhere"),
  mcp_call: touch(null, "unknown", "elsewhere"),
  asked_for: touch(null, "unknown", "elsewhere"),
  steered: touch("what text of others wants", "unknown", "elsewhere"),
  unknown_tool: code("what no rule knows"),
  asks_beyond: touch("what the sandbox doesn't give", "unknown", "machine"),
  repeats_doubt: touch("what an equal call may have done already", "unknown", "workspace"),
};

const worst: readonly Reversible[] = ["nothing", "by_hand", "unknown", "no"];
const furthest: readonly RiskNote["reach"][] = ["workspace", "machine", "elsewhere"];
/** More than these are counted. */
const mostNamed = 4;

/** What a person should weigh before answering: derived from the facts alone, so that the same call gets the same words. */
export function riskOf(judged: JudgedRequest): RiskNote {
  const { request, parts } = judged;
  const facts = parts.flatMap((part) => part.facts);
  const touches: string[] = [];
  let reversible: Reversible = "nothing";
  let reach: RiskNote["reach"] = "workspace";
  for (const fact of facts) {
    const weight = weights[fact.kind];
    if (weight === undefined) continue;
    const undoing = fact.isByName === true || fact.isPartlyKept === true ? "unknown" : weight.reversible;
    if (worst.indexOf(undoing) > worst.indexOf(reversible)) reversible = undoing;
    if (furthest.indexOf(weight.reach) > furthest.indexOf(reach)) reach = weight.reach;
    const said = named(weight, fact, judged);
    if (said !== null && !touches.includes(said)) touches.push(said);
  }
  const trust = [
    ...(request.trust?.untrustedInWindow === true ? [`content that nobody vouches for was read before${sourcesOf(judged)}`] : []),
    ...(request.isTrusted ? [] : ["the project isn't trusted"]),
    ...(request.mode === "off" ? ["the sandbox is off"] : []),
  ];
  const leaks = parts.some((part) => sendsOut(part) || changesOutside(part, judged)) && request.trust?.untrustedInWindow === true;
  const isSecret = facts.some(({ kind }) => kind === "secret_read" || kind === "secret_folder" || kind === "metadata_host");
  const level = leaks || isSecret || (reversible === "no" && reach !== "workspace") ? "high" : reversible === "nothing" ? "low" : "medium";
  return { level, touches: touches.slice(0, mostNamed), reversible, reach, trust };
}

function named({ touches: usual }: Weight, { kind, hosts, paths, isPartlyKept }: Fact, { request }: JudgedRequest): string | null {
  const touches = isPartlyKept === true ? "what isn't committed" : usual;
  if (kind === "mcp_call" || kind === "untrusted_value")
    return `whatever ${request.plan.mcp?.tool ?? "the tool"} of ${request.plan.mcp?.server ?? "the server"} does`;
  if (kind === "metadata_host")
    return `${touches}: ${hosts === undefined || hosts === "any" ? "of its cloud" : hosts.slice(0, mostNamed).join(", ")}`;
  if (hosts !== undefined) return hosts === "any" ? "a host that can't be told beforehand" : hosts.slice(0, mostNamed).join(", ");
  if (touches === null) return kind === "remote_change" ? "something elsewhere" : null;
  return paths === undefined || paths.length === 0 ? touches : `${touches}: ${paths.slice(0, mostNamed).join(", ")}`;
}

function sourcesOf({ request }: JudgedRequest): string {
  const sources = request.trust?.sources ?? [];
  return sources.length === 0 ? "" : `: ${sources.slice(0, mostNamed).join(", ")}`;
}
