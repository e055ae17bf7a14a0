import type { CallPlan, Json, SessionEvent, ToolCall } from "@holdfast/protocol";
import { canonical } from "../canonical.ts";
import { sha256 } from "../hash.ts";
import { identityOf, meantBy, repeatsOf } from "../kernel/identity.ts";
import { settledWithout } from "../kernel/settle.ts";
import { mostOpen } from "../kernel/state.ts";
import { createStreamRedactor } from "../redact-stream.ts";
import type { CallContext, CallRefusal, Confinement, PolicyDecision, Tool } from "../ports/index.ts";
import { decisionOf } from "./decision.ts";
import { readEvents } from "../session/stored.ts";
import type { Driver } from "./driver.ts";
import { askHooks, contextOf } from "./hooks.ts";
import { namesakeOf } from "./namesake.ts";
import { addReview, askPerson, type Reviews } from "./review.ts";
import { emitDelta, isFatal, messageOf, newId, settingsOf } from "./driver.ts";

const holdsNothing = async (): Promise<void> => undefined;

/** What a tool may know of the session for one call. `scope` is what was approved beyond the session's mode. */
export function callContext(
  driver: Driver,
  callId: string,
  scope: Confinement["scope"] = {},
  handOver: CallContext["handOver"] = holdsNothing,
): CallContext {
  const settings = settingsOf(driver);
  const { limits } = settings;
  const { roots, cwd, ancestors = [] } = driver.registers.get("session", "") ?? { roots: [], cwd: null };
  let offset = 0;
  // What it holds back at the end comes with the result.
  const live = createStreamRedactor(() => driver.ports.secrets.values());
  return {
    session: driver.session,
    ancestors,
    callId,
    cwd: cwd ?? roots[0]?.path ?? "/",
    confinement: { mode: settings.sandbox, network: settings.network, scope, roots: roots.map((root) => root.path), purpose: "session" },
    limits: { commandMs: limits.commandMs ?? Infinity, mutatingCallMs: limits.mutatingCallMs ?? Infinity },
    history: async (after) => readEvents(await driver.ports.log.read(driver.session, after + 1)),
    seenDigest: (path) => driver.registers.get("seen", path)?.digest ?? null,
    output: (handle) => driver.registers.get("output", handle)?.blob ?? null,
    task: (id) => driver.registers.get("task", id),
    handOver,
    emit: (piece) => {
      const text = live.push(piece);
      if (text === "") return;
      emitDelta(driver, { type: "output.delta", callId, offset, text });
      offset += text.length;
    },
  };
}

/**
 * Decides proposals: parse, plan, policy. Only reads. Each call ends as decided and ready, as waiting for an approval, or
 * as settled (refused, unknown, unparsable).
 */
export async function gate(driver: Driver, calls: readonly ToolCall[], signal: AbortSignal): Promise<SessionEvent[]> {
  const left = settingsOf(driver).limits.callsPerTurn - (driver.head.turn?.calls ?? 0);
  const reviews: Reviews = new Map();
  const events = await Promise.all(
    calls.map(async (call, index) => {
      if (index >= left)
        return [refuse(driver, call, `The limit of tool calls a turn is reached; call ${call.callId} was not run.`, "denied")];
      if (index >= mostOpen) {
        return [
          refuse(driver, call, `An answer may hold ${mostOpen} calls; this one was not run. Propose it again, with fewer.`, "failed"),
        ];
      }
      try {
        return await gateOne(driver, call, reviews, signal);
      } catch (error) {
        if (isFatal(error)) throw error;
        return [refuse(driver, call, `The call could not be decided and was not run: ${messageOf(error)}`, "failed")];
      }
    }),
  );
  // Asked once all of the step is decided: what is the same is one question.
  const asked = await Promise.all([...reviews.values()].map((review) => askPerson(driver, review, signal)));
  return [...events, ...asked].flat();
}

async function gateOne(driver: Driver, call: ToolCall, reviews: Reviews, signal: AbortSignal): Promise<SessionEvent[]> {
  const resolved = await resolve(driver, call);
  const found = "type" in resolved && resolved.type === "unknown" ? await namesakeOf(driver.ports.tools, resolved, signal) : null;
  if ("type" in resolved && found === null) return [refuse(driver, call, resolved.text, "failed")];
  let meant: Meant = "type" in resolved ? { name: found!.spec.name, tool: found!, input: (resolved as UnknownTool).input } : resolved;
  let proposed = await judge(driver, call, meant, signal);
  const namesake = "type" in proposed ? await namesakeOf(driver.ports.tools, meant, signal) : null;
  if (namesake !== null) {
    meant = { ...meant, name: namesake.spec.name, tool: namesake };
    proposed = await judge(driver, call, meant, signal);
  }
  if ("type" in proposed) return [refuse(driver, call, proposed.text, "failed")];
  if (proposed.verdict.decision === "deny") return decide(driver, call, meant.name, proposed, reviews);
  const asked = await askHooks(driver, {
    event: "before_tool",
    callId: call.callId,
    tool: meant.name,
    signal,
    data: () => ({ tool_name: meant.name, tool_input: meant.input }),
  });
  if (asked.refusal !== null) {
    const rule = { id: "hook.before_tool", source: "hook" };
    const verdict = { ...proposed.verdict, decision: "deny" as const, rule, reason: asked.refusal, forModel: asked.refusal };
    return [...asked.ran, ...decide(driver, call, meant.name, { ...proposed, verdict }, reviews)];
  }
  const note = contextOf(asked);
  if (asked.input === undefined) return [...asked.ran, ...decide(driver, call, meant.name, proposed, reviews, note)];
  // What a hook made of it is another proposal: it is judged like any.
  const changed = await judge(driver, call, { ...meant, input: asked.input }, signal);
  const told = [`A hook changed the input to ${canonical(asked.input)}.`, ...(note === "" ? [] : [note])].join("\n");
  return "type" in changed
    ? [...asked.ran, refuse(driver, call, `${told} ${changed.text}`, "failed")]
    : [...asked.ran, ...decide(driver, call, meant.name, changed, reviews, told)];
}

interface Judged {
  readonly plan: CallPlan;
  readonly inputDigest: string;
  readonly verdict: PolicyDecision;
}

/** What a call would do, and what the policy says to that. Reads only. */
async function judge(driver: Driver, call: ToolCall, { name, tool, input }: Meant, signal: AbortSignal): Promise<Judged | CallRefusal> {
  const planned = await tool.plan(input, callContext(driver, call.callId), signal);
  if ("type" in planned) return planned;
  const line = planned.command === undefined ? null : await driver.ports.policy.plainLine?.(planned.command);
  const plan = {
    ...planned,
    identity: planned.identity ?? identityOf(meantBy(planned.input, tool.spec.schema)),
    ...(line != null && { repeats: repeatsOf(planned, line) }),
  };
  const inputDigest = sha256(canonical(plan.input));
  return { plan, inputDigest, verdict: await decisionOf(driver, call.callId, name, plan, inputDigest) };
}

function decide(
  driver: Driver,
  call: ToolCall,
  name: string,
  { plan, inputDigest, verdict }: Judged,
  reviews: Reviews,
  note = "",
): SessionEvent[] {
  const bounded: CallPlan = verdict.provenRead
    ? { ...plan, workspace: plan.workspace === "none" ? "none" : "shared", replay: "safe", changesWorkspace: false }
    : plan;
  const decided = (scope: PolicyDecision["scope"]): SessionEvent => ({
    type: "call.decided",
    payload: {
      callId: call.callId,
      ...(name === call.name ? {} : { tool: name }),
      plan: bounded,
      decision: verdict.decision,
      rule: verdict.rule,
      reason: verdict.reason,
      forModel: verdict.forModel,
      scope,
      inputDigest,
      ...(note === "" ? {} : { note }),
      ...(verdict.origins === undefined ? {} : { origins: [...verdict.origins] }),
    },
  });
  switch (verdict.decision) {
    case "allow":
      // What a rule grants beyond the session's mode, it names.
      return [decided(verdict.scope)];
    case "deny":
      return [decided({}), refuse(driver, call, `Call ${call.callId} was refused: ${verdict.forModel}`, "denied")];
    case "review":
      addReview(reviews, call.callId, { name, plan: bounded, inputDigest, verdict });
      return [decided(verdict.scope)];
  }
}

const mostPassedOn = 2;

interface Meant {
  readonly name: string;
  readonly tool: Tool;
  readonly input: Json;
}

interface UnknownTool {
  readonly type: "unknown";
  readonly name: string;
  readonly input: Json;
  readonly text: string;
}

/** The tool and input that a proposal means: its own, or those it passes on. */
async function resolve(driver: Driver, call: ToolCall): Promise<Meant | CallRefusal | UnknownTool> {
  const { tools } = driver.ports;
  const unknown = (name: string, given: Json): UnknownTool => ({
    type: "unknown",
    name,
    input: given,
    text: `There is no tool ${JSON.stringify(name.slice(0, 80))}. The tools are: ${tools.specs.map((spec) => spec.name).join(", ")}.`,
  });
  const tool = tools.get(call.name);
  const input = parseInput(call.input);
  if (tool === null) return unknown(call.name, input ?? null);
  if (input === undefined) {
    return {
      type: "refused",
      text: `The input of ${call.name} is not valid JSON (${call.input.length} characters). Send the call again with a complete JSON object.`,
    };
  }
  let meant: Meant = { name: call.name, tool, input };
  // One passes on to a tool that was found, and that may stand for another: never in a circle.
  for (let passedOn = 0; ; passedOn += 1) {
    const inner = (await meant.tool.unwrap?.(meant.input)) ?? null;
    if (inner === null) return meant;
    if ("type" in inner) return inner;
    const next = tools.get(inner.name);
    if (next === null || inner.name === meant.name || passedOn === mostPassedOn) return unknown(inner.name, inner.input);
    meant = { name: inner.name, tool: next, input: inner.input };
  }
}

function refuse(driver: Driver, call: ToolCall, text: string, status: "denied" | "failed"): SessionEvent {
  return settledWithout(call.callId, status, text, newId(driver));
}

/** Undefined where the text is no JSON. An empty text is what some models send for a call without parameters. */
function parseInput(text: string): Json | undefined {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
