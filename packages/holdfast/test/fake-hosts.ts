import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { answerProblems } from "@holdfast/checks/output/answer";
import { createDirector } from "@holdfast/harness";
import type { ScriptFunction, ScriptStep } from "@holdfast/models";
import { createScriptModel } from "@holdfast/models";
import { HoldfastError } from "@holdfast/protocol";
import type { CallOutcome, CallPlan, CheckRun, Evidence, Json } from "@holdfast/protocol";
import type { FileEdit, Files, Owner, PolicyDecision, Ports, Tool, Verifier } from "@holdfast/runtime";
import * as runtime from "@holdfast/runtime";
import { askUser } from "@holdfast/tools/ask-user";
import { createMemoryBlobs, createMemoryLog } from "@holdfast/stores";
import { clock } from "@holdfast/node/host/clock";
import { ids } from "@holdfast/node/host/ids";
import { createPassingSigner } from "@holdfast/node/host/signer";
import { createWakeups } from "@holdfast/node/host/wakeups";
import { openParts } from "@holdfast/node/observer/index";
import { lazyCheckpoints } from "../src/host/checkpoints.ts";
import type { Hosts } from "../src/runtime-api.ts";

export interface FakeHostOptions {
  readonly script: readonly ScriptStep[] | ScriptFunction;
  /** Whether a check passes, asked at each run. */
  readonly checkPasses?: () => boolean;
  /** Rules that are offered with a reviewed call; once one is granted, such calls are allowed. */
  readonly offers?: NonNullable<PolicyDecision["offers"]>;
  /** Resolves when a `wait` call may end; it ends at once without. */
  readonly onWait?: (signal: AbortSignal) => Promise<void>;
}

export interface FakeHosts extends Hosts {
  readonly log: Ports["log"];
  readonly blobs: Ports["blobs"];
  readonly owner: Owner;
  readonly endedSessions: string[];
  /** Texts of the rules that were kept. */
  readonly kept: string[];
}

/**
 * The real runtime, log, director and scripted model over tools that really change files but run no commands: `write`
 * {path, content}, `say` {text}, `danger` {text} (reviewed), `wait`, and the real `ask_user`.
 */
export function fakeHosts(options: FakeHostOptions): FakeHosts {
  const log = createMemoryLog();
  const blobs = createMemoryBlobs();
  const wakeups = createWakeups(null);
  const owner: Owner = { pid: 4242, startTime: "1", bootId: "boot", label: "holdfast in a test" };
  const endedSessions: string[] = [];
  const kept: string[] = [];
  const shared = { log, blobs, ids, clock, wakeups };
  return {
    log,
    blobs,
    owner,
    endedSessions,
    kept,
    openStore: async () => ({
      ports: {
        ...shared,
        processes: { isAlive: (other) => other.label === "alive" },
        secrets: { get: async () => null, values: () => [] },
      },
      runtime,
      close: async () => {},
    }),
    openHost: async ({ home }, workspace) => {
      const files = fakeFiles(workspace.cwd, workspace.roots);
      const tools = [writeTool(files, blobs), sayTool("say"), sayTool("danger"), waitTool(options.onWait), askUser];
      const ports: Ports = {
        ...shared,
        model: async (name) => createScriptModel(options.script as ScriptFunction, { id: name, isRecording: false }),
        tools: { specs: tools.map((tool) => tool.spec), get: (name) => tools.find((tool) => tool.spec.name === name) ?? null },
        files,
        processes: {
          owner,
          isAlive: (other) => other.label === "alive",
          sandboxProblem: async () => null,
          start: async () => Promise.reject(new Error("no commands here")),
          record: async () => ({ type: "none", sameBoot: true }),
          revoke: async () => ({ taken: [] }),
          attach: async () => Promise.reject(new Error("no commands here")),
          read: async () => ({ bytes: new Uint8Array(), size: 0 }),
          write: async () => null,
          closeInput: async () => undefined,
          pause: async () => {},
          endRuns: async () => undefined,
          forgetOutput: async () => undefined,
          remains: async () => ({ bytes: 1_000, isRunning: false }),
          endSession: async (session) => {
            endedSessions.push(session);
          },
        },
        observer: {
          world: async () => [],
          isTracked: async () => false,
          blobsOf: async (manifest) => [manifest],
          snapshot: async () => ({ subject: "5".repeat(64), manifest: "manifest", gitTree: null }),
          changes: async () => [{ path: "login.js", change: "modified", added: 1, removed: 1 }],
          diff: async () => "--- a/login.js\n+++ b/login.js\n@@ -1 +1 @@\n-old\n+new\n",
        },
        verifier: fakeVerifier(options.checkPasses ?? (() => true)),
        policy: {
          decide: async ({ tool, granted = [] }) => ({
            decision: tool === "danger" && granted.length === 0 ? "review" : "allow",
            rule: { id: tool === "danger" ? "unknown-effects" : "workspace-edits", source: "builtin" },
            reason: tool === "danger" ? "What this does can't be told beforehand." : "Edits in the workspace are allowed.",
            forModel: "A person must allow this.",
            scope: tool === "danger" ? { network: ["example.org"] } : {},
            provenRead: false,
            ...(options.offers === undefined ? {} : { offers: options.offers }),
          }),
        },
        rules: {
          keep: async ({ text }) => {
            kept.push(text);
            return "allowed.toml";
          },
        },
        checkpoints: lazyCheckpoints({
          parts: openParts({ files: workspace, blobs, cacheDir: join(home, "cache"), home }),
          blobs,
          home,
          mostBytes: 1_000_000,
          onNote: () => undefined,
        }),
        director: createDirector(),
        secrets: { get: async () => null, values: () => [] },
        signer: createPassingSigner(),
      };
      return { ports, runtime, remarks: () => [], close: async () => {} };
    },
  };
}

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function fakeFiles(cwd: string, roots: Files["roots"]): Files {
  const unused = async () => Promise.reject(new Error("not used here"));
  const read = async (path: string) => {
    const bytes = await readFile(path).catch(() => null);
    if (bytes === null) throw new HoldfastError("file_missing", `there is no ${path}`);
    return { bytes: new Uint8Array(bytes), digest: digestOf(bytes), mode: 0o644 };
  };
  return {
    cwd,
    roots,
    identify: unused,
    read,
    list: unused,
    glob: unused,
    search: unused,
    probe: async () => "before",
    apply: async (edits: readonly FileEdit[], { attempt }) => {
      const left: FileEdit[] = [];
      for (const edit of edits) {
        const found = await read(edit.path).then(
          (file) => file.digest,
          () => null,
        );
        if (attempt > 1 && found === edit.afterDigest) continue;
        if (found !== edit.before) return { type: "changed", path: edit.path, found };
        left.push(edit);
      }
      for (const edit of left) {
        await mkdir(dirname(edit.path), { recursive: true });
        if (edit.after === null) await rm(edit.path);
        else await writeFile(edit.path, edit.after);
      }
      return { type: "applied" };
    },
  };
}

function planOf(input: Json, summary: string, changes: boolean): CallPlan {
  return { input, summary, reads: [], writes: [], workspace: changes ? "exclusive" : "none", replay: "safe", changesWorkspace: changes };
}

const fields = (input: Json) => input as Record<string, string>;
const schema: Json = { type: "object" };

function writeTool(files: Files, blobs: Ports["blobs"]): Tool {
  return {
    spec: { name: "write", description: "writes a file", schema },
    plan: async (input) => planOf(input, `write ${fields(input)["path"]}`, true),
    run: async (intent): Promise<CallOutcome> => {
      const path = resolve(files.cwd, fields(intent.plan.input)["path"] ?? "");
      const before = await files.read(path, 1e6).catch(() => null);
      const after = new TextEncoder().encode(fields(intent.plan.input)["content"]);
      const blob = before === null ? null : await blobs.put(before.bytes);
      const edit = { path, before: before?.digest ?? null, after, afterDigest: digestOf(after), mode: null };
      await files.apply([edit], { session: "s", callId: intent.callId, attempt: 1 });
      return {
        status: "completed",
        text: `wrote ${path}`,
        trust: "tool",
        changed: [{ path, beforeDigest: edit.before, afterDigest: edit.afterDigest, before: blob, beforeMode: before?.mode ?? null }],
      };
    },
  };
}

function sayTool(name: string): Tool {
  return {
    spec: { name, description: "says something", schema },
    plan: async (input) => planOf(input, `${name} ${fields(input)["text"]}`, false),
    run: async (intent) => ({ status: "completed", text: fields(intent.plan.input)["text"] ?? "", trust: "tool", exitCode: 0 }),
  };
}

function waitTool(onWait: FakeHostOptions["onWait"]): Tool {
  return {
    spec: { name: "wait", description: "waits", schema },
    plan: async (input) => planOf(input, "wait", false),
    run: async (_intent, _context, signal) => {
      await onWait?.(signal);
      return { status: signal.aborted ? "interrupted" : "completed", text: "waited", trust: "tool" };
    },
  };
}

function fakeVerifier(passes: () => boolean): Verifier {
  const subject = "5".repeat(64);
  const runOnce = (passed: boolean): CheckRun => ({
    exitCode: passed ? 0 : 1,
    signal: null,
    timedOut: false,
    durationMs: 1200,
    passed,
    counts: { passed: passed ? 3 : 2, failed: passed ? 0 : 1, skipped: 0 },
    tail: passed ? "3 passing" : "1 failing: login rejects a wrong password",
    output: "out",
  });
  const evidenceOf = (checkId: string, phase: "baseline" | "final", passed: boolean): Evidence => ({
    checkId,
    phase,
    subjectBefore: subject,
    subjectAfter: subject,
    inputs: subject,
    definition: subject,
    run: runOnce(passed),
    originalInputsRun: null,
    repeats: [],
    weaknesses: [],
    sandboxed: true,
    gitTree: null,
    at: 0,
  });
  return {
    testCounts: async () => null,
    contradictions: async () => [],
    answerProblems: async (schema, text) => answerProblems(schema, text),
    stale: () => [],
    beforeRun: async () => null,
    baseline: async (checks, runs) => ({
      subject,
      manifest: "manifest",
      evidence: runs ? checks.map((check) => evidenceOf(check.id, "baseline", false)) : [],
      inputs: {},
    }),
    check: async (check) => evidenceOf(check.id, "final", passes()),
    subject: async () => subject,
    judge: ({ checks, evidence, changes, changesKnown, message }) => {
      const passed = evidence.filter((one) => one.phase === "final").every((one) => one.run.passed);
      return {
        verdict: passed ? "pass" : "fail",
        forModel: "The check failed.",
        report: {
          heading: checks.length === 0 ? "nothing to verify" : passed ? "red before, green now" : "a required check fails",
          message,
          criteria: checks.map((check) => ({
            checkId: check.id,
            name: check.name,
            baseline: "fail",
            now: passed ? "pass" : "fail",
            evidence: passed ? "3 passed" : "1 failed, 2 passed",
          })),
          changes,
          changesKnown,
          subject: checks.length === 0 ? null : subject,
          reasons: passed ? [] : ["npm test: 1 failed"],
        },
      };
    },
  };
}
