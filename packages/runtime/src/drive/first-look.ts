import type { CheckDefinition, EventPayload } from "@holdfast/protocol";
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

const readAtOnce = 200;

/** The first look at the workspace that a log tells of; of a fork, the first that the session it was made of took. */
export function firstLook(events: readonly RecordedEvent[]): FirstLook | null {
  for (const event of events) {
    const tree = treeOf(event);
    if (tree === undefined) continue;
    const { subject, manifest, blobs } = tree;
    return manifest === null ? null : { seq: event.seq, subject, manifest, blobs, isBaseline: event.type === "baseline.recorded" };
  }
  return null;
}

function treeOf(event: RecordedEvent): Pick<EventPayload<"snapshot.recorded">, "subject" | "manifest" | "blobs"> | undefined {
  if (event.type === "session.forked") return event.payload.tree;
  return event.type === "snapshot.recorded" || event.type === "baseline.recorded" ? event.payload : undefined;
}

/**
 * The session's baseline so far; where checks come only after it changed something, one with the tree of its first look, and
 * no more. Constraints alone are about what follows them.
 */
export async function earlierBaseline(driver: Driver, checks: readonly CheckDefinition[]): Promise<RegisterKinds["baseline"] | null> {
  const known = driver.registers.get("baseline", "");
  if (checks.every(({ constraint }) => constraint !== undefined)) return known;
  const look = await firstLookIn(driver);
  if (look === null || look.isBaseline || known?.tree === look.seq) return known;
  const { seq, subject, manifest } = look;
  return { evidence: known?.evidence ?? [], inputs: known?.inputs ?? null, subject, manifest, tree: seq };
}

/** It stands near the beginning: of a long log no more is read than leads to it. */
async function firstLookIn({ ports, session, head }: Driver): Promise<FirstLook | null> {
  for (let from = 1; from <= head.seq; from += readAtOnce) {
    const events = readEvents(await ports.log.read(session, from, from + readAtOnce - 1));
    if (events.some((event) => treeOf(event) !== undefined)) return firstLook(events);
  }
  return null;
}
