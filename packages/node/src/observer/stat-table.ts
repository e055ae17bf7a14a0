import { setImmediate as nextTurn } from "node:timers/promises";
import { lookHelper } from "./helper.ts";
import { type FileStat, type Looking, lookAtSome, numbersARow, numbersOf, turns, verdicts } from "./look-rows.ts";

/** From so many files on a second thread is worth what it costs to start and to tell it their names. */
const worthHelp = 10_000;

export interface Row {
  readonly stat: FileStat;
  /** Where the table has it. */
  row: number;
}

/** The stats of known files, laid out so that two threads can compare them. */
export interface StatTable<E extends Row> {
  /** Another entry of a file, or a file that is new. */
  set(path: string, entry: E, earlier: E | undefined): void;
  /** Of a file that is gone. */
  drop(entry: E): void;
  /** Looks at every file, and says of each what was found. */
  look(root: string, found: (path: string, entry: E, verdict: number) => void): Promise<void>;
}

let tables = 0;

export function createStatTable<E extends Row>(): StatTable<E> {
  const number = (tables += 1);
  let stats = new SharedArrayBuffer(1_024 * numbersARow * Float64Array.BYTES_PER_ELEMENT);
  let names: string[] = [];
  let entries: (E | null)[] = [];
  let dropped = 0;
  /** Rows whose names the helper has been told. */
  let told = 0;

  const write = (row: number, { stat }: E): void => {
    const needed = (row + 1) * numbersARow * Float64Array.BYTES_PER_ELEMENT;
    if (needed > stats.byteLength) {
      const wider = new SharedArrayBuffer(2 * needed);
      new Uint8Array(wider).set(new Uint8Array(stats));
      stats = wider;
    }
    new Float64Array(stats).set(numbersOf(stat), row * numbersARow);
  };
  const add = (path: string, entry: E): void => {
    entry.row = names.push(path) - 1;
    entries.push(entry);
    write(entry.row, entry);
  };
  /** Rows of files that are gone are looked at as well: past half of all they are left out. */
  const tidy = (): void => {
    if (2 * dropped <= names.length) return;
    const [oldNames, oldEntries] = [names, entries];
    [names, entries, dropped, told] = [[], [], 0, 0];
    for (const [row, entry] of oldEntries.entries()) if (entry !== null) add(oldNames[row] ?? "", entry);
  };
  return {
    set(path, entry, earlier) {
      if (earlier === undefined || entries[earlier.row] !== earlier) {
        add(path, entry);
        return;
      }
      entry.row = earlier.row;
      entries[entry.row] = entry;
      write(entry.row, entry);
    },
    drop(entry) {
      if (entries[entry.row] !== entry) return;
      entries[entry.row] = null;
      dropped += 1;
    },
    async look(root, found) {
      tidy();
      const [seen, own, count] = [entries, names, names.length];
      const looking: Looking = {
        table: number,
        root,
        names: [],
        from: told,
        count,
        stats,
        verdicts: new SharedArrayBuffer(count),
        turn: new SharedArrayBuffer(Object.keys(turns).length * Int32Array.BYTES_PER_ELEMENT),
      };
      const asked = count < worthHelp ? undefined : lookHelper()?.ask({ ...looking, names: own.slice(told) });
      if (asked !== undefined) told = count;
      while (lookAtSome(looking, own)) await nextTurn();
      await asked?.isDone();
      const verdict = new Uint8Array(looking.verdicts);
      for (let row = 0; row < count; row += 1) {
        const entry = seen[row];
        if (entry != null) found(own[row] ?? "", entry, verdict[row] ?? verdicts.open);
      }
    },
  };
}
