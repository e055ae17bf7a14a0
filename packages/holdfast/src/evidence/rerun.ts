import type { AttestationStatement, AttestedCheck, CheckDefinition, Evidence, VerificationFinding } from "@holdfast/protocol";
import { checkDefinition } from "@holdfast/protocol";
import { definitionText } from "@holdfast/checks/definition";
import { describeRun } from "@holdfast/checks/judge";
import { fromBase64 } from "@holdfast/checks/attestation/base64";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Baseline, VerifierContext } from "@holdfast/runtime";
import type { OpenHost } from "../runtime-api.ts";

/** What may be run is said here, never by the attestation. */
export interface Rerun {
  readonly host: OpenHost;
  /** Checks of the user's own config, of a trusted project's, and those named on the command line. */
  readonly approved: readonly CheckDefinition[];
  /** Shows a command that none of these is and asks the person; null where nobody can be asked. */
  readonly ask: ((name: string, command: string) => Promise<boolean>) | null;
  readonly isSandboxed: boolean;
  readonly signal: AbortSignal;
}

type Finding = VerificationFinding;
/** Of a definition that an attestation brings, however long it says its run may take. */
const mostMs = 60 * 60 * 1000;
/** Characters of a command that a person is asked about. */
const mostShown = 1_000;

/** Runs the required checks of an attestation again, in the folder of the host, as far as somebody here approved them. */
export async function rerunChecks(given: Rerun, statement: AttestationStatement): Promise<Finding[]> {
  const checks = statement.predicate.holdfast.checks.filter(({ isRequired, applies }) => isRequired && applies);
  const findings: Finding[] = [];
  for (const attested of checks) findings.push(await rerunOne(given, statement, attested));
  if (checks.length === 0) findings.push({ kind: "rerun_impossible", says: "unverifiable", detail: "it names no check that could be run" });
  return findings;
}

async function rerunOne(given: Rerun, statement: AttestationStatement, attested: AttestedCheck): Promise<Finding> {
  const { name } = attested;
  if (attested.constraint !== undefined) {
    return { kind: "weight", says: "note", detail: `${name}: a constraint of the work that was done, which can't be looked at again` };
  }
  const impossible = (why: string): Finding => ({ kind: "rerun_impossible", says: "unverifiable", detail: `${name}: ${why}` });
  const text = definitionIn(statement, attested);
  if (text === null) return impossible("its definition is not in the attestation");
  const check = given.approved.find((one) => isSameCheck(one, text)) ?? (await askedFor(given, name, text));
  if (check === null) {
    const command = commandIn(text);
    const what = command === null ? "nobody here asked for this check" : `nobody here asked for the command ${JSON.stringify(command)}`;
    const how = command === null ? "" : "; name it with --check, or have it in your config";
    return { kind: "rerun_unapproved", says: "unverifiable", detail: `${name}: ${what}${how}` };
  }
  if (check.kind === "diff" || check.kind === "inspected" || check.kind === "other") {
    return impossible(`a check of the kind ${check.kind} is about how the files were before, and can't be run again`);
  }
  if (check.kind === "files" && check.files.some(({ unchanged }) => unchanged === true)) {
    return impossible("it compares with how the files were before, and can't be run again");
  }
  if ("needs" in check && check.needs !== undefined && check.needs.length > 0) {
    return impossible(`it needs commands of the session running: ${check.needs.join(", ")}`);
  }
  try {
    return judge(attested, check, await run(given, check), impossible);
  } catch (error) {
    if (isHoldfastError(error)) return impossible(`it could not be run: ${error.message} (${error.code})`);
    throw error;
  }
}

async function run({ host, isSandboxed, signal }: Rerun, check: CheckDefinition): Promise<Evidence | undefined> {
  const { verifier, ids, processes } = host.ports;
  if (isSandboxed) {
    const problem = await processes.sandboxProblem();
    if (problem !== null) throw problem;
  }
  const session = ids.next("ses");
  const context: VerifierContext = {
    ...{ session, runId: "rerun", isSandboxed, acceptCheckChanges: [], inspected: [], runs: [], runningTasks: [], earlier: null },
    handOver: async () => {},
    onOutput: () => {},
  };
  try {
    if (check.kind === "command" || check.kind === "tests") return (await verifier.baseline([check], true, context, signal)).evidence[0];
    const nothing: Baseline = { subject: "", manifest: null, evidence: [], inputs: null };
    return await verifier.check(check, nothing, context, signal);
  } finally {
    await processes.endSession(session, { forget: true });
  }
}

function judge(
  attested: AttestedCheck,
  check: CheckDefinition,
  found: Evidence | undefined,
  impossible: (why: string) => Finding,
): Finding {
  const { name } = attested;
  if (found === undefined) return impossible("it left no evidence");
  const runs = check.kind === "command" || check.kind === "tests";
  const says = runs ? describeRun(found.run) : found.run.tail;
  const failed = (why: string): Finding => ({
    kind: "rerun",
    says: "invalid",
    detail: `${name} does not pass when it is run again: ${why}`,
  });
  if (!found.run.passed) {
    const isMissing = found.run.exitCode === 126 || found.run.exitCode === 127;
    return isMissing ? impossible(`its program can't be started here (${says})`) : failed(`${says}${lastLine(found)}`);
  }
  if (found.weaknesses.some(({ kind }) => kind === "flaky")) return failed("it fails and passes on the same files");
  if (found.subjectBefore !== found.subjectAfter) return impossible("it changes the files that it tests");
  const [then, now] = [attested.counts, found.run.counts];
  const ran = (counts: { readonly passed: number; readonly failed: number }): number => counts.passed + counts.failed;
  if (now !== null && ran(now) === 0) return failed("no test ran");
  if (now !== null && now.failed > (then?.failed ?? 0)) return failed(says);
  if (then !== null && (now === null || ran(now) < ran(then))) return failed(`${says}; ${ran(then)} tests ran then`);
  return { kind: "rerun", says: "holds", detail: `${name} passes when it is run again: ${says}` };
}

/** What a person needs to see first: often that dependencies are missing. */
function lastLine({ run }: Evidence): string {
  const line = run.tail.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return line === "" ? "" : `: ${line.slice(0, 200)}`;
}

/** The definition as text: the attestation holds it under its digest. */
function definitionIn({ predicate }: AttestationStatement, { definition }: AttestedCheck): string | null {
  const content = predicate.configuration.find(
    ({ digest, content: text }) => digest?.["sha256"] === definition && text !== undefined,
  )?.content;
  const bytes = content === undefined ? null : fromBase64(content);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** The user's own definition runs, so what may differ in the other is what changes nothing of what runs. */
function isSameCheck(own: CheckDefinition, text: string): boolean {
  if (definitionText(own) === text) return true;
  const other = definedBy(text);
  if (other === null || (own.kind !== "command" && own.kind !== "tests")) return false;
  const whatRuns = ({ kind, command, report, needs }: { kind: string; command: string; report?: unknown; needs?: unknown }): string =>
    JSON.stringify([kind, command, report ?? null, needs ?? null]);
  return whatRuns(own) === whatRuns(other);
}

/** Only a command that was shown to a person, and that the person wants to run. */
async function askedFor({ ask }: Rerun, name: string, text: string): Promise<CheckDefinition | null> {
  const check = definedBy(text);
  // A person can judge only what fits before their eyes.
  if (check === null || ask === null || check.command.length > mostShown || !(await ask(name, check.command))) return null;
  return check;
}

function commandIn(text: string): string | null {
  return definedBy(text)?.command ?? null;
}

/** A command's definition, from its text; null for any other. Nothing of it is believed but what it says of itself. */
function definedBy(text: string): Extract<CheckDefinition, { kind: "command" | "tests" }> | null {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parts)) return null;
  const [kind, command, inputs, outputs, timeoutMs, ...more] = parts as unknown[];
  const report = kind === "tests" ? more.shift() : undefined;
  const [needed] = more as [{ readonly needs?: unknown }?];
  const asked = { id: "check_rerun", name: "", authority: "untrusted", isRequired: true };
  const parsed = checkDefinition.safeParse({
    ...asked,
    kind,
    command,
    inputs,
    outputs,
    timeoutMs,
    ...(kind === "tests" ? { report } : {}),
    ...(needed?.needs === undefined ? {} : { needs: needed.needs }),
  });
  if (!parsed.success || (parsed.data.kind !== "command" && parsed.data.kind !== "tests")) return null;
  return { ...parsed.data, timeoutMs: Math.min(parsed.data.timeoutMs, mostMs) };
}
