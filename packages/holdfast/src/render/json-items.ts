import type { CallOutcome, CallPlan, EventPayload } from "@holdfast/protocol";

/** A call between its proposal and its settlement. */
export interface OpenCall {
  readonly itemId: string;
  tool: string;
  /** As the model wrote it. */
  readonly input: string;
  decided: Pick<EventPayload<"call.decided">, "plan" | "decision" | "rule"> | null;
}

/** Shown by what it changed, once it has. */
export function isEdit(plan: CallPlan): boolean {
  return plan.changesWorkspace && plan.command === undefined && plan.mcp === undefined;
}

/** A call that was decided and has no outcome yet. */
export function openItem(call: OpenCall): Record<string, unknown> {
  const plan = call.decided?.plan;
  const head = { id: call.itemId, ...itemBody(call), status: "in_progress" };
  return { ...head, ...(plan?.command === undefined ? {} : { aggregated_output: "" }), ...oursOf(call) };
}

/** Type and fixed fields. Calls that the shape has no word for go as calls to a tool server named `holdfast`. */
function itemBody(call: OpenCall): Record<string, unknown> {
  const plan = call.decided?.plan;
  if (plan?.command !== undefined) return { type: "command_execution", command: plan.command };
  if (plan !== undefined && isEdit(plan)) return { type: "file_change" };
  const input = plan?.input ?? parsedOr(call.input);
  if (call.tool === "web_search") return { type: "web_search", query: queryOf(input) };
  const { server, tool } = plan?.mcp ?? { server: "holdfast", tool: call.tool };
  return { type: "mcp_tool_call", server, tool, arguments: input };
}

function queryOf(input: unknown): string {
  const query = typeof input === "object" && input !== null && "query" in input ? input.query : null;
  return typeof query === "string" ? query : "";
}

function parsedOr(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function oursOf(call: OpenCall): Record<string, unknown> {
  if (call.decided === null) return {};
  const { plan, decision, rule } = call.decided;
  return { tool: plan.mcp?.tool ?? call.tool, decision, rule: rule.id };
}

export function closedItem(call: OpenCall, settled: EventPayload<"call.settled">): Record<string, unknown> {
  const { outcome, judgement } = settled;
  const plan = call.decided?.plan;
  const isDone = outcome.status === "completed";
  const head = { id: call.itemId, ...itemBody(call) };
  const ours = {
    ...oursOf(call),
    ...(isDone || outcome.status === "failed" ? {} : { call_status: outcome.status }),
    ...(outcome.status === "in_doubt" ? { certainty: "in_doubt" } : {}),
    ...(outcome.durationMs === undefined ? {} : { duration_ms: Math.round(outcome.durationMs) }),
    ...(judgement === null ? {} : { expectation: judgement }),
  };
  if (plan?.command !== undefined) {
    const { exitCode } = outcome;
    return {
      ...head,
      aggregated_output: outcome.text,
      ...(exitCode == null ? {} : { exit_code: exitCode }),
      status: isDone && (exitCode === 0 || outcome.task !== undefined) ? "completed" : "failed",
      ...(outcome.signal ? { signal: outcome.signal } : {}),
      ...(outcome.task === undefined ? {} : { task: outcome.task.id }),
      ...ours,
    };
  }
  if (plan !== undefined && isEdit(plan)) {
    return {
      ...head,
      changes: changesOf(outcome),
      status: isDone ? "completed" : "failed",
      ...(isDone ? {} : { message: outcome.text }),
      ...ours,
    };
  }
  return {
    ...head,
    ...(isDone
      ? { result: { content: [{ type: "text", text: outcome.text }], structured_content: null } }
      : { error: { message: outcome.text } }),
    status: isDone ? "completed" : "failed",
    ...ours,
  };
}

function changesOf(outcome: CallOutcome): { path: string; kind: "add" | "delete" | "update" }[] {
  return (outcome.changed ?? []).map((file) => ({
    path: file.path,
    kind: file.beforeDigest === null ? "add" : file.afterDigest === null ? "delete" : "update",
  }));
}
