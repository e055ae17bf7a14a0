import type { AttestationStatement, Json, VerificationFinding } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import { attestedEnd } from "@holdfast/checks/attestation/attested-end";
import { statementOf, workspaceDigest } from "@holdfast/checks/attestation/statement";
import { findLogFault, readEvents } from "@holdfast/runtime";
import { canonical } from "@holdfast/runtime/canonical";
import { describeFault } from "../render/log-fault.ts";
import type { StorePorts } from "../runtime-api.ts";

/** Holds an attestation against the log of its session, where that is here: up to the signed end nothing may have changed. */
export async function againstLog(ports: StorePorts, { predicate, subject }: AttestationStatement): Promise<VerificationFinding> {
  const { session, tip, turn, program } = predicate.holdfast;
  const bad = (detail: string): VerificationFinding => ({ kind: "log", says: "invalid", detail });
  try {
    if ((await ports.log.load(session)) === null) {
      return { kind: "log_unseen", says: "note", detail: `the log of ${JSON.stringify(session.slice(0, 64))} is not in this home` };
    }
    const stored = await ports.log.read(session, 1);
    // With the signature behind it. What was erased later is said after that.
    const fault = findLogFault(stored, tip.seq + 1);
    if (fault?.fault === "missing")
      return bad(`the log of ${session} ends before event ${tip.seq + 1}, with the signature: it was cut off`);
    if (fault !== null) return bad(`the log of ${session} was changed or damaged: ${describeFault(fault)}`);
    if (stored[tip.seq - 1]?.hash !== tip.hash)
      return bad(`the log of ${session} is another at event ${tip.seq} than the one that was signed`);
    const end = attestedEnd(readEvents(stored), turn);
    if ("why" in end) return bad(`turn ${turn} of ${session} did not end verified, by its log`);
    const told = statementOf(end, session, program, { tree: null, commit: null });
    if (saidBy(told) !== saidBy({ predicate, subject })) return bad(`it says of turn ${turn} what the log of ${session} doesn't say`);
    return { kind: "log", says: "holds", detail: `the log of ${session} in this home says the same, and is whole up to there` };
  } catch (error) {
    if (!isHoldfastError(error, "session_corrupt") && !isHoldfastError(error, "session_newer")) throw error;
    return bad(`the log of ${session} can't be read: ${error.message}`);
  }
}

/** What follows from the log: all but the program that said it, the names that git has for it, and words. */
function saidBy({ predicate, subject }: Pick<AttestationStatement, "predicate" | "subject">): string {
  const { result, configuration, passedTests, warnedTests, failedTests, holdfast } = predicate;
  const { checks, scope, acceptedCheckChanges, tip } = holdfast;
  const parts = [result, configuration, passedTests, warnedTests, failedTests, checks, scope, acceptedCheckChanges, tip];
  return canonical([workspaceDigest(subject), ...parts] as unknown as Json);
}
