import type { Item } from "@holdfast/protocol";

/** An item as one wire writes it. `size` is its length for estimates, with an image counted as what it costs in tokens. */
export interface Piece {
  readonly size: number;
}

/** Image bytes of a blob; null where they are gone. */
export type ReadImage = (blob: string) => Promise<Uint8Array | null>;

/** How a wire turns items into its text: each encoded alone, then folded in order into a state that only grows. */
export interface Encoding<P extends Piece, S> {
  encode(item: Item, image: ReadImage): P | Promise<P>;
  start(): S;
  add(state: S, piece: P): void;
  /** The text as of now. The cost must not grow with the state beyond joining strings. */
  render(state: S): string;
}

export interface WindowText {
  readonly text: string;
  readonly size: number;
}

interface Kept<S> {
  readonly items: Item[];
  readonly state: S;
  size: number;
}

/** What four characters a token make of an image of common size (about 1,000 tokens). */
export const imageSize = 4000;

/**
 * Keeps the encoding of a growing window. Each item is encoded once, by identity, for as long as it lives. The fold of a
 * window is kept by its first item: where the items seen last time are a prefix of the new ones, only the rest is added.
 * What remains per step is a comparison of references, a microsecond for a thousand items. A window that changed inside
 * is folded anew from the kept pieces.
 */
export function createWindow<P extends Piece, S>(encoding: Encoding<P, S>) {
  const pieces = new WeakMap<Item, P>();
  const windows = new WeakMap<Item, Kept<S>>();

  function known(items: readonly Item[]): Kept<S> | null {
    const kept = items[0] === undefined ? undefined : windows.get(items[0]);
    if (kept === undefined || kept.items.length > items.length) return null;
    for (let i = kept.items.length - 1; i >= 0; i--) if (kept.items[i] !== items[i]) return null;
    return kept;
  }

  return async (items: readonly Item[], image: ReadImage): Promise<WindowText> => {
    const from = known(items)?.items.length ?? 0;
    for (let i = from; i < items.length; i++) {
      const item = items[i];
      if (item === undefined || pieces.has(item)) continue;
      const piece = encoding.encode(item, image);
      pieces.set(item, piece instanceof Promise ? await piece : piece);
    }
    // Looked up again: another request for the same window may have gone on while images were read.
    const kept = known(items) ?? { items: [], state: encoding.start(), size: 0 };
    for (let i = kept.items.length; i < items.length; i++) {
      const item = items[i];
      const piece = item === undefined ? undefined : pieces.get(item);
      if (item === undefined || piece === undefined) continue;
      encoding.add(kept.state, piece);
      kept.items.push(item);
      kept.size += piece.size;
    }
    if (items[0] !== undefined) windows.set(items[0], kept);
    return { text: encoding.render(kept.state), size: kept.size };
  };
}
