import type { Item, Notice, SessionEvent, ToolSpec } from "@holdfast/protocol";
import { itemChars } from "./change.ts";
import { compactedItems } from "./compacted.ts";
import { itemsOf } from "./copies.ts";
import type { Head } from "./state.ts";

/** What the items of a window are at worst, tokens: all of them, and those that came since a provider counted a request. */
export interface Weight {
  readonly all: number;
  readonly since: number;
}

export const noWeight: Weight = { all: 0, since: 0 };

export function weighed(before: Weight, event: SessionEvent): Weight {
  if (event.type === "window.compacted") {
    const all = worstOfItems(compactedItems(event.payload));
    return { all, since: all };
  }
  const more = worstOfItems(itemsOf(event));
  const isCounted = event.type === "sampling.settled" && event.payload.usage.estimated !== true;
  return { all: before.all + more, since: isCounted ? more : before.since + more };
}

/** A token for each byte: no tokenizer makes more of a text. And what a wire has around an item. */
export function worstOfItems(items: readonly Item[]): number {
  const more = (item: Item): number => textsOf(item).reduce((sum, text) => sum + bytesOf(text) - text.length, definitions(item));
  return items.reduce((sum, item) => sum + itemChars(item) + more(item), 0);
}

/** Of tools that were found: a provider that takes them shows them beside the text, or in its place. */
function definitions(item: Item): number {
  return item.kind === "tool_result" && item.tools !== undefined ? bytesOf(JSON.stringify(item.tools)) : 0;
}

function textsOf(item: Item): readonly string[] {
  switch (item.kind) {
    case "user_message":
      return item.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
    case "assistant_message":
    case "notice":
      return [item.text];
    case "reasoning":
      return [item.text, ...(item.opaque === undefined ? [] : [JSON.stringify(item.opaque.payload)])];
    case "tool_call":
      return [item.name, item.input];
    case "tool_result":
      return [item.text];
  }
}

const encoder = new TextEncoder();

export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** What a provider may add of its own to instructions and tools, tokens. */
const ownWords = 4_000;

/** The parts of a request that stand before its items. */
export function worstOfFixed({
  instructions,
  tools,
  schema,
}: {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly schema: unknown;
}): number {
  return bytesOf(instructions) + bytesOf(JSON.stringify(tools)) + bytesOf(JSON.stringify(schema ?? null)) + ownWords;
}

/**
 * The worst case of the next request's input, tokens, without a cache hit: what the provider counted last, and all that came
 * since; before anything was counted, all of it. `fixed` is null where its fixed parts are those that were counted.
 */
export function worstInput({ measured }: Head, weight: Weight, fixed: number | null, notices: readonly Notice[] = []): number {
  return (measured === undefined ? weight.all : measured.tokens + weight.since) + (fixed ?? 0) + worstOfItems(notices);
}
