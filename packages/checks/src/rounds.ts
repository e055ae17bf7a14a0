import type { CheckRun, Evidence, RunCheck, Weakness } from "@holdfast/protocol";
import type { Confinement, Place, ScratchChange, Snapshot, VerifierContext } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { definitionDigest, needsRunning } from "./definition.ts";
import { placeOf } from "./inputs.ts";
import { ownReport } from "./own-report.ts";
import { reportFound, whyNone } from "./report-found.ts";
import { runOnce } from "./run.ts";
import { subjectOf } from "./subject.ts";
import type { VerifierInput } from "./verifier-input.ts";

/** One check in one round. */
export interface Round {
  readonly check: RunCheck;
  readonly context: VerifierContext;
  readonly signal: AbortSignal;
  /** Manifest whose scope and ignore rules hold. */
  readonly scope: string | null;
  /** What no check's subject covers. */
  readonly outputs: readonly string[];
  /** Digest of all that decides the result. */
  readonly inputs: string;
  /** Added to the runtime's own variables. */
  readonly env?: (cwd: string) => Readonly<Record<string, string>>;
  /** Numbers the round's runs, so that their records never collide. */
  readonly next: () => number;
}

/** One run, bound to the tree before and after it. */
export interface BoundRun {
  readonly run: CheckRun;
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly subjectBefore: string;
  readonly subjectAfter: string;
  /** It failed in an earlier round on exactly this tree, with exactly these inputs. */
  readonly hasFailedHere: boolean;
  /** The same, whatever its inputs were. */
  readonly hasFailedOnTree: boolean;
}

export interface Rounds {
  /** `start`: the tree as it was looked at just now. */
  inWorkspace(round: Round, start?: Snapshot): Promise<BoundRun>;
  /** Over a copy of `manifest` with `changes`, shown at the workspace's own path where the sandbox can. */
  inCopy(
    round: Round,
    manifest: string,
    changes: readonly ScratchChange[],
    without: readonly Place[],
    /** Looks at the copy's working folder after the run. */
    look?: (folder: string) => Promise<void>,
  ): Promise<CheckRun>;
  /** The session's own commands stand still meanwhile, but for `needed`, and go on whatever becomes of `work`. */
  whilePaused<T>(context: VerifierContext, work: () => Promise<T>, needed?: readonly string[]): Promise<T>;
  evidence(round: Round, phase: Evidence["phase"], bound: BoundRun, rest: EvidenceRest): Evidence;
}

interface EvidenceRest {
  readonly originalInputsRun: CheckRun | null;
  readonly repeats: readonly CheckRun[];
  readonly weaknesses: readonly Weakness[];
  readonly notes?: readonly string[];
  readonly accepted?: readonly string[];
}

/** Failing runs remembered, to notice a check that fails and then passes on the same tree in a later round. */
const mostRemembered = 500;

export function createRounds(input: VerifierInput): Rounds {
  const { observer, processes, files } = input;
  const failures = new Set<string>();
  // Bytecode is not left anywhere; where the host keeps a check's caches, none of the workspace is read.
  const bytecode = { PYTHONDONTWRITEBYTECODE: "1" };
  // What a runner of tasks has kept of an earlier run shows nothing of this tree.
  const env = { ...bytecode, TURBO_FORCE: "true", NX_SKIP_NX_CACHE: "true", NX_DISABLE_NX_CACHE: "true", ...input.env };

  const confine = ({ check }: Round, binds?: Confinement["binds"]): Confinement => input.confinement("check", binds, needsRunning(check));

  /** A check with a report of its own is judged by it: at least one test ran and none failed, in a report of this run. */
  const run = async (round: Round, cwd: string, confinement: Confinement, place: Place | null): Promise<CheckRun> => {
    const { check } = round;
    if (check.kind !== "tests") return start(round, cwd, confinement);
    const report =
      check.report === null || place === null
        ? null
        : { root: place.root, path: `${place.path}/${check.report.path}`.replace(/^\//, place.root === "" ? "/" : "") };
    const signature = async (): Promise<string> => (report === null ? "" : ([...(await observer.sign([report])).values()][0] ?? ""));
    const before = await signature();
    const result = await start(round, cwd, confinement);
    const after = await signature();
    const whole = report === null ? await input.blobs.get(result.output) : before === after ? null : await observer.read(report);
    const why = report === null ? null : await whyNone(check.report?.path ?? "", report, before, after, whole, observer);
    const { counts, problem } = reportFound(check, whole, why);
    const own = place?.root === "" ? null : ownReport(check, files);
    return {
      ...result,
      ...(whole === null || own === null ? {} : { report: { root: own.root, path: own.path, digest: sha256(whole) } }),
      counts,
      passed: result.passed && counts !== null && counts.failed === 0 && counts.passed > 0,
      ...(problem === null ? {} : { reportProblem: problem, tail: `${result.tail}\n${problem}` }),
    };
  };

  const start = ({ check, context, signal, next, env: added }: Round, cwd: string, confinement: Confinement): Promise<CheckRun> =>
    runOnce(
      { processes, blobs: input.blobs, clock: input.clock },
      {
        session: context.session,
        id: `${context.runId}.${check.id}.${next()}`,
        command: check.command,
        cwd,
        timeoutMs: check.timeoutMs,
        confinement,
        env: { ...env, ...added?.(cwd) },
        handOver: context.handOver,
        onOutput: (text) => context.onOutput(check.id, text),
      },
      signal,
    );

  const remember = (key: string): void => {
    failures.add(key);
    for (const oldest of failures) {
      if (failures.size <= mostRemembered) break;
      failures.delete(oldest);
    }
  };

  return {
    async inWorkspace(round, start) {
      const before = start ?? (await observer.snapshot(round.scope));
      const subjectBefore = await subjectOf(before, round.outputs, observer);
      const result = await run(round, files.cwd, confine(round), placeOf(files, files.cwd));
      const after = await observer.snapshot(round.scope ?? before.manifest, true);
      const subjectAfter = await subjectOf(after, round.outputs, observer);
      const tree = JSON.stringify([round.context.session, round.check.id, definitionDigest(round.check), subjectBefore]);
      const key = `${tree}\n${round.inputs}`;
      const [hasFailedHere, hasFailedOnTree] = [failures.has(key), failures.has(tree)];
      if (!result.passed) [tree, key].forEach(remember);
      return { run: result, before, after, subjectBefore, subjectAfter, hasFailedHere, hasFailedOnTree };
    },

    async inCopy(round, manifest, changes, without, look) {
      const isConfined = input.confinement("check").mode !== "off";
      const copy = await observer.scratch(manifest, changes, { linksDependencies: !isConfined, without });
      try {
        const place = placeOf(files, files.cwd);
        const top = place === null ? undefined : copy.roots[place.root];
        const cwd = top === undefined || place === null ? files.cwd : `${top}/${place.path}`.replace(/\/$/, "");
        const inside = { root: "", path: cwd };
        const result = isConfined
          ? await run(round, files.cwd, confine(round, copy.binds), inside)
          : await run(round, cwd, confine(round), inside);
        await look?.(cwd);
        return result;
      } finally {
        await copy.remove();
      }
    },

    async whilePaused(context, work, needed = []) {
      const stopped = context.runningTasks.filter((ref) => !needed.includes(ref));
      // A command that has ended meanwhile has nothing to pause.
      const pause = (paused: boolean): Promise<unknown> => Promise.allSettled(stopped.map((ref) => processes.pause(ref, paused)));
      await pause(true);
      try {
        return await work();
      } finally {
        await pause(false);
      }
    },

    evidence: ({ check, context, inputs }, phase, bound, { originalInputsRun, repeats, weaknesses, notes = [], accepted = [] }) => ({
      checkId: check.id,
      phase,
      subjectBefore: bound.subjectBefore,
      subjectAfter: bound.subjectAfter,
      inputs,
      definition: definitionDigest(check),
      run: bound.run,
      originalInputsRun,
      repeats: repeats.length > 1 ? [...repeats] : [],
      weaknesses: [...weaknesses],
      ...(notes.length === 0 ? {} : { notes: [...notes] }),
      ...(accepted.length === 0 ? {} : { accepted: [...accepted] }),
      sandboxed: context.isSandboxed && input.confinement("check").mode !== "off",
      gitTree: bound.subjectBefore === bound.subjectAfter ? bound.after.gitTree : null,
      at: input.clock.now(),
    }),
  };
}

/** What is started late or run with more to do may take longer than a plain run. */
const leastMs = 20_000;

/** A round that is to end in a few times what an earlier run of its check took: it is over then, and has not passed. */
export function heldTo(round: Round, { durationMs }: Pick<CheckRun, "durationMs">): Round {
  const timeoutMs = Math.min(round.check.timeoutMs, Math.max(leastMs, 3 * durationMs));
  return { ...round, check: { ...round.check, timeoutMs } };
}

export function counter(): () => number {
  let count = 0;
  return () => (count += 1);
}
