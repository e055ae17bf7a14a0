import type { CheckDefinition, EventPayload, SessionEvent, Settings } from "@holdfast/protocol";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { Driver } from "../drive/driver.ts";
import { flush, stage } from "../drive/driver.ts";
import { askHooks } from "../drive/hooks.ts";
import { loadBare } from "../drive/load.ts";
import { withSession } from "../drive/session-lock.ts";
import { withWorkspace } from "../drive/workspace-lock.ts";
import { createRegisters, emptyHead } from "../kernel/state.ts";
import { createRequestDigests } from "../kernel/request-digests.ts";
import { createWindow } from "../kernel/window.ts";
import type { NewSession, Ports } from "../ports/index.ts";
import { isSameProcess } from "../same-process.ts";
import { redactDeep } from "../redact.ts";
import { openLock } from "./hold.ts";

/** Makes a session: its first commit. Returns its id. */
export async function createSession(ports: Ports, given: NewSession): Promise<string> {
  const session = ports.ids.next("ses");
  const init = redactDeep(given, ports.secrets.values());
  const driver: Driver = {
    ports,
    session,
    options: { waiting: "return" },
    head: emptyHead,
    registers: createRegisters(),
    window: createWindow(),
    digests: createRequestDigests(),
    staged: { events: [], puts: [], taken: [], blobs: [], at: 0 },
    attachable: new Set(),
    early: new Set(),
    hasSandbox: false,
    wasTakenUp: false,
    asked: new Set(),
    created: { workspace: init.roots[0]?.path ?? null, title: init.title },
  };
  const { roots, cwd, settings, title, checks } = init;
  const created: SessionEvent = {
    type: "session.created",
    payload: { behaviour: ports.director.behaviour, roots: [...roots], cwd, settings, title },
  };
  const accepted: SessionEvent = { type: "checks.accepted", payload: { checks: [...checks] } };
  stage(driver, checks.length === 0 ? [created] : [created, accepted]);
  await flush(driver);
  return session;
}

/** Changes settings of a session that nobody drives. The model changes only between turns. */
export async function changeSettings(ports: Ports, session: string, patch: Partial<Settings>): Promise<void> {
  await amend(ports, session, (driver) => {
    const settings = driver.registers.get("settings", "");
    if (settings === null) throw new HoldfastError("session_corrupt", `session ${session} has no settings`);
    if (patch.model !== undefined && patch.model !== settings.model && driver.head.turn !== null) {
      throw new HoldfastError("usage", `session ${session} has an open turn; the model can change once it has ended`);
    }
    const isChange = Object.entries(patch).some(
      ([key, value]) => JSON.stringify(settings[key as keyof Settings]) !== JSON.stringify(value),
    );
    return isChange ? [{ type: "session.changed", payload: { settings: { ...settings, ...patch } } }] : [];
  });
}

/** Adds checks. Those accepted before stay; the same check again changes nothing. */
export async function acceptChecks(ports: Ports, session: string, checks: readonly CheckDefinition[]): Promise<void> {
  await amend(ports, session, (driver) => {
    const added = checks.filter((check) => driver.registers.get("check", check.id) === null);
    return added.length === 0 ? [] : [{ type: "checks.accepted", payload: { checks: added } }];
  });
}

/**
 * Takes something back for a person, and records it. Meanwhile nobody drives the session or runs a command in its workspace.
 * Null: there was nothing to be done.
 */
export async function recordUndo(
  ports: Ports,
  session: string,
  undo: () => Promise<EventPayload<"edits.undone"> | null>,
  onWait?: (message: string) => void,
): Promise<void> {
  await amend(ports, session, (driver) =>
    withWorkspace(
      onWait === undefined ? driver : { ...driver, options: { ...driver.options, onWait } },
      "undo",
      new AbortController().signal,
      async () => {
        const undone = await undo();
        return undone === null ? [] : [{ type: "edits.undone", payload: undone }];
      },
    ),
  );
}

/** Records something of a session that nobody drives. */
export async function amend(
  ports: Ports,
  session: string,
  change: (driver: Driver) => SessionEvent[] | Promise<SessionEvent[]>,
  signal?: AbortSignal,
): Promise<void> {
  await withSession(ports, session, async () => {
    const driver = await loadBare(ports, session, { waiting: "return", ...(signal === undefined ? {} : { signal }) });
    stage(driver, await change(driver));
    await flush(driver);
  });
}

/**
 * Ends what the session left running in the background. The session itself can be resumed; where somebody drives it again
 * already, or has it open, what runs is theirs to end. The signal ends hooks that are asked meanwhile.
 */
export async function closeSession(ports: Ports, session: string, signal?: AbortSignal): Promise<void> {
  const { owner, isAlive } = ports.processes;
  const opener = await ports.log.holder(openLock(session));
  if (opener !== null && !isSameProcess(opener, owner) && isAlive(opener)) return;
  try {
    await amend(
      ports,
      session,
      async (driver) => {
        await ports.processes.endSession(session, { forget: false });
        const told = await askHooks(driver, { event: "session_end", data: () => ({}) });
        const ended = driver.registers.entries("task").map(([taskId]): SessionEvent => {
          return { type: "task.ended", payload: { taskId, exitCode: null, signal: null, why: "ended" } };
        });
        return [...ended, ...told.ran];
      },
      signal,
    );
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "session_busy") throw error;
  }
}
