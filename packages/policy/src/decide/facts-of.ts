import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { Fact } from "../facts/fact.ts";
import { commandParts, type Known, type PartsOfCall } from "./command.ts";
import { askedPart, filePart } from "./files.ts";
import { carryingFacts, mcpFacts } from "./flow.ts";
import { httpFacts } from "./http.ts";
import { typedParts } from "./typed.ts";

export type IsMcpAllowed = (server: string, tool: string) => boolean;

/** One part for each piece of the call that rules are applied to. */
export async function factsOf(request: PolicyRequest, known: Known, isMcpAllowed: IsMcpAllowed = () => false): Promise<PartsOfCall> {
  if (request.plan.mcp !== undefined) {
    const { server, tool } = request.plan.mcp;
    const { facts, origins } = mcpFacts(request, isMcpAllowed(server, tool));
    return { ...whole(facts), origins };
  }
  switch (request.tool) {
    case "run_command":
    // The runtime runs it later, as a check.
    case "propose_check": {
      const { command } = request.plan;
      if (command === undefined) return single("unknown_tool", `${request.tool} without a command`);
      const { parts, provenRead } = await commandParts(request, command, known);
      const asked = await askedPart(request, known.places);
      return { parts: [...parts, ...asked], provenRead: provenRead && asked.length === 0 };
    }
    case "read_file":
    case "search":
    case "list_folder":
    case "view_image":
      return { parts: [await filePart(request, "read", known.places)], provenRead: true };
    case "edit_file":
    case "write_file":
    case "apply_patch":
      return { parts: [await filePart(request, "edit", known.places)], provenRead: false };
    case "write_input": {
      const { typed } = request.plan;
      return typed === undefined ? single("harmless_tool", request.tool) : typedParts(request, typed, known);
    }
    case "http_request":
    case "web_fetch":
      return whole([...httpFacts(request), ...carryingFacts(request)]);
    case "web_search":
      return single("configured_service", request.plan.summary);
    case "read_output":
    case "read_change":
    case "update_plan":
    case "ask_user":
    case "give_up":
    case "search_tools":
    case "lookup":
    case "read_skill":
    case "search_skills":
    case "search_documents":
    case "note_write":
    case "history_search":
    case "history_read":
      return single("harmless_tool", request.tool);
    default:
      return single("unknown_tool", request.tool);
  }
}

function single(kind: Fact["kind"], what: string): PartsOfCall {
  return whole([{ kind, what, scope: {} }]);
}

function whole(facts: readonly Fact[]): PartsOfCall {
  return { parts: [{ command: null, run: null, facts, touched: [] }], provenRead: false };
}
