import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredEvent } from "@holdfast/protocol";
import type { RecordedEvent } from "@holdfast/runtime";
import { readSession } from "@holdfast/runtime";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import type { Branch } from "./work.ts";
import { lastWords, textOf } from "./work.ts";

/** A session as it stands in the store. */
export interface Look {
  readonly session: string;
  readonly branch: Branch;
  readonly status: "idle" | "running" | "waiting";
  readonly stored: readonly StoredEvent[];
  readonly events: readonly RecordedEvent[];
  readonly approvals: readonly string[];
  readonly questions: readonly string[];
  /** Something was posted to it that it has not taken yet, or it has yet to tell others something: it goes on without being asked again. */
  readonly hasPost: boolean;
  /** Its model has said the last words, and the turn has ended. */
  readonly isDone: boolean;
  readonly title: string;
}

/** All sessions of a home, the first one first. */
export async function lookAt(home: string): Promise<readonly Look[]> {
  const path = join(home, ".holdfast/sessions.db");
  if (textOf(path) === null) return [];
  const log = openSqliteLog(path);
  try {
    const looks = await Promise.all(
      (await log.list({})).map(async ({ session, status, title }): Promise<Look> => {
        const [stored, view] = [await log.read(session, 1), await readSession({ log }, session)];
        const hasPost = (await log.inbox(session)).length > 0 || (await log.takeOutbox(1, session)).length > 0;
        return {
          session,
          branch: stored.some(({ type }) => type === "session.forked") ? "fork" : "main",
          status,
          title,
          stored,
          events: view.events,
          approvals: view.openApprovals.map(({ id }) => id),
          questions: view.openQuestions.map(({ id }) => id),
          hasPost,
          isDone: status === "idle" && !hasPost && hasSaidLastWords(view.events),
        };
      }),
    );
    return looks.toSorted((one, other) => other.branch.localeCompare(one.branch));
  } finally {
    await log.close();
  }
}

/** Of a fork only what it did itself counts. */
export function ownEvents(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  return events.slice(events.findLastIndex(({ type }) => type === "session.forked") + 1);
}

/** Calls of a branch's own that are settled. */
export function settledCalls(looks: readonly Look[], branch: Branch): number {
  const own = looks.filter((look) => look.branch === branch).flatMap(({ events }) => ownEvents(events));
  return own.filter(({ type }) => type === "call.settled").length;
}

function hasSaidLastWords(events: readonly RecordedEvent[]): boolean {
  return ownEvents(events).some(
    (event) =>
      event.type === "sampling.settled" && event.payload.items.some((item) => item.kind === "assistant_message" && item.text === lastWords),
  );
}

/** Effects between their intent and their settlement, as "class kind". */
export function inFlight(events: readonly RecordedEvent[]): readonly { readonly replay: string; readonly what: string }[] {
  const open = new Map<string, { replay: string; what: string }>();
  const tools = new Map<string, string>();
  for (const event of ownEvents(events)) {
    switch (event.type) {
      case "sampling.intended":
        open.set(event.payload.samplingId, { replay: "safe", what: "sampling" });
        break;
      case "sampling.settled":
      case "sampling.abandoned":
        open.delete(event.payload.samplingId);
        if (event.type === "sampling.settled") {
          for (const item of event.payload.items) if (item.kind === "tool_call") tools.set(item.callId, item.name);
        }
        break;
      case "call.intended":
        open.set(event.payload.callId, {
          replay: event.payload.replay,
          what: tools.get(event.payload.callId)?.replace(/^mcp__.*/, "mcp") ?? "",
        });
        break;
      case "call.settled":
        open.delete(event.payload.callId);
        break;
      case "turn.ended":
        open.clear();
        break;
      default:
        break;
    }
  }
  return [...open.values()];
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

export function killOne(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
