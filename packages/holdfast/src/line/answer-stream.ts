import type { AssistantMessage, Delta } from "@holdfast/protocol";
import { wrap } from "../render/layout.ts";
import { sanitizeOutput } from "../render/sanitize.ts";

/** One streamed item: its raw text so far, and what of it was shown. */
interface Streamed {
  raw: string;
  /** Units of `raw` whose lines are all shown. */
  finished: number;
  /** Lines shown of the paragraph after them. */
  shown: number;
  /** Length of `raw` at which the paragraph that grows is laid out again. */
  looksAt: number;
  isBroken: boolean;
}

/** A paragraph is laid out anew when it has grown by this part of itself, so that the work grows with its length alone. */
const growth = 16;

function begin(): Streamed {
  return { raw: "", finished: 0, shown: 0, looksAt: 0, isBroken: false };
}

/**
 * Shows an answer while it comes, a whole line at a time, so that it never gets in the way of what a person types. Deltas
 * may be lost; the item has the whole text and completes whatever was not shown.
 */
export function createAnswerStream(width: () => number): {
  take(delta: Delta): string[];
  complete(item: AssistantMessage): string[];
} {
  const items = new Map<string, Streamed>();

  /** Lines that no further text can change. Greedy wrapping keeps all but the last line of a growing paragraph. */
  const settled = (item: Streamed): string[] => {
    const lines: string[] = [];
    for (let end = item.raw.indexOf("\n", item.finished); end !== -1; end = item.raw.indexOf("\n", item.finished)) {
      lines.push(...paragraph(item.raw.slice(item.finished, end)).slice(item.shown));
      item.finished = end + 1;
      item.shown = 0;
    }
    // A word that still grows may yet turn out to be part of an escape sequence or of a joined character.
    const whole = item.raw.slice(item.finished, item.raw.lastIndexOf(" ") + 1);
    const growing = paragraph(whole).slice(0, -1);
    lines.push(...growing.slice(item.shown));
    item.shown = Math.max(item.shown, growing.length);
    return lines;
  };
  const paragraph = (text: string): string[] => wrap(sanitizeOutput(text), width());

  return {
    take: (delta) => {
      if (delta.type === "item.retracted") {
        const item = items.get(delta.itemId);
        items.delete(delta.itemId);
        return item !== undefined && (item.finished > 0 || item.shown > 0) ? ["(cut off: the answer above is not used)"] : [];
      }
      if (delta.type !== "text.delta") return [];
      const item = items.get(delta.itemId) ?? begin();
      items.set(delta.itemId, item);
      if (item.isBroken || delta.offset !== item.raw.length) {
        item.isBroken = true;
        return [];
      }
      item.raw += delta.text;
      // Not even looked into: that would copy all of it.
      if (item.raw.length < item.looksAt && !delta.text.includes("\n")) return [];
      const lines = settled(item);
      item.looksAt = item.raw.length + Math.floor((item.raw.length - item.finished) / growth);
      return lines;
    },
    complete: (message) => {
      const item = items.get(message.id) ?? begin();
      items.delete(message.id);
      if (!message.text.startsWith(item.raw)) return paragraph(message.text);
      item.raw = message.text;
      const lines = settled(item);
      const rest = item.raw.slice(item.finished);
      return rest.trim() === "" ? lines : [...lines, ...paragraph(rest).slice(item.shown)];
    },
  };
}
