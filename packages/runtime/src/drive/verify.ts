import type { FileChange, Report, SessionEvent } from "@holdfast/protocol";
import { activeChecks } from "../kernel/active-checks.ts";
import type { Effect } from "../kernel/decide.ts";
import type { VerifierContext } from "../ports/index.ts";
import { createStreamRedactor } from "../redact-stream.ts";
import { redact } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { emitDelta, newId, settingsOf } from "./driver.ts";
import { earlierBaseline } from "./first-look.ts";
import { accountOf } from "./exhausted.ts";
import { finalMessage } from "./output.ts";
import type { HandOver } from "./workspace-lock.ts";
import { withWorkspace } from "./workspace-lock.ts";
import { recallAt } from "./recall.ts";

/** How the ids of a baseline's runs begin; those of a round begin with the turn's id. */
export const baselineRuns = "baseline.";

function checksOf(driver: Driver) {
  return activeChecks(driver.head, driver.registers);
}

function context(driver: Driver, runId: string, handOver: HandOver): VerifierContext {
  const settings = settingsOf(driver);
  let offset = 0;
  const live = createStreamRedactor(() => driver.ports.secrets.values());
  return {
    session: driver.session,
    runId,
    earlier: driver.registers.get("baseline", ""),
    handOver,
    isSandboxed: settings.sandbox !== "off",
    acceptCheckChanges: settings.acceptCheckChanges,
    inspected: driver.registers.entries("inspected").flatMap(([, parts]) => parts),
    runs: driver.registers.get("runs", "") ?? [],
    runningTasks: driver.registers.entries("task").map(([, task]) => task.ref),
    needed: driver.registers
      .entries("task")
      .flatMap(([, { ref, callId, needed }]) => (needed === undefined ? [] : [{ ref, callId, ...needed }])),
    onOutput: (checkId, piece) => {
      const text = live.push(piece);
      if (text !== "") emitDelta(driver, { type: "output.delta", callId: checkId, offset, text });
      offset += text.length;
    },
  };
}

/** The state of the world before the session's first effect: subject, the checks' results, and the content of their inputs. */
export async function takeBaseline(driver: Driver, attempt: number, signal: AbortSignal): Promise<SessionEvent[]> {
  const { takesBaseline } = settingsOf(driver);
  const checks = checksOf(driver);
  const earlier = await earlierBaseline(driver, checks);
  const { subject, manifest, evidence, inputs } = await withWorkspace(driver, "baseline", signal, (handOver) =>
    driver.ports.verifier.baseline(checks, takesBaseline, { ...context(driver, `${baselineRuns}${attempt}`, handOver), earlier }, signal),
  );
  const blobs = manifest === null ? [] : [...(await driver.ports.observer.blobsOf(manifest))];
  const tree = earlier?.tree === undefined ? {} : { tree: earlier.tree };
  return [{ type: "baseline.recorded", payload: { subject, manifest, blobs, evidence: [...evidence], inputs, ...tree } }];
}

/**
 * The workspace just before the turn's first effect that can change it. Where that takes the workspace whole, so does this look:
 * what somebody else still does is not the turn's.
 */
export async function takeSnapshot(driver: Driver, signal: AbortSignal): Promise<SessionEvent[]> {
  const look = () => driver.ports.observer.snapshot(driver.registers.get("baseline", "")?.manifest ?? null);
  const { subject, manifest } = await (isFirstWhole(driver) ? withWorkspace(driver, "its first look", signal, look) : look());
  const blobs = [...(await driver.ports.observer.blobsOf(manifest))];
  return [{ type: "snapshot.recorded", payload: { turnId: driver.head.turn?.id ?? "", subject, manifest, blobs } }];
}

/** Whether the first call that is to change the workspace waits for whoever has it. */
function isFirstWhole({ head, registers }: Driver): boolean {
  const plans = (head.turn?.open ?? []).flatMap(({ id, state }) => (state === "ready" ? (registers.get("call", id)?.plan ?? []) : []));
  return plans.find((plan) => plan.changesWorkspace)?.workspace === "exclusive";
}

export async function runCheck(driver: Driver, effect: Extract<Effect, { type: "check" }>, signal: AbortSignal): Promise<SessionEvent[]> {
  const check = driver.registers.get("check", effect.checkId);
  const baseline = driver.registers.get("baseline", "");
  if (check === null || baseline === null) return [];
  const again = driver.head.turn?.checking?.isReopened === true ? ".again" : "";
  const run = `${effect.step}.${effect.attempt}${again}`;
  const runId = `${driver.head.turn?.id ?? ""}.${run}`;
  driver.yielded = null;
  const evidence = await withWorkspace(driver, `check ${check.name} (${run})`, signal, (handOver) =>
    driver.ports.verifier.check(check, baseline, context(driver, runId, handOver), signal),
  );
  return [{ type: "check.completed", payload: { evidence } }];
}

/** What the evidence of a round amounts to, and what the model is told where it may try again. */
export async function judgeRound(driver: Driver, round: number, signal: AbortSignal): Promise<SessionEvent[]> {
  const { limits } = settingsOf(driver);
  const evidence = driver.registers.entries("evidence").map(([, one]) => one);
  const stale = driver.head.turn?.checking?.isReopened === true ? [] : driver.ports.verifier.stale(evidence);
  if (stale.length > 0) return [{ type: "checks.reopened", payload: { checkIds: [...stale] } }];
  const baseline = driver.registers.get("baseline", "");
  const look = async () =>
    driver.ports.verifier.judge({
      checks: checksOf(driver),
      baseline,
      evidence,
      subject: baseline === null ? null : await driver.ports.verifier.subject(baseline).catch(() => null),
      ...(await changesOfTurn(driver)),
      message: finalMessage(driver)?.text ?? "",
    });
  let found = await look();
  if (found.verdict === "pass" && driver.options.endsCommands === true && driver.registers.entries("task").length > 0) {
    await driver.ports.processes.endSession(driver.session, { forget: false });
    found = await look();
  }
  const { report, forModel } = found;
  const isLast = round >= limits.checkRounds;
  const verdict = found.isLacking === true && !isLast ? "fail" : found.verdict;
  const judged: SessionEvent = { type: "round.judged", payload: { round, verdict, report } };
  if (verdict !== "fail" || isLast) return [judged];
  const text = redact(forModel, driver.ports.secrets.values());
  const told: SessionEvent = {
    type: "notice.added",
    payload: { notice: { kind: "notice", id: newId(driver)("itm"), trust: "tool", text } },
  };
  return [judged, told, ...(await recallAt(driver, { type: "check_failed", text }, signal))];
}

async function changesOfTurn(driver: Driver): Promise<{ changes: FileChange[]; changesKnown: boolean }> {
  const snapshot = driver.registers.get("snapshot", "");
  if (driver.head.turn?.isEffectful !== true || snapshot === null) return { changes: [], changesKnown: true };
  if (snapshot.manifest === null) return { changes: [], changesKnown: false };
  try {
    const now = await driver.ports.observer.snapshot(snapshot.manifest);
    const all = await driver.ports.observer.changes(snapshot.manifest, now.manifest);
    const evidence = [
      ...(driver.registers.get("baseline", "")?.evidence ?? []),
      ...driver.registers.entries("evidence").map(([, one]) => one),
    ];
    const changes = await driver.ports.verifier.withoutReports?.(all, now.manifest, evidence);
    return { changes: changes ?? all, changesKnown: true };
  } catch {
    // A turn must be able to end in a workspace that can't be read any more; the report says that it isn't known.
    return { changes: [], changesKnown: false };
  }
}

/** The report, with what of the model's last words the log contradicts. What can't be looked up is left alone. */
async function withContradictions(driver: Driver, report: Report): Promise<Report> {
  const message = finalMessage(driver)?.text ?? "";
  const { windowStart } = driver.head;
  const calls = driver.window.items.flatMap((item) => (item.kind === "tool_call" ? [{ name: item.name, input: item.input }] : []));
  const done = { calls, isWhole: windowStart <= 1, changes: report.changes, changesKnown: report.changesKnown };
  const { observer, files } = driver.ports;
  const contradicted: string[] = [];
  for (const { says, path } of await driver.ports.verifier.contradictions(message, done)) {
    if (path !== null) {
      const { kind, real } = await files.identify(path).catch(() => ({ kind: "missing" as const, real: "" }));
      if (kind !== "file" || !(await observer.isTracked(real).catch(() => false))) continue;
    }
    contradicted.push(says);
  }
  return contradicted.length === 0 ? report : { ...report, contradicted };
}

/** Ends the turn: its outcome follows from the state; the report says what was changed. */
export async function endTurn(driver: Driver): Promise<SessionEvent[]> {
  const { turn } = driver.head;
  if (turn === null) return [];
  const end = (
    outcome: Extract<SessionEvent, { type: "turn.ended" }>["payload"]["outcome"],
    isWeak: boolean,
    report: Report,
    policy?: string,
  ): SessionEvent[] => {
    const error = turn.stopping?.error ?? null;
    return [
      { type: "turn.ended", payload: { turnId: turn.id, outcome, isWeak, report, error, ...(policy === undefined ? {} : { policy }) } },
    ];
  };
  if (turn.isInterrupted || turn.stopping !== null) {
    const outcome = turn.isInterrupted ? "interrupted" : (turn.stopping?.outcome ?? "failed");
    const reason = turn.isInterrupted ? "the turn was interrupted" : (turn.stopping?.reason ?? "");
    return end(outcome, false, await stoppedReport(driver, outcome, reason));
  }
  if (turn.judged !== null) {
    const report = await withContradictions(driver, driver.registers.get("report", "") as unknown as Report);
    if (turn.judged.verdict === "pass") return end("verified", false, report, await policyDigest(driver));
    if (turn.judged.verdict === "weak") return end("unverified", true, report);
    if (turn.judged.verdict === "none") return end("unverified", false, { ...report, reasons: [...report.reasons, ...refusals(driver)] });
    return end("refuted", false, report);
  }
  const { report } = driver.ports.verifier.judge({
    checks: checksOf(driver).filter(({ kind }) => kind === "stated"),
    baseline: null,
    evidence: [],
    subject: null,
    ...(await changesOfTurn(driver)),
    message: finalMessage(driver)?.text ?? "",
  });
  return end("unverified", false, { ...(await withContradictions(driver, report)), reasons: [...report.reasons, ...refusals(driver)] });
}

/** Which rules the turn ended under: part of what its evidence is worth. */
async function policyDigest({ ports, registers }: Driver): Promise<string | undefined> {
  const settings = registers.get("settings", "");
  if (settings === null) return undefined;
  const { sandbox: mode, isTrusted, isPlanning = false } = settings;
  const granted = registers.entries("grant").map(([, { offer }]) => offer.rule);
  return ports.policy.digest?.({ mode, isTrusted, isPlanning, granted });
}

/** What the turn was kept from, where nothing else says whether its work is done. */
function refusals(driver: Driver): string[] {
  const names = driver.registers.entries("denied").map(([, { name }]) => name);
  if (names.length === 0) return [];
  const tools = [...new Set(names)].sort().join(", ");
  return [`${names.length === 1 ? "a call was" : `${names.length} calls were`} refused and did not run: ${tools}`];
}

async function stoppedReport(driver: Driver, outcome: string, reason: string): Promise<Report> {
  return {
    heading: `${outcome}: ${reason}`,
    message: finalMessage(driver)?.text ?? "",
    criteria: [],
    ...(await changesOfTurn(driver)),
    subject: null,
    reasons: [...(reason === "" ? [] : [reason]), ...(outcome === "exhausted" ? accountOf(driver) : [])],
    ...remaining(driver),
  };
}

/** The plan, where some of it is still to be done. */
function remaining(driver: Driver): Pick<Report, "plan"> {
  const steps = driver.registers.get("plan", "")?.steps ?? [];
  return steps.some((step) => step.status !== "completed") ? { plan: [...steps] } : {};
}
