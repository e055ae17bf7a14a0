import type { CompactedEntry, CompactionReport, CompactionTrigger } from "@holdfast/protocol";
import type { Ports } from "../ports/index.ts";
import { readShown } from "./shown.ts";

/** One shortening of a session's conversation, or a try that left the old window. */
export interface Compaction {
  readonly number: number;
  readonly seq: number;
  readonly at: number;
  readonly trigger: CompactionTrigger;
  /** Null where it failed: then `reason` says why. */
  readonly report: CompactionReport | null;
  readonly entries: readonly CompactedEntry[];
  readonly reason: string | null;
}

/** All compactions of a session, oldest first. */
export async function compactionsOf({ log }: Pick<Ports, "log">, session: string): Promise<Compaction[]> {
  const found: Compaction[] = [];
  let trigger: CompactionTrigger = "tokens";
  for (const event of readShown(await log.read(session, 1))) {
    const about = { number: found.length + 1, seq: event.seq, at: event.at };
    if (event.type === "compaction.started") trigger = event.payload.trigger;
    if (event.type === "window.compacted") {
      const { report, entries } = event.payload;
      found.push({ ...about, trigger: event.payload.trigger, report, entries, reason: null });
    }
    if (event.type === "compaction.failed") found.push({ ...about, trigger, report: null, entries: [], reason: event.payload.reason });
  }
  return found;
}

/** What the later of two has that the earlier hasn't, and the other way round. */
export function compareCompactions(
  earlier: Compaction | undefined,
  later: Compaction,
): { readonly added: string[]; readonly gone: string[] } {
  const textsOf = (one: Compaction | undefined): string[] =>
    (one?.entries ?? []).map(({ text }) => text.trim()).filter((text) => text !== "");
  const [before, after] = [new Set(textsOf(earlier)), new Set(textsOf(later))];
  return { added: [...after].filter((text) => !before.has(text)), gone: [...before].filter((text) => !after.has(text)) };
}
