import type { Policy, PolicyDecision, PolicyRequest } from "@holdfast/runtime/ports/policy";
import { commandFacts } from "./decide/command.ts";
import { fileFacts } from "./decide/files.ts";
import { typedFacts } from "./decide/typed.ts";
import { judgeSubjects, unanswered } from "./decide/judge.ts";
import type { Fact } from "./facts/fact.ts";
import type { PolicyPlaces } from "./facts/place.ts";
import { builtinRules } from "./rules/builtin.ts";

export interface PolicyOptions {
  /** The person's home folder. Without it, what starts at `~` counts as outside the workspace. */
  readonly home?: string | null;
  /** Folders for temporary files; default `/tmp`. */
  readonly temporary?: readonly string[];
  /** Holdfast's own home, which no call may change or read. */
  readonly holdfastHome?: string | null;
  /** Folders that the sandbox hides, besides the well-known ones with credentials. */
  readonly masked?: readonly string[];
}

/** The policy with its built-in rules. `decide` never throws: whatever goes wrong inside becomes a review. */
export function createPolicy(options: PolicyOptions = {}): Policy {
  const places: PolicyPlaces = {
    home: options.home ?? null,
    temporary: options.temporary ?? ["/tmp"],
    holdfastHome: options.holdfastHome ?? null,
    masked: options.masked ?? [],
  };
  return {
    async decide(request) {
      try {
        return await decide(request, places);
      } catch {
        return unanswered;
      }
    },
  };
}

async function decide(request: PolicyRequest, places: PolicyPlaces): Promise<PolicyDecision> {
  const { subjects, provenRead } = await factsOf(request, places);
  const doubt: Fact[] = request.repeatsDoubt ? [{ kind: "repeats_doubt", what: "", scope: {} }] : [];
  return judgeSubjects(
    subjects.map((facts) => [...facts, ...doubt]),
    builtinRules,
    provenRead && !request.repeatsDoubt,
  );
}

interface FactsOfCall {
  readonly subjects: Fact[][];
  readonly provenRead: boolean;
}

/** One list of facts for each part of the call that rules are applied to. */
export async function factsOf(request: PolicyRequest, places: PolicyPlaces): Promise<FactsOfCall> {
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
    case "read_output":
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
