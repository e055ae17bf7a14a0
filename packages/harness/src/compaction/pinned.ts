import type { CompactedEntry } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { valuesIn } from "../values/kinds.ts";

/** Results and messages whose exact values stay in the window: those of the work that is going on. */
const latest = 8;
const mostLines = 40;
const longest = 300;

/** Too common to be worth a place by themselves. */
const weak: ReadonlySet<string> = new Set(["number", "name", "quoted", "amount"]);

/** Lines of the last results that hold an exact value, word for word. */
export function pinned(events: CompactionInput["events"]): CompactedEntry[] {
  const results = events.flatMap((event) => (event.type === "call.settled" ? [event.payload.result] : [])).slice(-latest);
  const found = new Map<string, CompactedEntry>();
  for (const { id, callId, text } of results) {
    for (const one of text.split("\n")) {
      const line = one.trim();
      if (line.length > longest || !valuesIn(line).some(({ kind }) => !weak.has(kind))) continue;
      found.delete(line);
      found.set(line, { section: "exactValues", text: `- ${line}`, from: [id, callId] });
    }
  }
  return [...found.values()].slice(-mostLines);
}
