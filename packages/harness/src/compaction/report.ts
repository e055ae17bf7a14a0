import type { CompactedEntry, CompactedSection, CompactionReport, Item } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { textOf } from "./words.ts";

type Dropped = CompactionReport["dropped"][number];

/** What left the window, what stayed, and how each thing is got back. */
export function reportOf(
  { before, events, stays }: CompactionInput,
  entries: readonly CompactedEntry[],
  sections: ReadonlyMap<CompactedSection, readonly CompactedEntry[]>,
  dropped: readonly Dropped[],
  flags: readonly string[],
): CompactionReport {
  return {
    before,
    after: { chars: entries.reduce((sum, entry) => sum + entry.text.length + 1, 60) },
    kept: Object.fromEntries([...sections].map(([section, own]) => [section, own.length])),
    sizes: Object.fromEntries([...sections].map(([section, own]) => [section, own.reduce((sum, { text }) => sum + text.length, 0)])),
    dropped: [...leaving(events.flatMap(itemsIn).filter(({ id }) => stays?.has(id) !== true)), ...dropped],
    pinned: sections.get("exactValues")?.length ?? 0,
    flags: [...flags],
  };
}

/** What was in the window, by what it was. */
function leaving(items: readonly Item[]): Dropped[] {
  const found = new Map<string, Dropped>();
  const add = (what: string, back: string, chars: number): void => {
    const one = found.get(what) ?? { what, count: 0, chars: 0, back };
    found.set(what, { ...one, count: one.count + 1, chars: one.chars + chars });
  };
  for (const item of items) {
    switch (item.kind) {
      case "user_message":
        add(
          "messages of the user",
          "the state, which has them word for word, the newest first; holdfast sessions show SESSION --items",
          textOf(item).length,
        );
        break;
      case "assistant_message":
        add("answers of the model", "holdfast sessions show SESSION --items; what of them is exact: lookup", item.text.length);
        break;
      case "reasoning":
        add("thoughts of the model", "holdfast sessions show SESSION --items", item.text.length);
        break;
      case "tool_call":
        add("calls", "lookup, by words about them; holdfast sessions show SESSION --items", item.input.length);
        break;
      case "tool_result":
        if (item.output === undefined)
          add("results", "lookup, by words about what is exact in them; or the same call again", item.text.length);
        else add("results of which the whole is kept", "read_output with their handle; lookup for what is exact in them", item.text.length);
        for (const _ of item.images ?? []) add("images of results", "the same call again", 0);
        break;
      case "notice":
        add("notices", "the state, as far as they hold; holdfast sessions show SESSION --items", item.text.length);
        break;
    }
  }
  return [...found.values()];
}

function itemsIn(event: CompactionInput["events"][number]): readonly Item[] {
  switch (event.type) {
    case "turn.started":
    case "input.taken":
      return [event.payload.message];
    case "notice.added":
      return [event.payload.notice];
    case "sampling.settled":
      return event.payload.items;
    case "call.settled":
      return [event.payload.result];
    default:
      return [];
  }
}
