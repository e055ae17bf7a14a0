import type { SessionEvent, StoredEvent } from "@holdfast/protocol";
import { eventVersion, HoldfastError } from "@holdfast/protocol";
import type { Head, RegisterKind } from "../kernel/state.ts";
import { createRegisters } from "../kernel/state.ts";
import { createWindow } from "../kernel/window.ts";
import type { DriveOptions, Ports } from "../ports/index.ts";
import type { Driver } from "./driver.ts";

/** Reads head, registers and the items of the current window: the cost doesn't depend on the age of the session. */
export async function openDriver(ports: Ports, session: string, options: DriveOptions): Promise<Driver> {
  const stored = await ports.log.load(session);
  if (stored === null) {
    throw new HoldfastError("session_not_found", `there is no session ${session}`, {
      hint: "holdfast sessions list shows those there are",
    });
  }
  const head = JSON.parse(stored.head) as Head;
  if (head.version !== 1 || head.behaviour > ports.director.behaviour) {
    throw new HoldfastError("session_newer", `session ${session} was written by a newer version of Holdfast`, { hint: "update Holdfast" });
  }
  const registers = createRegisters();
  registers.put(
    stored.registers.map(({ kind, key, value }) => ({ kind: kind as RegisterKind, key, value: value === null ? null : JSON.parse(value) })),
  );
  const window = createWindow();
  for (const event of await ports.log.read(session, head.windowStart)) {
    const parsed = readEvent(event);
    if (parsed !== null) window.add(parsed);
  }
  return {
    ports,
    session,
    options,
    head,
    registers,
    window,
    staged: { events: [], puts: [], taken: [], blobs: [], at: 0 },
    attachable: new Set(),
    created: undefined,
  };
}

/** A stored event in the current version; null where its payload was erased. */
export function readEvent(event: StoredEvent): SessionEvent | null {
  if (event.version > eventVersion) {
    throw new HoldfastError("session_newer", `event ${event.seq} of ${event.session} has version ${event.version}`, {
      hint: "update Holdfast",
    });
  }
  return event.payload === null ? null : ({ type: event.type, payload: JSON.parse(event.payload) } as SessionEvent);
}
