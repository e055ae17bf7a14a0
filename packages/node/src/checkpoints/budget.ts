import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { BlobStore } from "@holdfast/runtime";

/** What checkpoints keep on disk, over all sessions of a home, oldest first. */
export interface Budget {
  /** Room is made for so many bytes; the blob is then entered. Returns how many bytes of older content were let go. */
  enter(blob: string, bytes: number): Promise<number>;
}

interface Entry {
  readonly blob: string;
  readonly bytes: number;
}

/**
 * `file` has a line a blob: its id and its size. Where two processes write at once a line may be lost, and its blob then
 * stays as long as its session.
 */
export function openBudget(file: string, blobs: BlobStore, mostBytes: number): Budget {
  let entries: Entry[] | null = null;
  let sum = 0;
  return {
    async enter(blob, bytes) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (entries === null) {
        entries = readEntries(file);
        sum = entries.reduce((total, entry) => total + entry.bytes, 0);
      }
      entries.push({ blob, bytes });
      sum += bytes;
      if (sum <= mostBytes) {
        appendFileSync(file, `${blob}\t${bytes}\n`, { mode: 0o600 });
        return 0;
      }
      // What others have entered meanwhile counts as well.
      const found: Entry[] = [];
      // Those of deleted sessions have gone already.
      for (const entry of readEntries(file)) if (await blobs.has(entry.blob)) found.push(entry);
      entries = [...found, { blob, bytes }];
      sum = entries.reduce((total, entry) => total + entry.bytes, 0);
      let gone = 0;
      // A tenth more than needed, so that not every step has to make room.
      while (entries.length > 1 && sum > mostBytes * 0.9) {
        const oldest = entries.shift() as Entry;
        await blobs.delete(oldest.blob);
        sum -= oldest.bytes;
        gone += oldest.bytes;
      }
      const aside = `${file}.${process.pid}`;
      writeFileSync(aside, entries.map((entry) => `${entry.blob}\t${entry.bytes}\n`).join(""), { mode: 0o600 });
      renameSync(aside, file);
      return gone;
    },
  };
}

function readEntries(file: string): Entry[] {
  let text = "";
  try {
    text = readFileSync(file, "utf8");
  } catch {
    // The first.
  }
  return text.split("\n").flatMap((line) => {
    const [blob = "", bytes = ""] = line.split("\t");
    return /^[0-9a-f]{64}$/.test(blob) && bytes !== "" ? [{ blob, bytes: Number(bytes) }] : [];
  });
}
