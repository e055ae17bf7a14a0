import type { Approval, CallPlan, Grant, Json, RuleRef } from "@holdfast/protocol";
import { callsOf } from "../kernel/answered.ts";
import { identityOf } from "../kernel/identity.ts";
import type { CallRegister } from "../kernel/state.ts";
import { grantedSource, type PolicyDecision } from "../ports/index.ts";
import { approvalDigest } from "./approval.ts";
import type { Driver } from "./driver.ts";
import { settingsOf } from "./driver.ts";
import { areAsBefore, executedFiles } from "./executed-files.ts";
import { itemsOfSession } from "./flow-items.ts";

/**
 * What the policy says to a call, with the rules that the person allowed for this session. One of those holds only while the
 * files that its call executed are what they were.
 */
export async function decisionOf(
  driver: Driver,
  callId: string,
  name: string,
  plan: CallPlan,
  inputDigest: string,
): Promise<PolicyDecision> {
  const grants = driver.registers.entries("grant").map(([, grant]) => grant);
  const decided = await ask(grants.map(ruleOf), driver, callId, name, plan, inputDigest);
  if (decided.decision !== "allow" || !isGranted(decided.rule)) return decided;
  const held = await heldGrants(driver, grants, plan);
  return held.length === grants.length ? decided : ask(held.map(ruleOf), driver, callId, name, plan, inputDigest);
}

/**
 * True where what a call executes is what it was when a person allowed it, by an answer or by a rule for the session. Between
 * that and the call's turn lie other calls of its step, and whatever else has the workspace meanwhile.
 */
export async function isAsAllowed(driver: Driver, callId: string, call: CallRegister): Promise<boolean> {
  const { name, plan, inputDigest, rule, approvalId } = call;
  const { registers } = driver;
  if (approvalId !== null) {
    // Where nobody is asked, nobody was shown anything.
    if (settingsOf(driver).approvals === "allow") return true;
    const register = registers.get("approval", approvalId);
    return register !== null && (await isUnchanged(driver, register.approval));
  }
  if (!isGranted(rule)) return true;
  const grants = registers.entries("grant").map(([, grant]) => grant);
  const held = await heldGrants(driver, grants, plan);
  if (held.length === grants.length) return true;
  return (await ask(held.map(ruleOf), driver, callId, name, plan, inputDigest)).decision === "allow";
}

/** True where what an approval's calls execute is what was shown. */
export async function isUnchanged(driver: Driver, approval: Approval): Promise<boolean> {
  const call = driver.registers.get("call", approval.callId);
  return call !== null && (await approvalDigest(driver, callsOf(approval), call.plan, call.inputDigest)) === approval.digest;
}

function isGranted({ source }: RuleRef): boolean {
  return source.startsWith(grantedSource);
}

function ruleOf({ offer }: Grant): Json {
  return offer.rule;
}

/** Those whose files are as they were, where this call runs no others. */
async function heldGrants(driver: Driver, grants: readonly Grant[], plan: CallPlan): Promise<readonly Grant[]> {
  if (grants.length === 0) return [];
  const now = await executedFiles(driver, plan);
  const isHeld = await Promise.all(grants.map(({ files }) => areAsBefore(driver, files, now)));
  return grants.filter((_, index) => isHeld[index]);
}

async function ask(
  granted: readonly Json[],
  driver: Driver,
  callId: string,
  name: string,
  plan: CallPlan,
  inputDigest: string,
): Promise<PolicyDecision> {
  const { ports, window } = driver;
  const settings = settingsOf(driver);
  // As its server describes it now.
  const tool = ports.tools.get(name);
  const items = plan.mcp === undefined ? window.items : await itemsOfSession(driver);
  return ports.policy.decide({
    tool: name,
    plan,
    mode: settings.sandbox,
    network: settings.network,
    canSandbox: settings.sandbox === "off" || (await ports.processes.sandboxProblem()) === null,
    isTrusted: settings.isTrusted,
    ...(settings.isPlanning === true ? { isPlanning: true } : {}),
    ...projectOf(driver),
    trust: { untrustedInWindow: window.untrusted.length > 0, sources: window.untrusted },
    ...(tool === null ? {} : { flow: { items, callId, tool: { ...tool.spec, hints: tool.hints ?? {} } } }),
    ...(granted.length === 0 ? {} : { granted }),
    ...(settings.approvals === "ask" ? { wantsOffers: true } : {}),
    repeatsDoubt: isInDoubt(driver, name, plan, inputDigest),
    identify: (path) => ports.files.identify(path),
    ...(ports.processes.locate === undefined ? {} : { locate: (program: string) => ports.processes.locate!(program) }),
    isTracked: (path) => ports.observer.isTracked(path),
  });
}

/** Whether an equal call may have happened already: by what its tool makes of it, and as earlier versions knew calls. */
function isInDoubt({ registers }: Driver, name: string, plan: CallPlan, inputDigest: string): boolean {
  const known = [...(plan.identity === undefined ? [] : [plan.identity]), identityOf(plan.input), inputDigest];
  return known.some((one) => registers.get("doubt", `${name}:${one}`) !== null);
}

/** The first root is the project's folder. */
function projectOf(driver: Driver): { readonly project?: string } {
  const project = driver.registers.get("session", "")?.roots[0]?.path;
  return project === undefined ? {} : { project };
}
