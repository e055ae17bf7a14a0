import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredEvent } from "@holdfast/protocol";
import type { RecordedEvent } from "@holdfast/runtime";
import { findChainFault, readSession } from "@holdfast/runtime";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { finished, marks, textOf } from "./work.ts";

/** The stored events of the one session there is; none where it wasn't made yet. */
export async function readLog(home: string): Promise<readonly StoredEvent[]> {
  if (textOf(join(home, "sessions.db")) === null) return [];
  const log = openSqliteLog(join(home, "sessions.db"));
  try {
    const [row] = await log.list({});
    return row === undefined ? [] : await log.read(row.session, 1);
  } finally {
    await log.close();
  }
}

/** What is wrong with a log that went on after an earlier look at it. */
export function faultsOfLog(events: readonly StoredEvent[], earlier: readonly StoredEvent[]): string[] {
  const fault = findChainFault(events);
  const lost = earlier.find((event, index) => events[index]?.hash !== event.hash);
  return [
    ...(fault === null ? [] : [`the chain breaks at event ${fault.seq}: ${fault.fault}`]),
    ...(lost === undefined ? [] : [`event ${lost.seq} (${lost.type}) was acknowledged and is lost`]),
  ];
}

/** What is wrong with the world and the log once a session has ended. `inDoubt` counts what was told to be in doubt. */
export async function judgeEnd(workspace: string, home: string): Promise<{ readonly faults: string[]; readonly inDoubt: number }> {
  const log = openSqliteLog(join(home, "sessions.db"));
  try {
    const [row] = await log.list({});
    const view = await readSession({ log }, row?.session ?? "");
    const faults = [...faultsOfFiles(workspace), ...faultsOfMarks(workspace, view.events), ...faultsOfCalls(view.events)];
    if (view.turns.length !== 1) faults.push(`the prompt made ${view.turns.length} turns`);
    return { faults, inDoubt: view.inDoubt.length };
  } finally {
    await log.close();
  }
}

function faultsOfFiles(workspace: string): string[] {
  const wrong = Object.entries(finished).filter(([name, content]) => textOf(join(workspace, name)) !== content);
  const left = readdirSync(workspace).filter((name) => name.startsWith(".holdfast-"));
  return [
    ...wrong.map(([name]) => `${name} holds ${JSON.stringify(textOf(join(workspace, name)))}`),
    ...left.map((name) => `${name} was left behind`),
  ];
}

type Settled = Extract<RecordedEvent, { type: "call.settled" }>["payload"];

function faultsOfMarks(workspace: string, events: readonly RecordedEvent[]): string[] {
  const lines = (textOf(join(workspace, "ledger")) ?? "").split("\n");
  return Object.entries(marks).flatMap(([mark, { exitCode, isOptional }]) => {
    const times = lines.filter((line) => line === mark).length;
    const outcome = outcomeOfCall(events, `echo ${mark} >> ledger`)?.outcome;
    const isSure = outcome !== undefined && outcome.status !== "in_doubt";
    const faults = times > 1 ? [`${mark} was done ${times} times`] : [];
    if (outcome === undefined) faults.push(`the call of ${mark} has no settlement`);
    if (isSure && isOptional !== true && times !== 1) faults.push(`${mark} was done ${times} times, and its call says ${outcome.status}`);
    if (isSure && isOptional !== true && outcome.exitCode !== exitCode) faults.push(`${mark} is said to have exited ${outcome.exitCode}`);
    return faults;
  });
}

function outcomeOfCall(events: readonly RecordedEvent[], command: string): Settled | undefined {
  const items = events.flatMap((event) => (event.type === "sampling.settled" ? event.payload.items : []));
  const call = items.find((item) => item.kind === "tool_call" && item.input.includes(command));
  return events
    .flatMap((event) => (event.type === "call.settled" ? [event.payload] : []))
    .find(({ callId }) => call?.kind === "tool_call" && callId === call.callId);
}

function faultsOfCalls(events: readonly RecordedEvent[]): string[] {
  const settled = events.flatMap((event) => (event.type === "call.settled" ? [event.payload.callId] : []));
  const proposed = events.flatMap((event) =>
    event.type === "sampling.settled" ? event.payload.items.flatMap((item) => (item.kind === "tool_call" ? [item.callId] : [])) : [],
  );
  return proposed.flatMap((callId) => {
    const times = settled.filter((one) => one === callId).length;
    return times === 1 ? [] : [`call ${callId} was settled ${times} times`];
  });
}

export function describeProcess(pid: number): string {
  const line = (textOf(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ");
  return `${pid} (${line.slice(0, 200)})`;
}

/** Living processes that have to do with a folder, by their command line or by what they carry. */
export function processesOf(folder: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const isOurs = ["cmdline", "environ"].some((file) => readFileSync(`/proc/${name}/${file}`, "utf8").includes(folder));
      return isOurs ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
