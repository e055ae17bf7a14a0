import type { Item, ToolResult, UserMessage } from "@holdfast/protocol";

/**
 * Bytes of images that a window shows at most, and what is left of them when that is passed: bodies have their limits, and each
 * request sends them again. From the one to the other at once, so that the rest of the window seldom changes.
 */
const mostBytes = 4_000_000;
const leftBytes = 2_000_000;
/** Taken for an image whose size was not recorded. */
const usualBytes = 1_000_000;

export const seenBefore = "[The same image stands above.]";
export const givenWay = "[Its image is no longer shown: older images give way to newer ones. The same call shows it again.]";

type Shown = UserMessage | ToolResult;

export function hasImages(item: Item): item is Shown {
  return imagesOf(item).length > 0;
}

/** An image that the window already shows comes as a word. */
export function withoutSeen(item: Item, items: readonly Item[]): Item {
  const shown = new Set(items.flatMap(imagesOf).map(({ blob }) => blob));
  return without(item, ({ blob }) => shown.has(blob), seenBefore);
}

/**
 * Where images are too many, those that came first go, results before what a person showed; the last item keeps its own. Items
 * that keep theirs keep their identity.
 */
export function withinBounds(items: readonly Item[]): readonly Item[] {
  const sizes = items.flatMap(imagesOf).map(({ bytes = usualBytes }) => bytes);
  let left = sizes.reduce((sum, size) => sum + size, 0);
  if (left <= mostBytes) return items;
  const last = items.findLast(hasImages);
  const older = items.filter((item) => item !== last);
  const gone = new Set<Item>();
  for (const item of [...older.filter(({ kind }) => kind === "tool_result"), ...older.filter(({ kind }) => kind === "user_message")]) {
    if (left <= leftBytes) break;
    const own = imagesOf(item).reduce((sum, { bytes = usualBytes }) => sum + bytes, 0);
    if (own === 0) continue;
    left -= own;
    gone.add(item);
  }
  return items.map((item) => (gone.has(item) ? without(item, () => true, givenWay) : item));
}

interface Image {
  readonly blob: string;
  readonly bytes?: number | undefined;
}

function imagesOf(item: Item): readonly Image[] {
  if (item.kind === "tool_result") return item.images ?? [];
  return item.kind === "user_message" ? item.parts.flatMap((part) => (part.type === "image" ? [part] : [])) : [];
}

function without(item: Item, isGone: (image: Image) => boolean, word: string): Item {
  if (!imagesOf(item).some(isGone)) return item;
  if (item.kind === "user_message")
    return { ...item, parts: item.parts.map((part) => (part.type === "image" && isGone(part) ? { type: "text", text: word } : part)) };
  if (item.kind !== "tool_result") return item;
  const { images = [], ...rest } = item;
  const left = images.filter((image) => !isGone(image));
  return { ...rest, text: `${item.text}\n${word}`, ...(left.length === 0 ? {} : { images: left }) };
}
