import type { AttestationStatement, AttestedCheck, CheckDefinition, Evidence, ResourceDescriptor } from "@holdfast/protocol";
import { attestationStatement, statementType, testResultType } from "@holdfast/protocol";
import { canonical } from "@holdfast/runtime/canonical";
import { sha256 } from "@holdfast/runtime/hash";
import { definitionText } from "../definition.ts";
import type { AttestedEnd } from "./attested-end.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import { readStrictJson } from "./strict-json.ts";

/** Git's names for exactly the files that were tested; null where the tree was not clean. */
export interface GitSubject {
  readonly tree: string | null;
  readonly commit: string | null;
}

/** Names of tests in one statement, of all checks together. */
const mostTests = 10_000;

/** The statement about a verified turn: what it says follows from the log alone, but for git's names of the same files. */
export function statementOf(end: AttestedEnd, session: string, program: string, git: GitSubject): AttestationStatement {
  const { checks, evidence, report, tip, roots, cwd } = end;
  const rows = checks.flatMap((check) => {
    const one = evidence.find(({ checkId }) => checkId === check.id);
    return one === undefined ? [] : [{ check, one, attested: attestedCheckOf(check, one, end) }];
  });
  const ran = rows.filter(({ attested }) => attested.applies);
  const names = (held: (row: (typeof ran)[number]) => boolean): string[] => ran.filter(held).map(({ check }) => nameOf(check));
  const unjudged = checks.filter(({ kind }) => kind === "stated").length;
  const isWeak = ({ attested }: (typeof ran)[number]): boolean => attested.passed && attested.weaknesses.length > 0;
  const failed = names(({ attested }) => !attested.passed);
  const warned = names(isWeak);
  const tests = ran.flatMap(({ check, one }) => testsOf(check, one)).slice(0, mostTests);
  return {
    _type: statementType,
    subject: [
      { name: "workspace", digest: { sha256: report.subject ?? "" } },
      ...(git.tree === null ? [] : [{ name: "git-tree", digest: { gitTree: git.tree } }]),
      ...(git.commit === null ? [] : [{ name: "git-commit", digest: { gitCommit: git.commit } }]),
    ],
    predicateType: testResultType,
    predicate: {
      result: failed.length + warned.length > 0 ? "WARNED" : "PASSED",
      configuration: [...rows.map(({ check, one }) => checkDescriptor(check, one)), policyDescriptor(end)],
      passedTests: [...names((row) => row.attested.passed && !isWeak(row)), ...tests],
      warnedTests: warned,
      failedTests: failed,
      holdfast: {
        version: 1,
        program,
        session,
        ...{ turn: end.turn, turnId: end.turnId, heading: report.heading, endedAt: end.endedAt },
        tip: { seq: tip.seq, hash: tip.hash, keyId: tip.keyId },
        scope: { roots: roots.map(({ id }) => id), cwd: below(roots[0]?.path, cwd), outputs: [...end.outputs] },
        acceptedCheckChanges: [...end.settings.acceptCheckChanges],
        ...(unjudged === 0 ? {} : { unjudged }),
        checks: rows.map(({ attested }) => attested),
      },
    },
  };
}

/** Where checks ran, relative to the first root; empty for the root itself. Folders of the machine are nobody else's business. */
function below(root: string | undefined, cwd: string | null): string {
  return root === undefined || cwd === null || !cwd.startsWith(`${root}/`) ? "" : cwd.slice(root.length + 1);
}

/** What somebody said to the model stays between them. */
function nameOf({ name, constraint }: CheckDefinition): string {
  return constraint?.source === "words" ? "a constraint in the user's words" : name;
}

function attestedCheckOf(check: CheckDefinition, one: Evidence, { baseline }: AttestedEnd): AttestedCheck {
  const before = baseline.find(({ checkId }) => checkId === check.id);
  const { counts, exitCode, passed } = one.run;
  return {
    checkId: check.id,
    name: nameOf(check),
    authority: check.authority,
    isRequired: check.isRequired,
    ...(check.constraint === undefined ? {} : { constraint: check.constraint.source }),
    applies: one.applies !== false,
    definition: one.definition,
    baseline: before === undefined ? "not taken" : before.run.passed ? "pass" : "fail",
    passed,
    exitCode,
    counts: counts === null ? null : { passed: counts.passed, failed: counts.failed, skipped: counts.skipped },
    runs: Math.max(1, one.repeats.length),
    originalInputs: one.originalInputsRun === null ? null : one.originalInputsRun.passed ? "pass" : "fail",
    inputs: one.inputs,
    sandboxed: one.sandboxed,
    weaknesses: one.weaknesses.map(({ kind }) => kind),
    notes: [...(one.notes ?? [])],
    at: one.at,
  };
}

/** The definition itself is the content of its digest, so that anybody can see what was run, and that it was this. */
function checkDescriptor(check: CheckDefinition, one: Evidence): ResourceDescriptor {
  const text = definitionText(check);
  const isShown = sha256(text) === one.definition;
  return {
    name: nameOf(check),
    digest: { sha256: one.definition },
    ...(isShown ? { content: toBase64(new TextEncoder().encode(text)), mediaType: "application/json" } : {}),
    annotations: { type: "check", id: check.id, kind: check.kind },
  };
}

/** With a digest of the rules where the log has one: sessions from before don't. */
function policyDescriptor({ policy, settings }: AttestedEnd): ResourceDescriptor {
  const { sandbox, network, approvals, isTrusted, acceptCheckChanges } = settings;
  const text = canonical({ rules: policy, sandbox, network, approvals, isTrusted, acceptCheckChanges });
  return {
    name: "policy",
    digest: { sha256: sha256(text) },
    content: toBase64(new TextEncoder().encode(text)),
    mediaType: "application/json",
    annotations: { type: "policy" },
  };
}

/** Names of tests are known where the report names all that ran, and none failed. */
function testsOf(check: CheckDefinition, { run }: Evidence): string[] {
  const { counts } = run;
  if (!run.passed || counts?.names === undefined || counts.failed > 0) return [];
  return counts.names.map((name) => `${nameOf(check)} > ${name}`);
}

/** Reads a statement and holds it against itself; or says what is wrong with it. */
export function readStatement(payload: string): AttestationStatement | { readonly problem: string } {
  const json = readStrictJson(payload);
  if ("problem" in json) return json;
  const parsed = attestationStatement.safeParse(json.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { problem: `it is not a test result of a turn: ${[issue?.path.join("."), issue?.message].filter((part) => part).join(": ")}` };
  }
  const statement = parsed.data;
  const problem = contradictionIn(statement);
  return problem === null ? statement : { problem };
}

function contradictionIn({ subject, predicate }: AttestationStatement): string | null {
  if (!/^[0-9a-f]{64}$/.test(workspaceDigest(subject) ?? "")) return "it names no digest of a workspace";
  const names = subject.map(({ name }) => name ?? "");
  if (new Set(names).size < names.length) return "two of its subjects have one name";
  for (const { name = "", digest, content } of predicate.configuration) {
    const bytes = content === undefined ? null : fromBase64(content);
    if (content !== undefined && (bytes === null || sha256(bytes) !== digest?.["sha256"]))
      return `its configuration ${JSON.stringify(name)} is not what its digest says`;
  }
  const configured = new Set(predicate.configuration.map(({ digest }) => digest?.["sha256"]));
  const unknown = predicate.holdfast.checks.find(({ definition }) => !configured.has(definition));
  if (unknown !== undefined) return `the definition of its check ${JSON.stringify(unknown.name)} is missing`;
  return null;
}

export function workspaceDigest(subject: AttestationStatement["subject"]): string | null {
  return subject.find(({ name }) => name === "workspace")?.digest["sha256"] ?? null;
}

/** Git's name of the files, where they were clean: an object of SHA-1 or SHA-256. */
export function gitTreeOf(subject: AttestationStatement["subject"]): string | null {
  const tree = subject.find(({ name }) => name === "git-tree")?.digest["gitTree"];
  return tree !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(tree) ? tree : null;
}

/** Why the result is none that a verified turn could have had; null where it could. */
export function shortfallOf({ predicate }: AttestationStatement): string | null {
  if (predicate.result === "FAILED") return "its result is FAILED";
  const required = predicate.holdfast.checks.filter(({ isRequired, applies }) => isRequired && applies);
  const proves = ({ authority, constraint }: AttestedCheck): boolean =>
    constraint === undefined && authority !== "tool" && authority !== "untrusted";
  if (!required.some(proves)) return "no check that a person asked for was run";
  const short = required.find(({ passed, weaknesses }) => !passed || weaknesses.length > 0);
  return short === undefined ? null : `its required check ${JSON.stringify(short.name)} ${short.passed ? "is weak" : "failed"}`;
}
