import { isHoldfastError } from "@holdfast/protocol";
import { createMemoryBlobs } from "@holdfast/stores/memory";
import type { Boundary, DriveOptions, EffectType, Ports, Stop } from "../../src/index.ts";
import { Crash, createTestClock, createTestIds, createTestModel, portsOf, testCheck, testSettings } from "../kit.ts";
import type { Api } from "./api.ts";
import { runtime } from "./api.ts";
import type { Crossing, Fault, FaultyProcess } from "./faults.ts";
import { createFaultyProcess, isDeath } from "./faults.ts";
import type { Outside, Running, Scenario } from "./scenarios.ts";
import type { Durability, TailLog } from "./tail-log.ts";
import { createTailLog } from "./tail-log.ts";

/** Events whose commit settles an effect: from then on it isn't carried out again. */
const settling: Partial<Record<Boundary, EffectType>> = {
  "commit sampling.settled": "sample",
  "commit sampling.failed": "sample",
  "commit sampling.abandoned": "sample",
  "commit call.settled": "call",
  "commit baseline.recorded": "baseline",
  "commit snapshot.recorded": "snapshot",
  "commit check.completed": "check",
  "commit round.judged": "judge",
  "commit output.judged": "output",
  "commit turn.ended": "end",
};

/** A run to its end, and what it left. */
export interface Run {
  readonly scenario: Scenario;
  readonly fault: Fault | null;
  readonly log: TailLog;
  readonly blobs: Ports["blobs"];
  readonly ports: Ports;
  readonly session: string;
  readonly outside: Outside;
  readonly crossings: readonly Crossing[];
  /** What the step threw that the fault met: an error's code, "killed", or null where nobody noticed. */
  readonly thrown: string | null;
  /** Effects that were carried out and not settled when the fault had struck. */
  readonly unsettled: readonly EffectType[];
  /** How far the call had come by then: the place in the effect sandwich. */
  readonly window: Window;
  /** Events that clients had been told of and that the store had flushed, as `seq type`. */
  readonly acknowledged: readonly string[];
}

/** How far a call had come: what was recorded of it, and whether it had acted. */
export const windows = ["not intended", "intended", "claimed", "acted", "settled"] as const;
export type Window = (typeof windows)[number];

/** Plays a scenario; where a fault ends a step, the next process (or the same, once it is mended) begins it anew. */
export async function play(
  scenario: Scenario,
  planned: { fault: Fault; at: number } | null,
  { api = runtime, makeLog = createTailLog }: { readonly api?: Api; readonly makeLog?: (durability: Durability) => TailLog } = {},
): Promise<Run> {
  const log = makeLog(planned?.fault === "lost tail, normal" ? "normal" : "full");
  const shared = { log, blobs: createMemoryBlobs(), clock: createTestClock(), ids: createTestIds() };
  const outside: Outside = { acts: new Map(), attempts: new Map(), found: new Set(), done: new Map(), known: new Map() };
  let told: { seq: number; line: string }[] = [];
  let samplings = 0;
  const pending = new Set<EffectType>();

  const start = (pid: number, faulty: FaultyProcess, bootId: string): Running => {
    const noticed = new Set<EffectType>();
    const count = (type: EffectType): void => {
      faulty.alive();
      outside.done.set(type, (outside.done.get(type) ?? 0) + 1);
      pending.add(type);
      noticed.add(type);
    };
    const model = createTestModel((index) => {
      count("sample");
      samplings += 1;
      return scenario.answer(index, running, samplings);
    });
    const world = {
      ...shared,
      log: faulty.log,
      blobs: faulty.blobs,
      tools: [],
      model,
      check: () => scenario.name !== "a check that fails at first" || outside.known.has("fixed"),
      ...(scenario.policy === undefined ? {} : { policy: scenario.policy }),
    };
    const plain = portsOf(world, pid);
    const counted: Ports = {
      ...plain,
      processes: { ...plain.processes, owner: { ...plain.processes.owner, bootId } },
      tools: { specs: [], get: () => null },
      verifier: {
        ...plain.verifier,
        baseline: (...given) => (count("baseline"), plain.verifier.baseline(...given)),
        check: (...given) => (count("check"), plain.verifier.check(...given)),
        answerProblems: (...given) => (count("output"), plain.verifier.answerProblems(...given)),
        beforeRun: async (command) => (command === "npm ci" ? async () => ({ command, folders: [], locks: [], subject: null }) : null),
      },
      observer: { ...plain.observer, snapshot: (...given) => plain.observer.snapshot(...given) },
    };
    const ports = scenario.change?.(counted, outside) ?? counted;
    const options: DriveOptions = {
      waiting: "return",
      stops: async (stop) => {
        settle(stop, pending);
        await faulty.stops(stop);
      },
      onEvent: (event) => told.push({ seq: event.seq, line: `${event.seq} ${event.type}` }),
    };
    const running: Running = {
      ports,
      outside,
      api,
      get session() {
        return outside.known.get("session") ?? "";
      },
      drive: () => api.drive(ports, running.session, options),
      post: async (op, id) => void (await api.post(ports, running.session, op, id)),
      view: () => api.readSession(ports, running.session),
      passTime: (ms) => shared.clock.advance(ms),
      driveToDeath: (when) => driveToDeath(running, when),
    };
    const tools = scenario.tools(running).map((tool) => ({
      ...tool,
      run: (...given: Parameters<typeof tool.run>) => (count("call"), tool.run(...given)),
    }));
    Object.assign(ports.tools, {
      specs: tools.map(({ spec }) => spec),
      get: (name: string) => tools.find(({ spec }) => spec.name === name) ?? null,
    });
    return running;
  };
  /** As another process would that has nothing to do with the planned fault. */
  const driveToDeath = async ({ session }: Running, when: Stop["when"]): Promise<void> => {
    if (outside.known.has("died")) return;
    outside.known.set("died", "yes");
    const doomed = createFaultyProcess(shared, null);
    const running = start(100, doomed, "boot");
    const stops = async (stop: Stop): Promise<void> => {
      if (stop.when === when && stop.boundaries.includes("effect call")) throw new Crash("killed");
    };
    await api.drive(running.ports, session, { waiting: "return", stops }).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
    // What the dead process did not give back is void with it.
    pending.clear();
  };
  const create = async ({ ports }: Running): Promise<void> => {
    const known = outside.known.get("session");
    if (known !== undefined && (await ports.log.load(known)) !== null) return;
    const settings = { ...testSettings, ...scenario.settings };
    const checks = scenario.checks === true ? [testCheck] : [];
    const roots = [{ id: "w", path: "/w" }];
    outside.known.set("session", await api.createSession(ports, { roots, cwd: "/w", settings, title: "test", checks }));
  };

  const steps = [create, ...scenario.steps];
  const faulty = createFaultyProcess(shared, planned);
  let running = start(1, faulty, "boot");
  let thrown: string | null = null;
  let unsettled: EffectType[] = [];
  let window: Window = "settled";
  let acknowledged: string[] = [];
  for (let at = 0; at < steps.length; at += 1) {
    try {
      await steps[at]?.(running);
    } catch (error) {
      if (thrown !== null || !faulty.hasStruck()) throw error;
      thrown = error instanceof Crash ? "killed" : isHoldfastError(error) ? error.code : String(error);
      // What the driver left running comes to its end, or finds that its process is dead.
      await new Promise((resolve) => setTimeout(resolve, 1));
      faulty.mend();
      if (planned?.fault.startsWith("lost tail") === true) {
        await log.lose();
        at = -1;
      } else at -= 1;
      const kept = outside.known.has("session") ? ((await log.load(running.session))?.row.seq ?? 0) : 0;
      acknowledged = told.filter(({ seq }) => planned?.fault !== "lost tail, normal" || seq <= kept).map(({ line }) => line);
      told = [];
      unsettled = [...pending];
      window = await windowOf(log, running.session, outside);
      if (planned !== null && isDeath(planned.fault)) {
        running = start(2, createFaultyProcess(shared, null), planned.fault.startsWith("lost tail") ? "next boot" : "boot");
      }
    }
  }
  const { session, ports } = running;
  const { blobs } = shared;
  return {
    scenario,
    fault: planned?.fault ?? null,
    log,
    blobs,
    ports,
    session,
    outside,
    crossings: faulty.crossings,
    thrown,
    unsettled,
    window,
    acknowledged,
  };
}

function settle(stop: Stop, pending: Set<EffectType>): void {
  if (stop.what !== "commit" || stop.when !== "after") return;
  for (const boundary of stop.boundaries) {
    const settled = settling[boundary];
    if (settled !== undefined) pending.delete(settled);
  }
}

async function windowOf(log: TailLog, session: string, { acts }: Outside): Promise<Window> {
  const events = session === "" || (await log.load(session)) === null ? [] : (await runtime.readSession({ log }, session)).events;
  const intents = events.flatMap((event) => (event.type === "call.intended" ? [event.payload] : []));
  const settled = new Set(events.flatMap((event) => (event.type === "call.settled" ? [event.payload.callId] : [])));
  const open = intents.findLast(({ callId }) => !settled.has(callId));
  if (open === undefined) return settled.size > 0 ? "settled" : "not intended";
  if (acts.has(open.callId)) return "acted";
  return log.isClaimed(open.callId) ? "claimed" : "intended";
}
