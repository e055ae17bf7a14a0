import { z } from "zod";
import { constraintSources, testCounts } from "./check.ts";
import { json } from "./json.ts";
import { trustLabel } from "./trust.ts";

/** https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md and …/spec/predicates/test-result.md */
export const statementType = "https://in-toto.io/Statement/v1";
export const testResultType = "https://in-toto.io/attestation/test-result/v0.1";
/** What a DSSE envelope says of its payload. */
export const statementPayloadType = "application/vnd.in-toto+json";

/**
 * A DSSE envelope (secure-systems-lab/dsse, envelope.md): `payload` and `sig` are base64. Beyond the specification no other
 * fields are taken: what isn't signed shall not be there to be believed.
 */
export const attestationEnvelope = z.strictObject({
  payloadType: z.string(),
  payload: z.string(),
  signatures: z
    .array(z.strictObject({ keyid: z.string().max(256).optional(), sig: z.string().max(1024) }))
    .min(1)
    .max(16),
});
export type AttestationEnvelope = z.infer<typeof attestationEnvelope>;

const digestSet = z.record(z.string(), z.string());

/** in-toto's ResourceDescriptor, as far as it is used here. `content` is base64. */
export const resourceDescriptor = z.object({
  name: z.string().optional(),
  digest: digestSet.optional(),
  content: z.string().optional(),
  mediaType: z.string().optional(),
  annotations: z.record(z.string(), json).optional(),
});
export type ResourceDescriptor = z.infer<typeof resourceDescriptor>;

/** One check of an attested turn, beside its definition. Digests are hex SHA-256. */
export const attestedCheck = z.object({
  checkId: z.string(),
  name: z.string(),
  authority: trustLabel,
  isRequired: z.boolean(),
  /** Set where it holds a constraint of the work: held, it proves nothing. */
  constraint: z.enum(constraintSources).optional(),
  /** False where nothing that it is about was changed: it was not run. */
  applies: z.boolean(),
  definition: z.string(),
  baseline: z.enum(["pass", "fail", "not taken"]),
  passed: z.boolean(),
  exitCode: z.number().int().nullable(),
  counts: testCounts.omit({ names: true }).nullable(),
  runs: z.number().int(),
  /** How the baseline's version of its inputs did over the final tree; null where they had not changed. */
  originalInputs: z.enum(["pass", "fail"]).nullable(),
  inputs: z.string(),
  sandboxed: z.boolean(),
  weaknesses: z.array(z.string()),
  notes: z.array(z.string()),
  at: z.number(),
});
export type AttestedCheck = z.infer<typeof attestedCheck>;

/** What the predicate says beyond in-toto's fields, under the name `holdfast`. */
export const attestedTurn = z.object({
  version: z.literal(1),
  program: z.string(),
  session: z.string(),
  turn: z.number().int().positive(),
  turnId: z.string(),
  heading: z.string(),
  /** Milliseconds since 1970, as far as dates reach (ECMAScript, "Time Values"). */
  endedAt: z.number().int().nonnegative().max(8.64e15),
  /** The end of the log that was signed when the turn ended. */
  tip: z.object({ seq: z.number().int().positive(), hash: z.string(), keyId: z.string() }),
  /**
   * What the workspace's digest covers: all files in scope of each root but those that match `outputs`. `cwd`: where checks
   * ran, below the first root.
   */
  scope: z.object({ roots: z.array(z.string()), cwd: z.string(), outputs: z.array(z.string()) }),
  /** Changes of check inputs that a person accepted: globs. */
  acceptedCheckChanges: z.array(z.string()),
  /** So many constraints of the work no code could judge. */
  unjudged: z.number().int().nonnegative().optional(),
  checks: z.array(attestedCheck),
});
export type AttestedTurn = z.infer<typeof attestedTurn>;

/** An in-toto Statement v1 with the test-result v0.1 predicate, about one verified turn. Unknown fields are ignored. */
export const attestationStatement = z.object({
  _type: z.literal(statementType),
  subject: z
    .array(z.object({ name: z.string().optional(), digest: digestSet }))
    .min(1)
    .max(16),
  predicateType: z.literal(testResultType),
  predicate: z.object({
    result: z.enum(["PASSED", "WARNED", "FAILED"]),
    configuration: z.array(resourceDescriptor).max(1_000),
    passedTests: z.array(z.string()).optional(),
    warnedTests: z.array(z.string()).optional(),
    failedTests: z.array(z.string()).optional(),
    holdfast: attestedTurn,
  }),
});
export type AttestationStatement = z.infer<typeof attestationStatement>;

/** Why an attestation was judged as it was; each says for itself which way it points. */
export const verificationFindings = [
  "envelope",
  "payload_type",
  "signature",
  "unknown_key",
  "statement",
  "result",
  "tree",
  "tree_unseen",
  "log",
  "log_unseen",
  "log_erased",
  "rerun",
  "rerun_unapproved",
  "rerun_impossible",
  "scope",
  "weight",
] as const;

export const verificationFinding = z.object({
  kind: z.enum(verificationFindings),
  /** `note`: decides nothing. */
  says: z.enum(["holds", "invalid", "unverifiable", "note"]),
  detail: z.string(),
});
export type VerificationFinding = z.infer<typeof verificationFinding>;

/** What `holdfast verify --json` prints. */
export const verification = z.object({
  format: z.literal("holdfast-verification"),
  version: z.literal(1),
  verdict: z.enum(["valid", "invalid", "unverifiable"]),
  findings: z.array(verificationFinding),
  /** Whose signature holds: by the name it has here. */
  signedBy: z.array(z.object({ keyId: z.string(), name: z.string() })),
  /** Null where no signature of a known key holds: nothing that nobody vouches for is passed on. */
  statement: attestationStatement.nullable(),
});
export type Verification = z.infer<typeof verification>;
