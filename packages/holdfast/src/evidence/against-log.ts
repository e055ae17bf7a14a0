import type { AttestationStatement, Json, VerificationFinding } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import { attestedEnd } from "@holdfast/checks/attestation/attested-end";
import { statementOf, workspaceDigest } from "@holdfast/checks/attestation/statement";
import { findChainFault, readEvents } from "@holdfast/runtime";
import { canonical } from "@holdfast/runtime/canonical";
import type { StorePorts } from "../runtime-api.ts";

/** Holds an attestation against the log of its session, where that is here: up to the signed end nothing may have changed. */
export async function againstLog(ports: StorePorts, { predicate, subject }: AttestationStatement): Promise<VerificationFinding> {
  const { session, tip, turn, program } = predicate.holdfast;
  const bad = (detail: string): VerificationFinding => ({ kind: "log", says: "invalid", detail });
  try {
    if ((await ports.log.load(session)) === null) {
      return { kind: "log_unseen", says: "note", detail: `the log of ${JSON.stringify(session.slice(0, 64))} is not in this home` };
    }
    // With the signature behind it.
    const stored = await ports.log.read(session, 1, tip.seq + 1);
    const fault = findChainFault(stored);
    const signed = stored[tip.seq - 1];
    if (fault !== null) return bad(`the log of ${session} was changed or damaged at event ${fault.seq} (${fault.fault})`);
    if (signed === undefined) return bad(`the log of ${session} ends before event ${tip.seq}, which was signed: it was cut off`);
    if (signed.hash !== tip.hash) return bad(`the log of ${session} is another at event ${tip.seq} than the one that was signed`);
    const end = attestedEnd(readEvents(await ports.log.read(session, 1)), turn);
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
