import type { CallPlan, Json } from "@holdfast/protocol";
import { grantedSource, type PolicyDecision } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { settingsOf } from "./driver.ts";
import { digestOf } from "./executed-files.ts";

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
  const decided = await ask(
    grants.map(({ offer }) => offer.rule),
    driver,
    callId,
    name,
    plan,
    inputDigest,
  );
  if (decided.decision !== "allow" || !decided.rule.source.startsWith(grantedSource)) return decided;
  const isHeld = await Promise.all(
    grants.map(async ({ files }) => {
      const now = await Promise.all(files.map(([path]) => digestOf(driver, path)));
      return files.every(([, digest], index) => digest === now[index]);
    }),
  );
  if (isHeld.every(Boolean)) return decided;
  const held = grants.filter((_, index) => isHeld[index]).map(({ offer }) => offer.rule);
  return ask(held, driver, callId, name, plan, inputDigest);
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
    ...(tool === null ? {} : { flow: { items: window.items, callId, tool: { ...tool.spec, hints: tool.hints ?? {} } } }),
    ...(granted.length === 0 ? {} : { granted }),
    ...(settings.approvals === "ask" ? { wantsOffers: true } : {}),
    repeatsDoubt: driver.registers.get("doubt", `${name}:${inputDigest}`) !== null,
    identify: (path) => ports.files.identify(path),
    ...(ports.processes.locate === undefined ? {} : { locate: (program: string) => ports.processes.locate!(program) }),
    isTracked: (path) => ports.observer.isTracked(path),
  });
}

/** The first root is the project's folder. */
function projectOf(driver: Driver): { readonly project?: string } {
  const project = driver.registers.get("session", "")?.roots[0]?.path;
  return project === undefined ? {} : { project };
}
