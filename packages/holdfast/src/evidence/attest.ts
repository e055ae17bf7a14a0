import { HoldfastError } from "@holdfast/protocol/error";
import { statementPayloadType } from "@holdfast/protocol";
import { attestedEnd } from "@holdfast/checks/attestation/attested-end";
import type { AttestedEnd, Unattestable } from "@holdfast/checks/attestation/attested-end";
import { preAuthEncoding, sealEnvelope } from "@holdfast/checks/attestation/envelope";
import type { GitSubject } from "@holdfast/checks/attestation/statement";
import { statementOf } from "@holdfast/checks/attestation/statement";
import { knownKeys } from "@holdfast/node/host/public-keys";
import { isKeyOpen } from "@holdfast/node/host/signer";
import { createGit, gitLine } from "@holdfast/node/observer/git";
import { isWhole } from "@holdfast/runtime";
import type { OpenHost } from "../runtime-api.ts";
import { version } from "../version.ts";
import { readKeys, signingKeyPath } from "./keys.ts";

/**
 * The attestation of a verified turn, as a file holds it. What it says follows from the log, which must be whole and signed
 * with a key of this home. Throws `not_attestable`, `session_corrupt`, `key_invalid`.
 */
export async function attest(host: OpenHost, home: string, session: string, turn: number | null): Promise<string> {
  const { ports, runtime } = host;
  const path = signingKeyPath(home);
  if (await isKeyOpen(path)) {
    throw new HoldfastError("key_invalid", `others than its owner can read the signing key ${path}`, {
      hint: "chmod 600 closes it, and holdfast keys rotate makes one that nobody else has seen",
    });
  }
  const { events } = await runtime.readSession(ports, session);
  const end = attestedEnd(events, turn);
  if ("why" in end) throw refusal(session, turn, end);
  const keys = await readKeys(home);
  const own = [...(keys.own === null ? [] : [keys.own]), ...keys.replaced];
  const report = await runtime.verifyLog(ports, session, knownKeys(own));
  if (!isWhole(report)) {
    throw new HoldfastError("session_corrupt", `the log of session ${session} was changed or damaged: nothing of it is signed again`, {
      hint: `holdfast sessions verify ${session} says more`,
    });
  }
  if (!own.some(({ keyId }) => keyId === end.tip.keyId)) {
    throw new HoldfastError(
      "not_attestable",
      `turn ${end.turn} of ${session} was signed with the key ${end.tip.keyId}, which isn't this home's`,
    );
  }
  const payload = JSON.stringify(statementOf(end, session, version, await gitSubject(host, end)));
  const signature = await ports.signer.sign(preAuthEncoding(statementPayloadType, payload));
  return sealEnvelope(payload, { keyId: ports.signer.keyId, signature });
}

/**
 * Git's names for the tested files: the tree that evidence was bound to, or that of now (with its commit) where the files are
 * still exactly those, so that work can be committed first and attested then.
 */
async function gitSubject({ ports }: OpenHost, end: AttestedEnd): Promise<GitSubject> {
  const trees = new Set(end.evidence.map(({ gitTree }) => gitTree).filter((tree) => tree !== null));
  const then: GitSubject = { tree: trees.size === 1 ? ([...trees][0] ?? null) : null, commit: null };
  const root = end.roots[0]?.path;
  if (end.scope === null || root === undefined || end.roots.length !== 1) return then;
  try {
    const { gitTree } = await ports.observer.snapshot(end.scope.manifest, true);
    if (gitTree === null || (await ports.verifier.subject(end.scope)) !== end.report.subject) return then;
    const git = createGit(process.env["HOME"] ?? "", [root]);
    const commit = await gitLine(git, root, ["rev-parse", "-q", "--verify", "HEAD^{commit}"]);
    const isStill = commit !== null && (await gitLine(git, root, ["rev-parse", "-q", "--verify", `${commit}^{tree}`])) === gitTree;
    return { tree: gitTree, commit: isStill ? commit : null };
  } catch {
    // The folder is gone or can't be read: what the log says stands without git's names of now.
    return then;
  }
}

function refusal(session: string, turn: number | null, { why, outcome }: Unattestable): HoldfastError {
  const which = turn === null ? `the last turn of ${session}` : `turn ${turn} of ${session}`;
  switch (why) {
    case "no_turn":
      return new HoldfastError("not_attestable", turn === null ? `no turn of ${session} has ended` : `${session} has no turn ${turn}`);
    case "open":
      return new HoldfastError("not_attestable", `${which} has not ended`);
    case "not_verified":
      return new HoldfastError("not_attestable", `${which} ended ${outcome ?? ""}: only what was verified is attested`, {
        hint: 'give it a check, and let it pass: holdfast exec resume --check "npm test" --last "…"',
      });
    case "unsigned":
      return new HoldfastError("session_corrupt", `the end of ${which} has no signature`, {
        hint: `holdfast sessions verify ${session} says more`,
      });
    case "no_subject":
      return new HoldfastError("not_attestable", `the evidence of ${which} is bound to no files`);
  }
}
