/** What several threads share while they look at many files. It loads nothing that a thread of its own would have to. */
import type { Stats } from "node:fs";
import { lookAt } from "../files/missing.ts";
import { fsPath } from "./names.ts";

/** How a file looked, times in ms. */
export type FileStat = Pick<Stats, "size" | "mtimeMs" | "ctimeMs" | "ino" | "mode">;

/** The numbers of a file, in this order. */
export const numbersOf = ({ size, mtimeMs, ctimeMs, ino, mode }: FileStat): readonly number[] => [size, mtimeMs, ctimeMs, ino, mode];
export const numbersARow = 5;

/** What was found at a row's path. Rows that nobody has looked at are `open`. */
export const verdicts = { open: 0, same: 1, changed: 2, gone: 3 } as const;

/** The words of `Looking.turn`. */
export const turns = { next: 0, helpers: 1 } as const;

/** One look at all rows, which threads divide among themselves. */
export interface Looking {
  readonly table: number;
  readonly root: string;
  /** Names below the root that have come since the last look, from row `from` on. */
  readonly names: readonly string[];
  readonly from: number;
  readonly count: number;
  readonly stats: SharedArrayBuffer;
  readonly verdicts: SharedArrayBuffer;
  /** The next row that nobody looks at yet, and how many helpers are at work. */
  readonly turn: SharedArrayBuffer;
}

/** Rows that a thread takes at once, and looks at before other work gets its turn. */
const slice = 500;

/** Takes rows that nobody has taken and looks at them; false where none is left. */
export function lookAtSome({ root, count, ...shared }: Looking, names: readonly string[]): boolean {
  const from = Atomics.add(new Int32Array(shared.turn), turns.next, slice);
  if (from >= count) return false;
  const stats = new Float64Array(shared.stats);
  const found = new Uint8Array(shared.verdicts);
  for (let row = from; row < Math.min(from + slice, count); row += 1) {
    const name = names[row];
    if (name !== undefined) found[row] = lookAtRow(root, name, stats, row * numbersARow);
  }
  return true;
}

function lookAtRow(root: string, name: string, stats: Float64Array, at: number): number {
  const stat = lookAt(fsPath(root, name));
  if (stat === undefined) return verdicts.gone;
  const isSame =
    stats[at] === stat.size &&
    stats[at + 1] === stat.mtimeMs &&
    stats[at + 2] === stat.ctimeMs &&
    stats[at + 3] === stat.ino &&
    stats[at + 4] === stat.mode;
  return isSame ? verdicts.same : verdicts.changed;
}
