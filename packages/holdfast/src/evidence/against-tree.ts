import type { AttestationStatement, VerificationFinding } from "@holdfast/protocol";
import { gitTreeOf, workspaceDigest } from "@holdfast/checks/attestation/statement";
import type { OpenHost } from "../runtime-api.ts";

/** Where an attestation is held against files. */
export interface Tree {
  readonly host: OpenHost;
  /** Paths for people, the first one the folder that was named. */
  readonly roots: readonly string[];
  /** The attestation's own real path. */
  readonly file: string | null;
  /** Whether somebody who is known here signed it. */
  readonly isVouched: boolean;
}

/**
 * Whether the files here are exactly those that were tested: by the digest over all files in scope, or by git's tree where
 * everything is committed. The attestation itself may lie among them: it can't have been there when it was made.
 */
export async function againstTree(
  { host, roots, file, isVouched }: Tree,
  { subject, predicate }: AttestationStatement,
): Promise<VerificationFinding> {
  const { verifier, observer } = host.ports;
  const { scope } = predicate.holdfast;
  const [where = ""] = roots;
  if (scope.roots.length !== roots.length) {
    const detail = `it is about ${scope.roots.length} folders, and ${roots.length} ${roots.length === 1 ? "is" : "are"} given (--add-dir)`;
    return { kind: "tree", says: "unverifiable", detail };
  }
  if (scope.outputs.length > 0 && !isVouched) {
    const detail = "it leaves files out by patterns, and nobody who is known here vouches for these";
    return { kind: "tree", says: "unverifiable", detail };
  }
  const wanted = workspaceDigest(subject);
  const baseline = { manifest: null, inputs: { outputs: [...scope.outputs] } };
  const holds = (detail: string): VerificationFinding => ({ kind: "tree", says: "holds", detail });
  const now = await verifier.subject(baseline);
  if (now === wanted) return holds(`the files in ${where} are those that were tested (${now.slice(0, 12)})`);
  if (file !== null && (await verifier.subject(baseline, file)) === wanted) {
    return holds(`the files in ${where} are those that were tested (${wanted.slice(0, 12)}), with the attestation itself beside them`);
  }
  const tree = gitTreeOf(subject);
  if (tree !== null && (await observer.snapshot(null, true)).gitTree === tree) {
    return holds(`the files in ${where} are those that were tested, all of them committed (tree ${tree.slice(0, 12)})`);
  }
  const detail = `the files in ${where} are not those that were tested: ${now.slice(0, 12)} here, ${wanted?.slice(0, 12) ?? ""} then`;
  return { kind: "tree", says: "invalid", detail };
}
