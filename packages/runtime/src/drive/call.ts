import type { CallOutcome, SessionEvent } from "@holdfast/protocol";
import { stricterClass } from "@holdfast/protocol/decision";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { sha256 } from "../hash.ts";
import { expectedFiles, judgeExpectation } from "../expect.ts";
import { inDoubt, settled, settledWithout } from "../kernel/settle.ts";
import type { CallRegister, OpenCall } from "../kernel/state.ts";
import type { CallContext, CallIntent, CallRefusal, Prepared, ProbeFinding, Tool } from "../ports/index.ts";
import { showHidden } from "../hidden.ts";
import { redact } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { isFatal, messageOf, newId, stop, stopAt } from "./driver.ts";
import { afterCall, beforeCall, withCheckpoint } from "./checkpoint.ts";
import { callContext } from "./gate.ts";
import { labelFor } from "./label.ts";
import { lookAgain, lookAt } from "./look.ts";
import { isAsAllowed } from "./decision.ts";
import { askHooks, contextOf } from "./hooks.ts";
import { recordingRun, seeingEnds } from "./record-run.ts";
import type { HandOver } from "./workspace-lock.ts";
import { withWorkspace } from "./workspace-lock.ts";

/** How often a target that takes a key is asked before its answer counts as lost. */
const mostKeyedAttempts = 3;

/** In whose name a claim is taken so that nobody acts on it. */
const revoked = "revoked";

/** The key a target may know a call by: the same for every attempt. */
export function callKey(session: string, callId: string): string {
  return sha256(`${session}\n${callId}`);
}

/** Makes calls' intents durable: what exactly will run. A tool that finds the call impossible now settles it instead. */
export async function intend(driver: Driver, calls: readonly OpenCall[]): Promise<SessionEvent[]> {
  const events = await Promise.all(
    calls.map(async (call): Promise<SessionEvent[]> => {
      const register = registerOf(driver, call.id);
      const prepared = await prepare(driver, call.id, register);
      if ("type" in prepared) return [settledWithout(call.id, "failed", prepared.text, newId(driver))];
      driver.staged.blobs.push(...prepared.blobs);
      return [
        {
          type: "call.intended",
          payload: {
            callId: call.id,
            attempt: Math.max(1, call.attempt),
            replay: register.plan.replay,
            key: callKey(driver.session, call.id),
            inputDigest: register.inputDigest,
            scope: register.scope,
            prepared: prepared.prepared,
          },
        },
      ];
    }),
  );
  return withCheckpoint(driver, events.flat());
}

async function prepare(driver: Driver, callId: string, { name, plan, scope }: CallRegister): Promise<Prepared | CallRefusal> {
  const tool = driver.ports.tools.get(name);
  if (tool === null) return { type: "refused", text: `The tool ${name} is not available any more. Nothing was done.` };
  try {
    return (await tool.prepare?.(plan, callContext(driver, callId, scope))) ?? { prepared: null, blobs: [] };
  } catch (error) {
    if (isFatal(error)) throw error;
    return { type: "refused", text: clean(driver, `The call could not be prepared, and nothing was done: ${messageOf(error)}`) };
  }
}

/** Carries out an intended call, or goes on following one that still runs. Every ending without an answer goes by its class. */
export async function runCall(driver: Driver, callId: string, signal: AbortSignal): Promise<SessionEvent[]> {
  const { register, tool, intent } = intended(driver, callId);
  const contextOf = (handOver?: HandOver): CallContext => callContext(driver, callId, register.scope, handOver);
  const attach = driver.attachable.delete(callId) ? tool.attach : undefined;
  const isBegun = attach !== undefined;
  const takesClaim = !isBegun && (register.plan.replay === "never" || register.plan.replay === "keyed");
  let mayHaveActed = isBegun;
  try {
    const run = async (handOver?: HandOver): Promise<CallOutcome> => {
      if (!isBegun && !(await isAsAllowed(driver, callId, register))) throw changedSince();
      // The last thing before the effect: until then the call has certainly not happened.
      if (takesClaim) await claim(driver, callId, intent.attempt);
      mayHaveActed = true;
      const looked = isBegun ? null : await lookAt(driver.ports.files, expectedFiles(register.plan.expect));
      let outcome: CallOutcome | null = null;
      try {
        outcome = await (attach ?? tool.run)(intent, contextOf(handOver), signal);
      } finally {
        afterCall(driver, register, outcome);
      }
      return looked === null ? outcome : { ...outcome, files: await lookAgain(driver.ports.files, looked) };
    };
    if (register.plan.workspace !== "exclusive") {
      const seen = await seeingEnds(driver, register.plan, () => run());
      return [...(await tell(driver, register, callId, seen.outcome, signal)), ...seen.events];
    }
    const plan = isBegun ? null : register.plan;
    const { outcome, events } = await withWorkspace(
      driver,
      callId,
      signal,
      async (handOver, hasWaited) => {
        if (!isBegun) await beforeCall(driver, callId, register, hasWaited);
        return recordingRun(driver, callId, plan, () => run(handOver));
      },
      isBegun,
    );
    return [...(await tell(driver, register, callId, outcome, signal)), ...events];
  } catch (error) {
    if (isHoldfastError(error, "claim_lost") || (!mayHaveActed && isFatal(error))) throw error;
    if (!mayHaveActed && intent.isUncertain !== true) {
      await beforeCall(driver, callId, register, true);
      const text = `The call did not run, and nothing was done: ${clean(driver, messageOf(error))}`;
      return [settledWithout(callId, signal.aborted ? "interrupted" : "failed", text, newId(driver))];
    }
    return unanswered(driver, register, tool, intent, error, signal);
  }
}

function changedSince(): HoldfastError {
  const message = "files that it executes have changed since it was allowed. Propose it again, and it is decided as they are now";
  return new HoldfastError("approval_changed", message);
}

async function claim(driver: Driver, callId: string, attempt: number): Promise<void> {
  const isOurs = await take(driver, callId, attempt, "taken");
  if (!isOurs) throw new HoldfastError("claim_lost", `attempt ${attempt} of call ${callId} was taken by another driver`);
}

/** Takes the claim on an attempt, to act or so that nobody does any more. False where it was taken before. */
export async function take(driver: Driver, callId: string, attempt: number, claim: "taken" | "revoked"): Promise<boolean> {
  const { log, processes } = driver.ports;
  const at = stopAt("claim", `${callId}:${attempt}`, [`claim ${claim}`]);
  await stop(driver, at("before"));
  const isOurs = await log.claim(driver.session, callId, attempt, claim === "taken" ? processes.owner.label : revoked);
  await stop(driver, at("after"));
  // Revoked before by a driver that then died: still nobody acted.
  return isOurs || (claim === "revoked" && (await log.claimedBy(driver.session, callId, attempt)) === revoked);
}

/** The tool ended without saying what happened. */
async function unanswered(
  driver: Driver,
  register: CallRegister,
  tool: Tool,
  intent: CallIntent,
  error: unknown,
  signal: AbortSignal,
): Promise<SessionEvent[]> {
  const { callId } = intent;
  const status = signal.aborted ? "interrupted" : "failed";
  const why = messageOf(error);
  // The key's lifetime may have ended meanwhile.
  const { replay } = intended(driver, callId).intent.plan;
  if (replay === "keyed" && intent.attempt < mostKeyedAttempts && !signal.aborted) {
    // The same key again: the target answers from its record, or does now what it had not done.
    return [{ type: "call.recovered", payload: { callId, finding: "unanswered", attempt: intent.attempt + 1 } }];
  }
  if (register.plan.replay === "safe") return [settledWithout(callId, status, `The call failed: ${clean(driver, why)}`, newId(driver))];
  const finding = replay === "probe" ? await probe(driver, tool, intent, callId) : await reconcile(driver, tool, intent, callId);
  switch (finding.type) {
    case "happened":
      return settle(driver, register, callId, finding.outcome);
    case "not_happened":
      return [settledWithout(callId, status, `The call failed and nothing was done: ${clean(driver, why)}`, newId(driver))];
    case "resume":
    case "running":
      return settle(driver, register, callId, inDoubt(`it failed on the way (${why})`, "what it was to change"));
    case "unknown":
      return settle(driver, register, callId, inDoubt(why, finding.look));
  }
}

export async function probe(driver: Driver, tool: Tool, intent: CallIntent, callId: string): Promise<ProbeFinding> {
  if (tool.probe === undefined) return { type: "unknown", look: "what the call was to change" };
  try {
    return await tool.probe(intent, callContext(driver, callId, intent.scope));
  } catch (error) {
    return { type: "unknown", look: messageOf(error) };
  }
}

/** What a tool can find out where its class can't tell. */
export async function reconcile(driver: Driver, tool: Tool, intent: CallIntent, callId: string): Promise<ProbeFinding> {
  const unknown: ProbeFinding = { type: "unknown", look: "the target itself" };
  try {
    const found = (await tool.reconcile?.(intent, callContext(driver, callId, intent.scope))) ?? unknown;
    return found.type === "running" || found.type === "resume" ? unknown : found;
  } catch (error) {
    return { type: "unknown", look: `the target itself (${messageOf(error)})` };
  }
}

/** Settles a call that was carried out, with what hooks have to say of it. */
async function tell(
  driver: Driver,
  register: CallRegister,
  callId: string,
  outcome: CallOutcome,
  signal: AbortSignal,
): Promise<SessionEvent[]> {
  const { name, plan } = register;
  const asked = await askHooks(driver, {
    event: "after_tool",
    callId,
    tool: name,
    signal,
    data: () => ({ tool_name: name, tool_input: plan.input, tool_response: outcome.text, status: outcome.status }),
  });
  const words = [contextOf(asked), ...(asked.refusal === null ? [] : [`A hook objects to this: ${asked.refusal}`])];
  const said = words.filter((text) => text !== "").join("\n");
  return [
    ...asked.ran,
    ...(await settle(driver, register, callId, said === "" ? outcome : { ...outcome, text: `${outcome.text}\n${said}` })),
  ];
}

export async function settle(driver: Driver, register: CallRegister, callId: string, outcome: CallOutcome): Promise<SessionEvent[]> {
  const text = register.note === undefined ? outcome.text : `${outcome.text}\n${register.note}`;
  const trust = labelFor(driver, register, outcome.trust);
  const cleaned = clean(driver, text);
  const safe = { ...outcome, trust, text: trust === "untrusted" ? showHidden(cleaned) : cleaned };
  const { expect, command } = register.plan;
  const counts = expect?.testsPassed === true ? await driver.ports.verifier.testCounts(safe.text) : null;
  return [
    settled(callId, safe, judgeExpectation(expect, safe, { command, counts, bounded: driver.ports.bounded }), newId(driver)),
    ...proposedCheck(driver, callId, safe),
  ];
}

/**
 * The check that a call proposed, with the baseline that only it still needs. One that is there already, whoever asked for it,
 * stays as it is: a model adds checks, and never replaces one.
 */
function proposedCheck({ head, registers }: Driver, callId: string, { proposed }: CallOutcome): SessionEvent[] {
  if (proposed === undefined) return [];
  const { command } = proposed;
  const isThere = registers.entries("check").some(([, check]) => "command" in check && check.command === command);
  if (isThere) return [];
  const id = `check_${sha256(`model\n${command}`).slice(0, 12)}`;
  const check = { id, kind: "command" as const, authority: "tool" as const, isRequired: true, from: callId, ...proposed };
  // One that is being taken knows nothing of it, and is taken anew.
  const { attempt } = head.baseline;
  return [
    { type: "checks.accepted", payload: { checks: [check] } },
    ...(attempt > 0 ? [{ type: "baseline.started" as const, payload: { attempt: attempt + 1 } }] : []),
  ];
}

function clean(driver: Driver, text: string): string {
  return redact(text, driver.ports.secrets.values());
}

/**
 * An open call with its durable intent. The stricter of the stored and the current replay class holds; a key that its target
 * no longer knows protects from nothing.
 */
export function intended(driver: Driver, callId: string): { register: CallRegister; tool: Tool; intent: CallIntent } {
  const stored = registerOf(driver, callId);
  const open = driver.head.turn?.open.find((call) => call.id === callId);
  if (stored.intent === null) throw new HoldfastError("session_corrupt", `call ${callId} runs without an intent`);
  const { replay, key, prepared, at } = stored.intent;
  const tool = driver.ports.tools.get(stored.name);
  if (tool === null) throw new HoldfastError("tool_unknown", `the tool ${stored.name} of an open call is not available here`);
  const isKeyKnown = driver.ports.clock.now() - at < (stored.plan.keyLifetimeMs ?? Number.POSITIVE_INFINITY);
  const known = stricterClass(replay, stored.plan.replay);
  const plan = { ...stored.plan, replay: known === "keyed" && !isKeyKnown ? ("never" as const) : known };
  const register = { ...stored, plan };
  return {
    register,
    tool,
    intent: {
      callId,
      name: stored.name,
      plan,
      attempt: open?.attempt ?? 1,
      isUncertain: open?.isUncertain === true,
      key,
      scope: stored.scope,
      prepared,
    },
  };
}

export function registerOf(driver: Driver, callId: string): CallRegister {
  const register = driver.registers.get("call", callId);
  if (register === null) throw new HoldfastError("session_corrupt", `call ${callId} is open but nothing is recorded of it`);
  return register;
}
