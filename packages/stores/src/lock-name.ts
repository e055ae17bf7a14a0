import type { Owner } from "@holdfast/runtime";
import { isSameProcess } from "@holdfast/runtime/same-process";

/**
 * A lock belongs to a session, and goes with it, where the session's id is a whole part of its name: `session:ID`,
 * `session/ID/call/7`. Ids hold no colon and no slash.
 */
export function belongsTo(lockName: string, session: string): boolean {
  return lockName.split(/[:/]/).includes(session);
}

/** The label counts: two sessions driven by one program are two owners. */
export function isSameOwner(a: Owner, b: Owner): boolean {
  return isSameProcess(a, b) && a.label === b.label;
}
