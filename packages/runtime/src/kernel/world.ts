import type { WorldSection } from "@holdfast/protocol";
import type { Registers } from "./state.ts";

/**
 * A section as it was recorded last and as it is seen now. `before` null: there is nothing to compare with, which is not the
 * same as nothing having changed. `now` null: it is no longer there.
 */
export interface WorldChange {
  readonly id: string;
  readonly before: WorldSection | null;
  readonly now: WorldSection | null;
  /** The head of each request shows it exactly as it is now. */
  readonly isAtStart: boolean;
}

/** `leftOut`: ids of what is there and not told for want of room: it is not gone. */
export function compareWorld(registers: Registers, seen: readonly WorldSection[], leftOut: readonly string[] = []): WorldChange[] {
  const ids = new Set([...leftOut, ...seen.map(({ id }) => id)]);
  const gone = registers.entries("worldNow").filter(([id]) => !ids.has(id));
  return [
    ...seen.map((now): WorldChange => {
      const isAtStart = registers.get("world", now.id)?.text === now.text;
      return { id: now.id, before: registers.get("worldNow", now.id), now, isAtStart };
    }),
    ...gone.map(([id, before]): WorldChange => ({ id, before, now: null, isAtStart: false })),
  ];
}

export function isNews({ before, now }: WorldChange): boolean {
  return before?.text !== now?.text;
}

/** What the head of each request shows, and is not so: sections as they are now, and the ids of those that are gone. */
export function sinceStart(registers: Registers): { readonly changed: WorldSection[]; readonly gone: string[] } {
  const changed = registers.entries("worldNow").flatMap(([id, now]) => (registers.get("world", id)?.text === now.text ? [] : [now]));
  const gone = registers.entries("world").flatMap(([id]) => (registers.get("worldNow", id) === null ? [id] : []));
  return { changed, gone };
}
