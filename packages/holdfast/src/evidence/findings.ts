import type { AttestationStatement, Verification, VerificationFinding } from "@holdfast/protocol";
import { statementPayloadType } from "@holdfast/protocol";
import { openEnvelope, preAuthEncoding } from "@holdfast/checks/attestation/envelope";
import { readStatement, shortfallOf } from "@holdfast/checks/attestation/statement";
import type { PublicKey } from "@holdfast/node/host/public-keys";
import { holds } from "@holdfast/node/host/public-keys";
import { plural } from "../render/numbers.ts";

type Finding = VerificationFinding;

/** What an attestation says by itself, before anything else is looked at. */
export interface Opened {
  readonly findings: readonly Finding[];
  readonly signedBy: Verification["signedBy"];
  /** Null where it can't be read, or is a forgery. Without a `signedBy` nobody vouches for it. */
  readonly statement: AttestationStatement | null;
}

export function verdictOf(findings: readonly Finding[]): Verification["verdict"] {
  if (findings.some(({ says }) => says === "invalid")) return "invalid";
  return findings.some(({ says }) => says === "unverifiable") ? "unverifiable" : "valid";
}

/** Pure: takes an attestation apart and holds it against the keys that count. What is read first is the signature. */
export function openAttestation(bytes: Uint8Array, keys: readonly PublicKey[]): Opened {
  const invalid = (kind: Finding["kind"], detail: string): Opened => ({
    findings: [{ kind, says: "invalid", detail }],
    signedBy: [],
    statement: null,
  });
  const envelope = openEnvelope(bytes);
  if ("problem" in envelope) return invalid("envelope", envelope.problem);
  if (envelope.payloadType !== statementPayloadType) {
    return invalid("payload_type", `its payload is ${JSON.stringify(envelope.payloadType.slice(0, 100))}, not ${statementPayloadType}`);
  }
  const signed = preAuthEncoding(envelope.payloadType, envelope.payload);
  const signedBy = new Map<string, string>();
  const findings: Finding[] = [];
  for (const { keyId, signature } of envelope.signatures) {
    const right = keys.find((key) => holds(key, signed, signature));
    if (right !== undefined && (keyId === null || keyId === right.keyId)) signedBy.set(right.keyId, right.name);
    else if (right !== undefined)
      findings.push({ kind: "signature", says: "invalid", detail: `it names another key than the one that signed it` });
    else if (keyId !== null && keys.some((key) => key.keyId === keyId)) {
      findings.push({
        kind: "signature",
        says: "invalid",
        detail: `the signature is not of ${keyId}: it was changed, or never signed with that key`,
      });
    } else findings.push({ kind: "unknown_key", says: "note", detail: `a signature with the key ${named(keyId)}, which isn't known here` });
  }
  if (findings.some(({ says }) => says === "invalid")) return { findings, signedBy: [], statement: null };
  const statement = readStatement(envelope.payload);
  if (signedBy.size === 0) {
    const [first] = envelope.signatures;
    const detail = `no signature of a key that is known here; it names ${named(first?.keyId ?? null)} (holdfast keys add, or --key FILE)`;
    const unknown: Finding = { kind: "unknown_key", says: "unverifiable", detail };
    return { findings: [unknown], signedBy: [], statement: "problem" in statement ? null : statement };
  }
  const by = [...signedBy].map(([keyId, name]) => ({ keyId, name }));
  const held = by.map(({ keyId, name }): Finding => ({ kind: "signature", says: "holds", detail: `signed with ${keyId} (${name})` }));
  if ("problem" in statement)
    return { findings: [...held, ...invalid("statement", statement.problem).findings], signedBy: by, statement: null };
  return { findings: [...held, ...findings, ...weigh(statement)], signedBy: by, statement };
}

function named(keyId: string | null): string {
  return keyId === null ? "that it doesn't name" : JSON.stringify(keyId.slice(0, 64));
}

/** What the statement says about what it is worth. */
function weigh(statement: AttestationStatement): Finding[] {
  const { checks, scope, acceptedCheckChanges, unjudged = 0 } = statement.predicate.holdfast;
  const shortfall = shortfallOf(statement);
  const note = (kind: Finding["kind"], detail: string): Finding => ({ kind, says: "note", detail });
  const open = checks.filter(({ sandboxed, applies }) => applies && !sandboxed).map(({ name }) => name);
  const failing = checks.filter(({ passed, applies, isRequired }) => applies && !passed && !isRequired).map(({ name }) => name);
  return [
    ...(shortfall === null ? [] : [{ kind: "result", says: "invalid", detail: shortfall } satisfies Finding]),
    ...(scope.outputs.length === 0 ? [] : [note("scope", `files that match ${scope.outputs.join(", ")} are not covered`)]),
    ...(open.length === 0 ? [] : [note("weight", `run without a sandbox: ${open.join(", ")}`)]),
    ...(failing.length === 0 ? [] : [note("weight", `not required, and not passed: ${failing.join(", ")}`)]),
    ...(unjudged === 0 ? [] : [note("weight", `${plural(unjudged, "constraint")} of the work no code could judge`)]),
    ...(acceptedCheckChanges.length === 0
      ? []
      : [note("weight", `changes of the checks' inputs that a person accepted: ${acceptedCheckChanges.join(", ")}`)]),
  ];
}
