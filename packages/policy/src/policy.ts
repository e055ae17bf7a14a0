import type { Policy, PolicyDecision, PolicyRequest } from "@holdfast/runtime/ports/policy";
import { commandFacts } from "./decide/command.ts";
import { fileFacts } from "./decide/files.ts";
import { typedFacts } from "./decide/typed.ts";
import { httpFacts } from "./decide/http.ts";
import { judgeSubjects, unanswered } from "./decide/judge.ts";
import type { Fact } from "./facts/fact.ts";
import type { PolicyPlaces } from "./facts/place.ts";
import { builtinRules } from "./rules/builtin.ts";
import type { Rule } from "./rules/rule.ts";

export interface PolicyOptions {
  /** The person's home folder. Without it, what starts at `~` counts as outside the workspace. */
  readonly home?: string | null;
  /** Folders for temporary files; default `/tmp`. */
  readonly temporary?: readonly string[];
  /** Holdfast's own home, which no call may change or read. */
  readonly holdfastHome?: string | null;
  /** Folders that the sandbox hides, besides the well-known ones with credentials. */
  readonly masked?: readonly string[];
  /** Real paths of files in the workspace that hooks and MCP servers run. */
  readonly guarded?: readonly string[];
  /** All rules that hold; default the built-in ones. */
  readonly rules?: readonly Rule[];
  /** Tools of MCP servers that the user allowed, by the server's name and the tool's own. */
  readonly isMcpAllowed?: IsMcpAllowed;
}

type IsMcpAllowed = (server: string, tool: string) => boolean;

/** The policy with its built-in rules. `decide` never throws: whatever goes wrong inside becomes a review. */
export function createPolicy(options: PolicyOptions = {}): Policy {
  const places: PolicyPlaces = {
    home: options.home ?? null,
    temporary: options.temporary ?? ["/tmp"],
    holdfastHome: options.holdfastHome ?? null,
    masked: options.masked ?? [],
    guarded: options.guarded ?? [],
  };
  const isMcpAllowed = options.isMcpAllowed ?? (() => false);
  const rules = options.rules ?? builtinRules;
  return {
    async decide(request) {
      try {
        return await decide(request, places, isMcpAllowed, rules);
      } catch {
        return unanswered;
      }
    },
  };
}

async function decide(
  request: PolicyRequest,
  places: PolicyPlaces,
  isMcpAllowed: IsMcpAllowed,
  rules: readonly Rule[],
): Promise<PolicyDecision> {
  const { subjects, provenRead } = await factsOf(request, places, isMcpAllowed);
  const doubt: Fact[] = request.repeatsDoubt ? [{ kind: "repeats_doubt", what: "", scope: {} }] : [];
  return judgeSubjects(
    subjects.map((facts) => [...facts, ...doubt]),
    rules,
    provenRead && !request.repeatsDoubt,
  );
}

interface FactsOfCall {
  readonly subjects: Fact[][];
  readonly provenRead: boolean;
}

/** One list of facts for each part of the call that rules are applied to. */
export async function factsOf(
  request: PolicyRequest,
  places: PolicyPlaces,
  isMcpAllowed: IsMcpAllowed = () => false,
): Promise<FactsOfCall> {
  if (request.plan.mcp !== undefined) return { subjects: [mcpFacts(request, isMcpAllowed)], provenRead: false };
  switch (request.tool) {
    case "run_command": {
      const { command } = request.plan;
      return command === undefined ? single("unknown_tool", "run_command without a command") : commandFacts(request, command, places);
    }
    case "read_file":
    case "search":
    case "list_files":
    case "view_image": {
      const facts = await fileFacts(request, "read", places);
      return { subjects: [facts], provenRead: true };
    }
    case "edit_file":
    case "write_file":
    case "apply_patch":
      return { subjects: [await fileFacts(request, "edit", places)], provenRead: false };
    case "write_input": {
      const { typed } = request.plan;
      return typed === undefined ? single("harmless_tool", request.tool) : typedFacts(request, typed, places);
    }
    case "http_request":
    case "web_fetch":
      return { subjects: [httpFacts(request)], provenRead: false };
    case "web_search":
      return single("configured_service", request.plan.summary);
    case "read_output":
    case "read_change":
    case "update_plan":
    case "ask_user":
    case "give_up":
    case "search_tools":
      return single("harmless_tool", request.tool);
    default:
      return single("unknown_tool", request.tool);
  }
}

function single(kind: Fact["kind"], what: string): FactsOfCall {
  return { subjects: [[{ kind, what, scope: {} }]], provenRead: false };
}

/** What a server's tool does, nobody here can tell: what it says of itself grants nothing. */
function mcpFacts({ plan, mode }: PolicyRequest, isMcpAllowed: IsMcpAllowed): Fact[] {
  const { server, tool } = plan.mcp!;
  const what = `${tool} of ${server}`;
  const kind = isMcpAllowed(server, tool) ? ("mcp_allowed" as const) : ("mcp_call" as const);
  const facts: Fact[] = [{ kind, what, scope: {} }];
  // A session that is to change nothing needs more than a standing permission.
  if (mode === "read-only" && plan.changesWorkspace) facts.push({ kind: "mcp_call", what, scope: {} });
  return facts;
}
