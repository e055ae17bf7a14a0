import type { CheckDefinition } from "@holdfast/protocol";
import type { RegisterKinds } from "../kernel/state.ts";
import type { RecordedEvent } from "../ports/index.ts";
import { readEvents } from "../session/stored.ts";
import type { Driver } from "./driver.ts";

/** The workspace before anything that the session did, and the event that has it. */
export interface FirstLook {
  readonly seq: number;
  readonly subject: string;
  readonly manifest: string;
  readonly blobs: readonly string[];
  readonly isBaseline: boolean;
}

/** The first look at the workspace that a log tells of; of a fork, the first that the session it was made of took. */
export function firstLook(events: readonly RecordedEvent[]): FirstLook | null {
  for (const event of events) {
    const tree = event.type === "session.forked" ? event.payload.tree : isLook(event) ? event.payload : undefined;
    if (tree === undefined) continue;
    const { subject, manifest, blobs } = tree;
    return manifest === null ? null : { seq: event.seq, subject, manifest, blobs, isBaseline: event.type === "baseline.recorded" };
  }
  return null;
}

function isLook(event: RecordedEvent): event is Extract<RecordedEvent, { type: "snapshot.recorded" | "baseline.recorded" }> {
  return event.type === "snapshot.recorded" || event.type === "baseline.recorded";
}

/**
 * The session's baseline so far; where checks come only after it changed something, one with the tree of its first look, and
 * no more. Constraints alone are about what follows them.
 */
export async function earlierBaseline(driver: Driver, checks: readonly CheckDefinition[]): Promise<RegisterKinds["baseline"] | null> {
  const known = driver.registers.get("baseline", "");
  if (checks.every(({ constraint }) => constraint !== undefined)) return known;
  const look = firstLook(readEvents(await driver.ports.log.read(driver.session, 1)));
  if (look === null || look.isBaseline || known?.tree === look.seq) return known;
  const { seq, subject, manifest } = look;
  return { evidence: known?.evidence ?? [], inputs: known?.inputs ?? null, subject, manifest, tree: seq };
}
