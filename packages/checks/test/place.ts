import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { CheckDefinition, CommandCheck, Evidence, OtherCheck, RecordedRun } from "@holdfast/protocol";
import type {
  Baseline,
  BlobStore,
  CheckFiles,
  CommandEnd,
  Confinement,
  Observer,
  Processes,
  Verdict,
  Verifier,
  VerifierContext,
} from "@holdfast/runtime";
import { createNetwork } from "@holdfast/node/network/index";
import { createObserver } from "@holdfast/node/observer/index";
import { createBounded } from "@holdfast/node/host/bounded";
import { createVerifier } from "../src/index.ts";

/** A workspace with real files, real git and real processes, and a verifier over it. */
export interface Place {
  readonly dir: string;
  readonly top: string;
  readonly observer: Observer & CheckFiles;
  readonly verifier: Verifier;
  readonly processes: Processes;
  readonly blobs: BlobStore;
  /** Whatever the checks printed. */
  readonly printed: string[];
  accept: string[];
  readonly runs: RecordedRun[];
  write(path: string, content: string): void;
  remove(path: string): void;
  git(...args: string[]): void;
  commit(): void;
  baseline(...checks: CommandCheck[]): Promise<Baseline>;
  /** Runs the checks as one round and judges it. */
  round(baseline: Baseline, ...checks: CheckDefinition[]): Promise<{ readonly evidence: Evidence[]; readonly verdict: Verdict }>;
  context(): VerifierContext;
  end(): Promise<void>;
}

interface PlaceOptions {
  readonly mode: Confinement["mode"];
  readonly processes: (top: string, dir: string, home: string) => Processes;
}

export function makePlace(options: PlaceOptions = { mode: "off", processes: (_top, _dir, home) => testProcesses(home) }): Place {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-checks-")));
  const dir = join(top, "work");
  const home = join(top, "home");
  mkdirSync(dir);
  mkdirSync(home);
  const git = (...args: string[]): void => {
    const who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
    execFileSync("git", [...who, ...args], { cwd: dir, env: { PATH: process.env["PATH"] ?? "", HOME: home }, stdio: "ignore" });
  };
  git("init", "-q");
  const blobs = memoryBlobs();
  const files = { cwd: dir, roots: [{ id: "main", path: dir }] };
  const observer = createObserver({ files, blobs, cacheDir: join(top, "cache"), home });
  const processes = options.processes(top, dir, home);
  const confinement = (purpose: "check", binds?: Confinement["binds"]): Confinement => ({
    mode: options.mode,
    network: "none",
    scope: {},
    roots: [dir],
    purpose,
    ...(binds === undefined ? {} : { binds }),
  });
  const clock = { now: () => Date.now(), sleep: (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }).catch(() => {}) };
  const kinds = {
    "counts-to": async (_: unknown, { options }: OtherCheck) => ({
      passed: true,
      says: `counted to ${(options as { wanted: number }).wanted}`,
    }),
  };
  const verifier = createVerifier({
    observer,
    processes,
    blobs,
    clock,
    files,
    confinement,
    network: createNetwork(),
    kinds,
    bounded: createBounded(),
  });
  const printed: string[] = [];
  let runs = 0;
  const place: Place = {
    dir,
    top,
    observer,
    verifier,
    processes,
    blobs,
    printed,
    accept: [],
    runs: [],
    write(path, content) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), content);
    },
    remove: (path) => rmSync(join(dir, path), { recursive: true }),
    git,
    commit() {
      git("add", "-A");
      git("commit", "-q", "-m", "work");
    },
    context: () => ({
      session: "s1",
      runId: `turn.${(runs += 1)}`,
      isSandboxed: options.mode !== "off",
      acceptCheckChanges: place.accept,
      runs: place.runs,
      runningTasks: [],
      inspected: [],
      earlier: null,
      handOver: async () => undefined,
      onOutput: (_, text) => printed.push(text),
    }),
    baseline: (...checks) => verifier.baseline(checks, true, place.context(), new AbortController().signal),
    async round(baseline, ...checks) {
      const context = place.context();
      const evidence: Evidence[] = [];
      for (const check of checks) evidence.push(await verifier.check(check, baseline, context, new AbortController().signal));
      const after = await observer.snapshot(baseline.manifest);
      const changes = await observer.changes(baseline.manifest ?? "", after.manifest);
      return {
        evidence,
        verdict: verifier.judge({
          checks,
          baseline,
          evidence,
          subject: await verifier.subject(baseline),
          changes,
          changesKnown: true,
          message: "done",
        }),
      };
    },
    async end() {
      await processes.endSession("s1", { forget: true });
      rmSync(top, { recursive: true, force: true });
    },
  };
  return place;
}

interface TestProcesses extends Processes {
  readonly pauses: string[];
}

/** What the test's own processes were told to pause and to continue. */
export function pausesOf(place: Place): readonly string[] {
  return (place.processes as TestProcesses).pauses;
}

/** Just enough of the port: bash in its own group, output in memory, no sandbox. */
function testProcesses(home: string): TestProcesses {
  const children = new Map<string, { readonly child: ChildProcess; readonly chunks: Buffer[] }>();
  const pauses: string[] = [];
  const kill = (child: ChildProcess): void => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  const never = (): never => {
    throw new Error("not used by checks");
  };
  return {
    pauses,
    owner: { pid: process.pid, startTime: "", bootId: "", label: "test" },
    isAlive: () => true,
    sandboxProblem: async () => null,
    async start(spec) {
      const ref = `${spec.session}/${spec.id}/${spec.attempt}`;
      if (children.has(ref)) throw new Error(`the run ${ref} was started before`);
      const tmp = mkdtempSync(join(dirname(home), "tmp-"));
      const env = {
        PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
        HOME: home,
        TMPDIR: tmp,
        LANG: "C.UTF-8",
        ...spec.env,
      };
      const child = spawn("bash", ["-c", spec.command], { cwd: spec.cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
      const chunks: Buffer[] = [];
      children.set(ref, { child, chunks });
      child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
      child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
      const startedAt = Date.now();
      let isLate = false;
      const timer = setTimeout(() => ((isLate = true), kill(child)), spec.timeoutMs);
      const ended = new Promise<{ end: CommandEnd; durationMs: number }>((resolve) => {
        child.on("close", (code, signal) => {
          clearTimeout(timer);
          const durationMs = Date.now() - startedAt;
          if (isLate) resolve({ end: { type: "timed_out", afterMs: spec.timeoutMs }, durationMs });
          else
            resolve({ end: code === null ? { type: "signalled", signal: signal ?? "" } : { type: "exited", exitCode: code }, durationMs });
        });
      });
      const owner = { pid: child.pid ?? 0, startTime: "", bootId: "", label: ref };
      return { ref, owner, input: null, ended, stop: async () => (kill(child), void (await ended)) };
    },
    async read(ref, offset, length) {
      const bytes = Buffer.concat(children.get(ref)?.chunks ?? []);
      return { bytes: bytes.subarray(offset, offset + length), size: bytes.length };
    },
    async pause(ref, paused) {
      pauses.push(`${paused ? "pause" : "continue"} ${ref}`);
      if (ref === "gone") throw new Error("it has ended");
    },
    write: never,
    closeInput: never,
    record: never,
    endRuns: never,
    forgetOutput: never,
    remains: never,
    revoke: never,
    attach: never,
    async endSession() {
      for (const { child } of children.values()) if (child.exitCode === null) kill(child);
    },
  };
}

function memoryBlobs(): BlobStore {
  const all = new Map<string, Uint8Array>();
  return {
    async put(bytes) {
      const id = createHash("sha256").update(bytes).digest("hex");
      all.set(id, Uint8Array.from(bytes));
      return id;
    },
    get: async (id) => all.get(id) ?? null,
    has: async (id) => all.has(id),
    size: async (id) => all.get(id)?.length ?? 0,
    delete: async (id) => void all.delete(id),
    collect: async () => 0,
  };
}
