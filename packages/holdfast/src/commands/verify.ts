import { realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { AttestationStatement, Verification, VerificationFinding } from "@holdfast/protocol";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { readBoundedFile } from "../cli/bounded.ts";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { canAsk } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { isTrusted } from "../config/trust-store.ts";
import { assertWorkable, findWorkspace, isWithin, workspaceRoots } from "../config/workspace.ts";
import { jsonLine } from "../render/json-events.ts";
import { wrap } from "../render/layout.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Hosts } from "../runtime-api.ts";
import { newChecks } from "../session/checks.ts";
import { networkOf } from "../session/flags.ts";
import type { Setup } from "../session/start.ts";
import { openSetup, setupFor } from "../session/start.ts";

/** Of an attestation, bytes. */
const mostBytes = 16 * 1024 * 1024;
const statuses = { valid: 0, invalid: 3, unverifiable: 6 } as const;

const spec: CommandSpec = {
  name: "verify",
  summary: "Says whether an attestation holds: its signature, the log here, the files in a folder, and its checks run again.",
  usage: ["holdfast verify FILE|- [--repo DIR] [--key FILE] [--rerun [--check CMD]] [--json]"],
  flags: {
    repo: { kind: "string", value: "DIR", help: "the files in this folder must be those that were tested" },
    "add-dir": { kind: "list", value: "DIR", help: "with --repo: a further folder of the workspace, in its order (repeatable)" },
    key: { kind: "list", value: "FILE", help: "trust this public key, and none of those known here (repeatable)" },
    rerun: { kind: "boolean", help: "run its checks again in that folder (default: the current one)" },
    check: { kind: "list", value: "CMD", help: "with --rerun: this command may be run (repeatable)" },
    sandbox: { kind: "string", value: "MODE", help: "with --rerun: workspace-write (default) or off", oneOf: ["workspace-write", "off"] },
    "allow-net": { kind: "list", value: "HOST", help: "with --rerun: a host that its commands may reach, or all (repeatable)" },
    json: { kind: "boolean", help: "one JSON object" },
  },
  words: { min: 1, max: 1, named: "the attestation's file" },
  notes: [
    "Exit status: 0 valid; 3 invalid: something of it is wrong; 6 unverifiable: it can't be told, for example because no key is known here; 2 wrong usage; 1 it could not be looked at.",
    "What may be run is yours to say, never the attestation's: commands of your config and of a project you trust, those named with --check, and at a terminal those you are shown and agree to. They run in the sandbox; what they test was written by others.",
    "A signature says who signed, not that it is true: whoever holds the key can sign anything. Only --rerun needs no trust in anybody.",
  ],
  examples: [
    ["holdfast verify fix.intoto.json --repo .", "is this about these files, and signed by a key I know?"],
    ['holdfast verify fix.intoto.json --repo . --rerun --check "npm test"', "and does it still hold?"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const rerunFlags = ["check", "sandbox", "allow-net"].filter((flag) => given.has(flag));
  const isRerun = given.has("rerun");
  if (!isRerun && rerunFlags[0] !== undefined) throw usage(spec, `--${rerunFlags[0]} belongs to --rerun`);
  if (given.has("add-dir") && !given.has("repo")) throw usage(spec, "--add-dir belongs to --repo");
  const folder = given.value("repo") ?? (isRerun ? "." : undefined);
  const [named = ""] = given.words;
  const path = named === "-" ? null : resolve(io.cwd, named);
  const bytes = path === null ? new TextEncoder().encode(await io.stdin.readAll(mostBytes)) : await readAttestation(path);
  const setup = await openSetup(io);
  const { openAttestation, verdictOf } = await import("../evidence/findings.ts");
  const opened = openAttestation(bytes, await trustedKeys(given, io, setup));
  const findings: VerificationFinding[] = [...opened.findings];
  const { statement } = opened;
  if (statement !== null) {
    if (opened.signedBy.length > 0) findings.push(...(await lookAtLog(hosts, setup, statement)));
    if (folder === undefined)
      findings.push({ kind: "tree_unseen", says: "note", detail: "which files it is about was not looked at (--repo DIR)" });
    else findings.push(...(await lookAtFiles(given, io, hosts, setup, { folder, path, statement, isVouched: opened.signedBy.length > 0 })));
  }
  const verdict = verdictOf(findings);
  const isVouched = opened.signedBy.length > 0;
  const report: Verification = {
    ...{ format: "holdfast-verification", version: 1, verdict, findings },
    signedBy: [...opened.signedBy],
    statement: isVouched ? statement : null,
  };
  io.stdout.write(given.has("json") ? jsonLine({ type: "attestation.verified", ...report }) : show(report, io));
  return statuses[verdict];
}

async function readAttestation(path: string): Promise<Uint8Array> {
  const shown = sanitizeLine(path);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new HoldfastError("file_missing", `there is no file ${shown}`);
  if (found.isDirectory()) throw new HoldfastError("file_unreadable", `${shown} is a folder`);
  let bytes: Uint8Array | null;
  try {
    bytes = await readBoundedFile(path, mostBytes);
  } catch (error) {
    throw new HoldfastError("file_unreadable", `${shown} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (bytes === null) throw new HoldfastError("file_unreadable", `${shown} has more than 16 MB: it is no attestation`);
  return bytes;
}

async function trustedKeys(given: Arguments, io: Io, { home }: Setup) {
  const { allKeys, readKeyFile, readKeys } = await import("../evidence/keys.ts");
  const files = given.values("key");
  if (files.length > 0) return Promise.all(files.map((file) => readKeyFile(file, io.cwd, sanitizeLine(file))));
  return allKeys(await readKeys(home));
}

async function lookAtLog(hosts: Hosts, setup: Setup, statement: AttestationStatement): Promise<VerificationFinding[]> {
  const unseen: VerificationFinding = { kind: "log_unseen", says: "note", detail: "this home holds no sessions" };
  if ((await stat(join(setup.home, "sessions.db")).catch(() => null)) === null) return [unseen];
  const { againstLog } = await import("../evidence/against-log.ts");
  try {
    const store = await hosts.openStore(setup);
    try {
      return await againstLog(store.ports, statement);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return [{ kind: "log", says: "unverifiable", detail: `the sessions of this home can't be read: ${error.message} (${error.code})` }];
  }
}

interface Files {
  readonly folder: string;
  /** Of the attestation; null where it came by stdin. */
  readonly path: string | null;
  readonly statement: AttestationStatement;
  readonly isVouched: boolean;
}

/** Nothing of the folder's is obeyed here, and no hook or server is started: its files are looked at, and approved checks run. */
async function lookAtFiles(
  given: Arguments,
  io: Io,
  hosts: Hosts,
  base: Setup,
  { folder, path, statement, isVouched }: Files,
): Promise<VerificationFinding[]> {
  const workspace = await findWorkspace(folder, io.cwd, io.env);
  assertWorkable(workspace);
  const roots = await workspaceRoots(workspace, given.values("add-dir"), io.cwd);
  const inside = join(workspace.root, statement.predicate.holdfast.scope.cwd);
  const cwd = await realpath(inside).catch(() => null);
  const trusted = await isTrusted(base.home, workspace.root);
  const setup = await setupFor(base, workspace.root, trusted);
  const sandbox = given.value("sandbox") === "off" ? "off" : "workspace-write";
  const network = networkOf(given.values("allow-net").flatMap((value) => value.split(",")));
  const isReachable = cwd !== null && isWithin(workspace.root, cwd);
  const host = await hosts.openHost(
    { ...setup, isEphemeral: true, config: { ...setup.config, hooks: {}, mcp: {} } },
    { cwd: isReachable ? cwd : workspace.root, roots, reach: { sandbox, network, isTrusted: false } },
  );
  try {
    const { againstTree } = await import("../evidence/against-tree.ts");
    const file = path === null ? null : await realpath(path).catch(() => path);
    const at = { host, roots: roots.map((root) => root.path), file, isVouched };
    const tree = await againstTree(at, statement);
    if (!given.has("rerun")) return [tree];
    const unrun = (detail: string): VerificationFinding[] => [tree, { kind: "rerun_impossible", says: "unverifiable", detail }];
    if (tree.says !== "holds") return unrun("nothing was run again: the files are others");
    if (!isReachable) return unrun("nothing was run again: the folder that its checks run in is not there");
    const { rerunChecks } = await import("../evidence/rerun.ts");
    const stopped = new AbortController();
    const release = io.onStop(() => stopped.abort(new HoldfastError("usage", "stopped")));
    try {
      const approved = newChecks(setup.loaded, given.values("check"));
      const ask = !given.has("json") && canAsk(io, io.stderr) ? askOnTerminal(io) : null;
      const again = await rerunChecks({ host, approved, ask, isSandboxed: sandbox !== "off", signal: stopped.signal }, statement);
      const isStill = (await againstTree(at, statement)).says === "holds";
      return [tree, ...again, ...(isStill ? [] : unrun("the files changed while its checks ran").slice(1))];
    } finally {
      release();
    }
  } finally {
    await host.close();
  }
}

/** The command is shown whole, on one line, without control characters; only `y` runs it. */
function askOnTerminal(io: Io): (name: string, command: string) => Promise<boolean> {
  return async (name, command) => {
    const { nextAnswer, openForQuestion } = await import("../line/screen.ts");
    const screen = await openForQuestion(io, io.stderr);
    const leave = new AbortController();
    const release = screen.onInterrupt(() => leave.abort());
    const lines = wrap(`  ${sanitizeLine(JSON.stringify(command))}`, io.stderr.columns);
    try {
      screen.print([`the attestation's check ${sanitizeLine(JSON.stringify(name))} would run, in that folder:`, ...lines], "progress");
      return ((await nextAnswer(screen, "run it? y or nothing › ", leave.signal)) ?? "").trim().toLowerCase() === "y";
    } finally {
      release();
      screen.close();
    }
  };
}

const words = { holds: "holds", invalid: "WRONG", unverifiable: "unknown", note: "note" } as const;

function show({ verdict, findings, statement }: Verification, io: Io): string {
  const about = statement?.predicate.holdfast;
  const head = [
    verdict,
    ...(about === undefined ? [] : [`turn ${about.turn} of ${about.session}, ${new Date(about.endedAt).toISOString()}: ${about.heading}`]),
  ].join("  ");
  const rows = findings.flatMap(({ says, detail }) =>
    wrap(sanitizeLine(detail), Math.max(40, io.stdout.columns) - 11).map(
      (line, index) => `  ${(index === 0 ? words[says] : "").padEnd(9)}${line}`,
    ),
  );
  return `${[...wrap(sanitizeLine(head), Math.max(40, io.stdout.columns)), ...rows].join("\n")}\n`;
}

export const command: Command = { ...spec, run };
