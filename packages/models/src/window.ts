import type { Item } from "@holdfast/protocol";
import type { Frame, Rendered } from "./joined.ts";

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
  /** The body as of now. The cost must not grow with the state beyond copying memory. */
  render(state: S, frame: Frame): Rendered;
}

export interface WindowBody extends Rendered {
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
 * What remains per step is a comparison of references, some microseconds for a thousand items. A window that changed inside
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

  return async (items: readonly Item[], image: ReadImage, frame: Frame): Promise<WindowBody> => {
    let kept = known(items);
    let hasWaited = false;
    for (let i = kept?.items.length ?? 0; i < items.length; i++) {
      const item = items[i];
      if (item === undefined || pieces.has(item)) continue;
      const piece = encoding.encode(item, image);
      hasWaited ||= piece instanceof Promise;
      pieces.set(item, piece instanceof Promise ? await piece : piece);
    }
    // Another request for the same window may have gone on while images were read.
    if (hasWaited) kept = known(items);
    kept ??= { items: [], state: encoding.start(), size: 0 };
    for (let i = kept.items.length; i < items.length; i++) {
      const item = items[i];
      const piece = item === undefined ? undefined : pieces.get(item);
      if (item === undefined || piece === undefined) continue;
      encoding.add(kept.state, piece);
      kept.items.push(item);
      kept.size += piece.size;
    }
    if (items[0] !== undefined) windows.set(items[0], kept);
    return { ...encoding.render(kept.state, frame), size: kept.size };
  };
}
