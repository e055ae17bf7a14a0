import type { Item, ValueOrigin } from "@holdfast/protocol";
import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { Fact } from "../facts/fact.ts";
import type { Finding } from "../flow/finding.ts";
import { type FlowVerdict, judgeFlow, originsOf } from "../flow/judge.ts";
import { type FlowMemory, newMemory, remember } from "../flow/memory.ts";
import { judgeReading } from "../flow/reading.ts";

/** What was read of each session's items, by the array that holds them. */
const memories = new WeakMap<readonly Item[], FlowMemory>();

function memoryOf(items: readonly Item[]): FlowMemory {
  const memory = memories.get(items) ?? newMemory();
  memories.set(items, memory);
  remember(memory, items);
  return memory;
}

export interface McpJudgement {
  readonly facts: readonly Fact[];
  readonly origins: readonly ValueOrigin[];
}

/**
 * What a call of a server's tool comes to. What the tool says of itself lets nothing pass alone: a look must be one by its
 * name, too, and carry nothing out; an effect must be what the user's words ask for, with values that they point to. A
 * standing permission of the user's stands for the request, not for values that text of others chose.
 */
export function mcpFacts({ plan, mode, flow, tool }: PolicyRequest, isAllowed: boolean): McpJudgement {
  const { server, tool: name } = plan.mcp!;
  const fact = (kind: Fact["kind"], findings: readonly Finding[] = []): Fact => ({
    kind,
    what: `${name} of ${server}${findings.length === 0 ? "" : `: ${said(findings)}`}`,
    scope: {},
  });
  // A session that is to change nothing needs more than a standing permission, and more than to be asked for it.
  const held = mode === "read-only" && plan.changesWorkspace ? [fact("mcp_call")] : [];
  if (flow === undefined) return { facts: [fact(isAllowed ? "mcp_allowed" : "mcp_call"), ...held], origins: [] };
  const memory = memoryOf(flow.items);
  const call = {
    tool: { name, description: flow.tool.description, hints: flow.tool.hints },
    called: tool,
    schema: flow.tool.schema,
    input: plan.input,
    ...(flow.callId === undefined ? {} : { callId: flow.callId }),
  };
  const verdict = judgeFlow(memory, call);
  return { facts: [...judged(verdict), ...held], origins: originsOf(memory, call) };

  function judged({ decision, isRead, findings }: FlowVerdict): Fact[] {
    const tainted = findings.filter(({ type }) => type === "tainted");
    if (decision === "allow")
      return [fact(isAllowed ? "mcp_allowed" : isRead ? "mcp_read" : mode === "read-only" ? "mcp_call" : "asked_for")];
    if (decision === "deny") return [fact("steered", tainted)];
    if (tainted.length > 0) return [fact("untrusted_value", tainted)];
    return [isAllowed ? fact("mcp_allowed") : fact("mcp_call", findings)];
  }
}

function said(findings: readonly Finding[]): string {
  return findings
    .slice(0, mostSaid)
    .map(({ sentence }) => sentence)
    .join(" ");
}

const mostSaid = 3;

/** A request of the runtime's own whose address carries out what was read, or was put together for a host that only others named. */
export function carryingFacts({ plan, flow, tool, trust }: PolicyRequest): Fact[] {
  if (flow === undefined || trust?.untrustedInWindow !== true) return [];
  const { input } = plan;
  const url =
    typeof input === "object" && input !== null && !Array.isArray(input)
      ? (input as { readonly [key: string]: unknown })["url"]
      : undefined;
  if (typeof url !== "string") return [];
  const slots = [{ path: "url", role: "address" as const, value: url }];
  const found = judgeReading(memoryOf(flow.items), { name: tool, description: "", hints: { reads: true } }, slots).filter(
    ({ id }) => id === "carries",
  );
  return found.slice(0, 1).map(({ sentence }) => ({ kind: "carries_out", what: sentence, scope: {} }));
}
