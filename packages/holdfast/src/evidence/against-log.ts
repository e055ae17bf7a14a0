import type { AttestationStatement, Json, VerificationFinding } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import { attestedEnd } from "@holdfast/checks/attestation/attested-end";
import { statementOf, workspaceDigest } from "@holdfast/checks/attestation/statement";
import { findLogFault, itemsOf, readEvents, type RecordedEvent } from "@holdfast/runtime";
import { canonical } from "@holdfast/runtime/canonical";
import { describeFault } from "../render/log-fault.ts";
import { plural } from "../render/numbers.ts";
import type { StorePorts } from "../runtime-api.ts";

/**
 * Holds an attestation against the log of its session, where that is here: up to the signed end nothing may have changed. What
 * was erased of it since is named: the record of that comes after the signed end, and may be anybody's.
 */
export async function againstLog(ports: StorePorts, { predicate, subject }: AttestationStatement): Promise<VerificationFinding[]> {
  const { session, tip, turn, program } = predicate.holdfast;
  const bad = (detail: string): VerificationFinding[] => [{ kind: "log", says: "invalid", detail }];
  try {
    if ((await ports.log.load(session)) === null) {
      return [{ kind: "log_unseen", says: "note", detail: `the log of ${JSON.stringify(session.slice(0, 64))} is not in this home` }];
    }
    const stored = await ports.log.read(session, 1);
    // With the signature behind it. What was erased later is said after that.
    const fault = findLogFault(stored, tip.seq + 1);
    if (fault?.fault === "missing")
      return bad(`the log of ${session} ends before event ${tip.seq + 1}, with the signature: it was cut off`);
    if (fault !== null) return bad(`the log of ${session} was changed or damaged: ${describeFault(fault)}`);
    if (stored[tip.seq - 1]?.hash !== tip.hash)
      return bad(`the log of ${session} is another at event ${tip.seq} than the one that was signed`);
    const events = readEvents(stored);
    const end = attestedEnd(events, turn);
    if ("why" in end) return bad(`turn ${turn} of ${session} did not end verified, by its log`);
    const told = statementOf(end, session, program, { tree: null, commit: null });
    if (saidBy(told) !== saidBy({ predicate, subject })) return bad(`it says of turn ${turn} what the log of ${session} doesn't say`);
    const detail = `the log of ${session} in this home says the same, and is whole up to there`;
    return [{ kind: "log", says: "holds", detail }, ...erasedSince(events, tip.seq)];
  } catch (error) {
    if (!isHoldfastError(error, "session_corrupt") && !isHoldfastError(error, "session_newer")) throw error;
    return bad(`the log of ${session} can't be read: ${error.message}`);
  }
}

function erasedSince(events: readonly RecordedEvent[], end: number): VerificationFinding[] {
  const attested = new Set(events.flatMap((event) => (event.seq <= end ? itemsOf(event).map(({ id }) => id) : [])));
  const gone = new Set<number>();
  const records = events.filter((event) => {
    if (event.seq <= end || (event.type !== "item.erased" && event.type !== "session.forked")) return false;
    const taken = event.payload.kept.filter(({ seq }) => seq <= end);
    for (const { seq } of taken) gone.add(seq);
    return taken.length > 0 || (event.type === "item.erased" && attested.has(event.payload.itemId));
  });
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return [];
  const items = records.filter(({ type }) => type === "item.erased").length;
  const when = [...new Set([first, last].map(({ at }) => new Date(at).toISOString()))].join(" to ");
  const isCovered = events.some(({ type, seq }) => type === "tip.signed" && seq > last.seq);
  const what = items === 0 ? "content that was erased before it was forked" : plural(items, "item");
  const detail = `of what was signed, ${what} (in ${plural(gone.size, "event")}) was erased later, ${when}`;
  return [{ kind: "log_erased", says: "note", detail: isCovered ? detail : `${detail}; the end of no later turn vouches for that` }];
}

/** What follows from the log: all but the program that said it, the names that git has for it, and words. */
function saidBy({ predicate, subject }: Pick<AttestationStatement, "predicate" | "subject">): string {
  const { result, configuration, passedTests, warnedTests, failedTests, holdfast } = predicate;
  const { checks, scope, acceptedCheckChanges, tip } = holdfast;
  const parts = [result, configuration, passedTests, warnedTests, failedTests, checks, scope, acceptedCheckChanges, tip];
  return canonical([workspaceDigest(subject), ...parts] as unknown as Json);
}
