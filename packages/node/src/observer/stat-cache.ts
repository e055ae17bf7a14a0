import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ManifestEntry } from "@holdfast/runtime";
import { type FileStat, verdicts } from "./look-rows.ts";
import type { FileRecord } from "./manifest.ts";
import { createStatTable } from "./stat-table.ts";

/** What a file's content was when its stat was this. Times in ms, with the fraction a double holds (under a microsecond). */
export interface CachedDigest {
  readonly stat: FileStat;
  /** Wall-clock ms before the stat that the digest belongs to. */
  readonly readAt: number;
  readonly kind: ManifestEntry["kind"];
  readonly digest: string;
  readonly size: number;
  /** Git's object id of the same bytes, null outside a repository. */
  readonly oid: string | null;
  /** The number of the look that last found it unchanged. */
  seenBy: number;
  /** The file's line in the last manifest, reused while it holds. */
  record: FileRecord | null;
  /** Its row in the table of the cache that it is in. */
  row: number;
}

export interface StatCache {
  readonly entries: ReadonlyMap<string, CachedDigest>;
  /** Looks at all files at once. What still holds gets the number, what is gone is forgotten. */
  look(root: string, number: number): Promise<void>;
  set(path: string, value: CachedDigest): void;
  /** Of a file that is gone. */
  forget(path: string): void;
  /** Appends what is new; rewrites the file once half of it is out of date. */
  save(): void;
}

let looks = 0;

/** A number for one look at the files of all roots, within this process. */
export function nextLook(): number {
  return (looks += 1);
}

/** Size, mtime, ctime, inode and mode. */
export function statSignature(stat: FileStat): string {
  return `${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.ino}:${stat.mode}`;
}

/**
 * A file may change again within one tick of the file system's clock and look the same. An entry counts only where it
 * was clearly older than its reading: by 100 ms, and by more than two seconds where the clock ticks in seconds.
 */
export function isClearlyOlder(stat: FileStat, readAt: number): boolean {
  const margin = Number.isInteger(stat.mtimeMs / 1000) || Number.isInteger(stat.ctimeMs / 1000) ? 2_100 : 100;
  return Math.max(stat.mtimeMs, stat.ctimeMs) + margin < readAt;
}

/** The digest in `entry` is still that of a file whose stat is `stat`. */
export function holds(entry: CachedDigest, stat: FileStat): boolean {
  const then = entry.stat;
  return (
    then.mtimeMs === stat.mtimeMs &&
    then.ctimeMs === stat.ctimeMs &&
    then.size === stat.size &&
    then.ino === stat.ino &&
    then.mode === stat.mode &&
    isClearlyOlder(stat, entry.readAt)
  );
}

/** One file a root. It lies outside the workspace: whoever can write it can fake digests. */
export function openStatCache(file: string): StatCache {
  const entries = new Map<string, CachedDigest>();
  const fresh = new Map<string, CachedDigest>();
  const table = createStatTable<CachedDigest>();
  let lines = 0;
  const put = (path: string, entry: CachedDigest): void => {
    table.set(path, entry, entries.get(path));
    entries.set(path, entry);
  };
  const forget = (path: string): void => {
    const entry = entries.get(path);
    if (entry !== undefined) table.drop(entry);
    entries.delete(path);
    fresh.delete(path);
  };
  for (const line of textOf(file).split("\n")) {
    const [signature = "", readAt = "", kind = "", digest = "", size = "", oid = "", name = ""] = line.split("\t");
    // A line cut by a crash has no closing quote.
    if (!name.endsWith('"') || digest.length !== 64) continue;
    const [bytes = 0, mtimeMs = 0, ctimeMs = 0, ino = 0, mode = 0] = signature.split(":").map(Number);
    lines += 1;
    put(JSON.parse(name) as string, {
      stat: { size: bytes, mtimeMs, ctimeMs, ino, mode },
      readAt: Number(readAt),
      kind: kind as ManifestEntry["kind"],
      digest,
      size: Number(size),
      oid: oid === "" ? null : oid,
      seenBy: 0,
      record: null,
      row: -1,
    });
  }
  return {
    entries,
    look: (root, number) =>
      table.look(root, (path, entry, verdict) => {
        if (verdict === verdicts.gone) forget(path);
        else if (verdict === verdicts.same && isClearlyOlder(entry.stat, entry.readAt)) entry.seenBy = number;
      }),
    set(path, value) {
      put(path, value);
      fresh.set(path, value);
    },
    forget,
    save() {
      if (fresh.size === 0) return;
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (lines + fresh.size > 2 * entries.size + 1_000) {
        const aside = `${file}.${process.pid}`;
        writeFileSync(aside, encode(entries), { mode: 0o600 });
        renameSync(aside, file);
        lines = entries.size;
      } else {
        appendFileSync(file, `\n${encode(fresh)}`, { mode: 0o600 });
        lines += fresh.size;
      }
      fresh.clear();
    },
  };
}

function encode(entries: ReadonlyMap<string, CachedDigest>): string {
  const lines: string[] = [];
  for (const [path, e] of entries) {
    lines.push(`${statSignature(e.stat)}\t${e.readAt}\t${e.kind}\t${e.digest}\t${e.size}\t${e.oid ?? ""}\t${JSON.stringify(path)}\n`);
  }
  return lines.join("");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
