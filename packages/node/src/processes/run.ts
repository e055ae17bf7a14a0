import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { Owner } from "@holdfast/runtime/ports/log";
import type { CommandInput, RunningCommand, SandboxRefusal } from "@holdfast/runtime/ports/processes";
import type { Link, Networks, Pass } from "../sandbox/network.ts";
import type { Sight } from "../sandbox/refused.ts";
import { pauseRun, stopRun } from "./control.ts";
import type { RunGroup } from "./cgroup.ts";
import type { RunFolder } from "./folders.ts";
import { noteGiven, readGiven } from "./given.ts";
import type { Launch } from "./launch.ts";
import { endOfRun, isRunning, readStart, tail } from "./records.ts";
import type { Ended, StartRecord } from "./records.ts";
import { removeFolder } from "./remove.ts";
import { attempt, settleRun } from "./settle.ts";
import type { SettledRun } from "./settle.ts";
import type { StandBy } from "./stand-by.ts";
import { killStrays, markPids } from "./tree.ts";
import { isFull, unwritable, whyUnwritable } from "./unwritable.ts";
import { claimLost, claimUnwritten, otherForm } from "./wrapper.ts";

/** A run that we follow, whether we started it or another process did. */
export interface Run extends RunningCommand {
  /** When nothing of the run is left, a moment after `ended`. */
  readonly gone: Promise<void>;
  isOver(): boolean;
}

export interface RunPlace extends SettledRun {
  readonly ref: string;
  /** What shows in other containers that somebody follows the run; null where nothing does. */
  readonly life: string | null;
  /** Of the network namespace: the session's, or the run's own. */
  readonly networkFolder: string;
  readonly networks: Networks;
  readonly standBy: StandBy;
  /** Folders whose disks it may fill. */
  readonly disks: readonly string[];
  readonly onLook: ((inner: number) => void) | null;
  /** Told of the secrets that a run was given which another process had started. */
  readonly onGiven: (secrets: readonly string[]) => void;
}

const pollMs = 20;

/**
 * Resolves once the claim is taken. Throws `claim_lost`; `store_full` or `store_failed` where it can't be written; `internal`
 * where the system can't start a process.
 */
export async function startRun(launch: Launch, place: RunPlace): Promise<Run> {
  noteGiven(place.folder, launch.given, place.secrets());
  const since = markPids();
  const wrapper = place.standBy.start(launch);
  const { left } = wrapper;
  const pid = await wrapper.claimed;
  const start = readStart(place.folder);
  const pass = launch.link?.pass ?? null;
  if (start.type !== "taken" || start.pid !== pid) {
    const answer = await left;
    // What was taken before has its own.
    if (answer !== claimLost) rmSync(place.folder.given, { force: true });
    throw claimError(answer, place);
  }
  if (pass !== null) writePass(place.folder, pass);
  const ended = wrapper.ended.then(async () => {
    if (endOfRun(place.folder) === null) await left;
    // The wrapper leaves this to us as long as we can hear it.
    const strays = start.isConfined ? null : since;
    if (strays !== null) await attempt(place.folder, "end what it left running", () => killStrays(place.mark, strays));
    await settleRun(place);
    const end = endOfRun(place.folder) ?? lost;
    const refused: SandboxRefusal[] = [];
    const { sight } = launch;
    if (sight !== null)
      await attempt(place.folder, "find what the sandbox refused it", async () => {
        refused.push(...(await refusals(place, sight, pass, end)));
      });
    return refused.length === 0 ? end : { ...end, refused };
  });
  return follow(
    place,
    start,
    launch.input,
    pass,
    ended,
    left.then(() => undefined),
  );
}

/** Takes back what was made for a run that was not started. */
export async function giveBack(
  error: unknown,
  folder: RunFolder,
  networks: Networks,
  linked: ReadonlyMap<string, Link>,
  group: RunGroup | null,
): Promise<void> {
  for (const [at, { pass }] of linked) if (pass !== null) networks.withdraw(at, pass);
  // Whoever won the claim has the same group, and the same network.
  if (isHoldfastError(error) && error.code === "claim_lost") return;
  group?.remove();
  if (linked.has(folder.network)) await networks.end(folder.network);
}

const lost: Ended = { end: { type: "lost" }, durationMs: 0 };

function claimError(answer: number | Error | null, { ref, folder }: RunPlace): HoldfastError {
  if (answer === claimLost) return new HoldfastError("claim_lost", `The run ${ref} was started or revoked before.`);
  if (answer === claimUnwritten) return unwritable(folder.base, whyUnwritable(folder.base));
  if (answer === otherForm) {
    return new HoldfastError("internal", "Holdfast's own files were replaced while it ran; no command was started.", {
      hint: "Start holdfast again: the session goes on with exec resume.",
    });
  }
  const why = answer instanceof Error ? answer.message : `it ended with ${answer ?? "a signal"} before it took its claim`;
  return new HoldfastError("internal", `The wrapper of the command could not be started: ${why}.`);
}

/** Follows a run by its records. Throws `internal` where it never started. */
export async function attachRun(place: RunPlace): Promise<Run> {
  const start = readStart(place.folder);
  if (start.type === "none" || start.type === "revoked") {
    throw new HoldfastError(
      "internal",
      `There is no run ${place.ref} to go on with: it was ${start.type === "none" ? "never started" : "revoked"}.`,
    );
  }
  place.onGiven(readGiven(place.folder));
  if (existsSync(place.folder.paused)) await pauseRun(place.folder, place.mark, false);
  const pass = readPass(place.folder);
  if (pass !== null && endOfRun(place.folder) === null) await place.networks.restore(place.networkFolder, pass);
  const ended = (async (): Promise<Ended> => {
    for (;;) {
      const end = endOfRun(place.folder);
      if (end !== null) {
        await settleRun(place);
        return endOfRun(place.folder) ?? end;
      }
      await sleep(pollMs);
    }
  })();
  const wrapperGone = ended.then(async () => {
    while (isRunning(start)) await sleep(pollMs);
  });
  const input = start.type === "taken" ? (start.input?.type ?? null) : null;
  return follow(place, start, input, pass, ended, wrapperGone);
}

/** How much of the end of its output tells why a command failed, bytes. */
const tellingBytes = 16_384;

async function refusals(place: RunPlace, sight: Sight, pass: Pass | null, { end }: Ended): Promise<SandboxRefusal[]> {
  const asked = pass === null ? [] : await place.networks.refusals(place.networkFolder, pass);
  const hosts = asked.map(({ host, port, reason }): SandboxRefusal => ({ kind: "host", host, port, reason }));
  if (end.type !== "exited" || end.exitCode === 0) return hosts;
  const text = tail(place.folder.output, tellingBytes);
  // It is needed by a failed command alone.
  return text === "" ? hosts : [...hosts, ...(await import("../sandbox/refused.ts")).refusedBy(text, sight)];
}

function follow(
  place: RunPlace,
  start: StartRecord,
  input: CommandInput | null,
  pass: Pass | null,
  ended: Promise<Ended>,
  wrapperGone: Promise<void>,
): Run {
  const unwatch = place.watch.add({ folder: place.folder, mark: place.mark, disks: place.disks, onLook: place.onLook });
  void ended.finally(unwatch).catch(() => undefined);
  // What the proxy refused is asked before its pass is withdrawn.
  const gone = Promise.all([wrapperGone, ended]).then(async () => {
    place.group?.remove();
    if (pass !== null) place.networks.withdraw(place.networkFolder, pass);
    if (place.networkFolder === place.folder.network) await place.networks.end(place.networkFolder);
    for (const path of [place.folder.tmp, place.folder.cache]) if (existsSync(path)) await removeFolder(path);
  });
  // Nobody may be waiting for the tidying; who does still sees it fail.
  gone.catch(() => undefined);
  let over = false;
  void ended.finally(() => (over = true)).catch(() => undefined);
  const { pid, startTime, bootId } = start.type === "taken" ? start : { pid: 0, startTime: "", bootId: "" };
  const owner: Owner = { pid, startTime, bootId, ...(place.life !== null && { life: place.life }), label: place.ref };
  return { ref: place.ref, owner, input, ended, gone, isOver: () => over, stop: () => stopRun(place.folder, place.mark, gone) };
}

/** For whoever takes the run over. It is begun: where there is no room for this it goes on, and has no network after that. */
function writePass(folder: RunFolder, pass: Pass): void {
  try {
    writeFileSync(folder.pass, JSON.stringify(pass), { mode: 0o600 });
  } catch (error) {
    if (!isFull(error)) throw error;
  }
}

function readPass(folder: RunFolder): Pass | null {
  try {
    const found = JSON.parse(readFileSync(folder.pass, "utf8")) as Partial<Pass> & { readonly hosts?: readonly string[] };
    // One that was written before there was more to say has hosts alone.
    return { token: found.token ?? "", reach: found.reach ?? { isOpen: false, hosts: found.hosts ?? [] } };
  } catch {
    return null;
  }
}
