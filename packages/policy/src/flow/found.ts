import type { Finding } from "./finding.ts";
import type { FlowMemory } from "./memory.ts";
import type { Origin } from "./origin.ts";
import { isPointedTo } from "./origin.ts";
import type { Slot } from "./slots.ts";

const asWhat: Readonly<Record<string, string>> = {
  address: "where it goes",
  target: "what it acts on",
  place: "the place",
  secret: "a secret",
  time: "the day",
  amount: "the amount",
};

/** What speaks against a value, and where it stood, for the person. */
export function finding(
  memory: FlowMemory,
  type: Finding["type"],
  id: string,
  { path, value }: Slot,
  { from, tool, pieces }: Origin,
  isAnother = false,
): Finding {
  const where =
    from === "prose"
      ? `stands only in text that others wrote (${tool ?? "a message"})`
      : from === "field"
        ? `comes from ${tool}, from a record that your words don't point to`
        : from === "user"
          ? "is in your words, and they say that it goes to somebody else"
          : from === "meant"
            ? `comes from ${tool}, and your words name somebody else`
            : "is neither in your words nor in anything that was read";
  return {
    type,
    id,
    path,
    value: String(value),
    sentence: `${path} (${asWhat[id] ?? id}), ${JSON.stringify(String(value).slice(0, 80))}, ${where}.`,
    isPointedTo: !isAnother && pieces.some((piece) => isPointedTo(memory, piece)),
  };
}
