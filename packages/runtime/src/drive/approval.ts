import type { CallPlan, EventPayload, SessionEvent } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import { sha256 } from "../hash.ts";
import { answerWithinMs } from "../kernel/question.ts";
import type { PolicyDecision } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { newId } from "./driver.ts";

const largestProgram = 1024 * 1024;
/** Build tools run what these files say. */
const programFiles: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\b(?:npm|npx|yarn|pnpm|bun)\b/, ["package.json"]],
  [/\bg?make\b/, ["Makefile", "makefile", "GNUmakefile"]],
  [/\bcargo\b/, ["Cargo.toml", "build.rs"]],
];

export type ApprovalRequested = Extract<SessionEvent, { type: "approval.requested" }>;

export async function requestApproval(
  driver: Driver,
  callId: string,
  tool: string,
  plan: CallPlan,
  inputDigest: string,
  verdict: Pick<PolicyDecision, "reason" | "rule" | "scope" | "risk">,
): Promise<ApprovalRequested> {
  const approval: EventPayload<"approval.requested">["approval"] = {
    id: newId(driver)("apr"),
    callId,
    digest: await approvalDigest(driver, callId, plan, inputDigest),
    shown: plan.command ?? `${tool} ${JSON.stringify(plan.input)}${plan.typed === undefined ? "" : `\nto ${plan.typed.command}`}`,
    reason: verdict.reason,
    rule: verdict.rule,
    scope: verdict.scope,
    ...(verdict.risk === undefined ? {} : { risk: verdict.risk }),
    deadline: driver.ports.clock.now() + answerWithinMs,
  };
  return { type: "approval.requested", payload: { approval } };
}

/** What an approval is bound to: session, call, exact input, and the workspace files that the command executes. */
export async function approvalDigest(driver: Driver, callId: string, plan: CallPlan, inputDigest: string): Promise<string> {
  const programs = plan.command === undefined ? [] : await executedFiles(driver, plan.command, plan.cwd);
  return sha256(JSON.stringify([driver.session, callId, inputDigest, programs]));
}

async function executedFiles(driver: Driver, command: string, cwd: string | undefined): Promise<[string, string][]> {
  const words = command.match(/[^\s'"|&;()<>`$]+/g) ?? [];
  const named = programFiles.flatMap(([pattern, files]) => (pattern.test(command) ? files : []));
  const found: [string, string][] = [];
  for (const word of [...new Set([...words, ...named])].slice(0, 64)) {
    const path = await driver.ports.files.identify(word.startsWith("/") || cwd === undefined ? word : `${cwd}/${word}`);
    if (path.kind !== "file" || path.root === null) continue;
    try {
      found.push([path.real, (await driver.ports.files.read(path.real, largestProgram)).digest]);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      found.push([path.real, error.code]);
    }
  }
  return found;
}
