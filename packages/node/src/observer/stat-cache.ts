import { appendFileSync, mkdirSync, readFileSync, renameSync, type Stats, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ManifestEntry } from "@holdfast/runtime";

/** What a file's content was when its stat looked like `signature`. */
export interface CachedDigest {
  readonly signature: string;
  /** Wall-clock ms before the stat that the digest belongs to. */
  readonly readAt: number;
  readonly kind: ManifestEntry["kind"];
  readonly digest: string;
  readonly size: number;
  /** Git's object id of the same bytes, null outside a repository. */
  readonly oid: string | null;
}

export interface StatCache {
  readonly paths: Iterable<string>;
  get(path: string, stat: Stats): CachedDigest | null;
  set(path: string, value: CachedDigest): void;
  /** Appends what is new; rewrites the file once half of it is out of date. */
  save(): void;
}

/** Size, mtime, ctime, inode and mode. Times in ms with the fraction a double holds (under a microsecond). */
export function statSignature(stat: Stats): string {
  return `${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.ino}:${stat.mode}`;
}

/**
 * A file may change again within one tick of the file system's clock and look the same. An entry counts only where it
 * was clearly older than its reading: by 100 ms, and by more than two seconds where the clock ticks in seconds.
 */
function isClearlyOlder(stat: Stats, readAt: number): boolean {
  const margin = Number.isInteger(stat.mtimeMs / 1000) || Number.isInteger(stat.ctimeMs / 1000) ? 2_100 : 100;
  return Math.max(stat.mtimeMs, stat.ctimeMs) + margin < readAt;
}

/** One file a root. It lies outside the workspace: whoever can write it can fake digests. */
export function openStatCache(file: string): StatCache {
  const entries = new Map<string, CachedDigest>();
  const fresh = new Map<string, CachedDigest>();
  let lines = 0;
  for (const line of textOf(file).split("\n")) {
    const [signature = "", readAt = "", kind = "", digest = "", size = "", oid = "", name = ""] = line.split("\t");
    // A line cut by a crash has no closing quote.
    if (!name.endsWith('"') || digest.length !== 64) continue;
    lines += 1;
    entries.set(JSON.parse(name) as string, {
      signature,
      readAt: Number(readAt),
      kind: kind as ManifestEntry["kind"],
      digest,
      size: Number(size),
      oid: oid === "" ? null : oid,
    });
  }
  return {
    get paths() {
      return entries.keys();
    },
    get(path, stat) {
      const entry = entries.get(path);
      return entry !== undefined && entry.signature === statSignature(stat) && isClearlyOlder(stat, entry.readAt) ? entry : null;
    },
    set(path, value) {
      entries.set(path, value);
      fresh.set(path, value);
    },
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
    lines.push(`${e.signature}\t${e.readAt}\t${e.kind}\t${e.digest}\t${e.size}\t${e.oid ?? ""}\t${JSON.stringify(path)}\n`);
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
