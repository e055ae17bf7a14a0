import { createHash, type Hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ManifestEntry } from "@holdfast/runtime";
import { statSignature } from "./stat-cache.ts";
import { isMissing, lookAt } from "../files/missing.ts";

export interface ReadDigest {
  readonly kind: ManifestEntry["kind"];
  readonly digest: string;
  readonly oid: string | null;
  readonly size: number;
  /** The content where it is small, so that it need not be read twice. */
  readonly bytes: Buffer | null;
  /** The stat of the file as it was read. */
  readonly stat: Stats;
}

/** Content up to this size is kept for later comparison. */
export const smallFile = 1024 * 1024;
const chunkSize = 1024 * 1024;
const attempts = 3;

export function kindOf(stat: Stats): ManifestEntry["kind"] {
  if (stat.isSymbolicLink()) return "link";
  if (!stat.isFile()) return "other";
  return (stat.mode & 0o100) === 0 ? "file" : "executable";
}

/** The mode that git's index has for it. */
export function gitMode(kind: ManifestEntry["kind"]): string {
  return kind === "executable" ? "100755" : kind === "link" ? "120000" : kind === "submodule" ? "160000" : "100644";
}

/**
 * Digest of what lies at `path`: a file's bytes, a link's target. Nothing else is opened (a FIFO would wait for ever);
 * what can't be read is told apart by its stat alone. `oidLength` is that of the repository's object ids, 0 for none.
 */
export async function readDigest(path: string | Buffer, stat: Stats, oidLength: number): Promise<ReadDigest | null> {
  const kind = kindOf(stat);
  try {
    if (kind === "link") {
      const bytes = readlinkSync(path, "buffer");
      return { kind, ...digestOf(bytes, oidLength), size: bytes.length, bytes, stat };
    }
    if (kind === "other") return { kind, digest: sha(statSignature(stat)), oid: null, size: 0, bytes: null, stat };
    return await readFile(path, oidLength);
  } catch (error) {
    // A link that came meanwhile is refused as ELOOP, and is there.
    if (isMissing(error) && lookAt(path) === undefined) return null;
    return { kind: "other", digest: sha(`unreadable ${statSignature(stat)}`), oid: null, size: stat.size, bytes: null, stat };
  }
}

async function readFile(path: string | Buffer, oidLength: number): Promise<ReadDigest> {
  // Named pipes could have taken the file's place since the stat: O_NONBLOCK keeps the open from waiting.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    for (let attempt = 1; ; attempt += 1) {
      const before = fstatSync(fd);
      if (!before.isFile()) return { kind: "other", digest: sha(statSignature(before)), oid: null, size: 0, bytes: null, stat: before };
      const read = before.size <= smallFile ? readSmall(fd, before.size, oidLength) : await readLarge(fd, before.size, oidLength);
      const after = fstatSync(fd);
      // A file written while it was read gives a torn digest; the last attempt stands but matches no later stat.
      if (statSignature(after) === statSignature(before) || attempt === attempts) {
        return { kind: kindOf(before), ...read, stat: before };
      }
    }
  } finally {
    closeSync(fd);
  }
}

/** Digest of a large file, whose pieces are handed on; null where there is no such file. */
export async function readPieces(path: string | Buffer, onPiece: (piece: Uint8Array) => void): Promise<string | null> {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    return fstatSync(fd).isFile() ? (await readLarge(fd, 0, 0, onPiece)).digest : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

function readSmall(fd: number, size: number, oidLength: number): { digest: string; oid: string | null; size: number; bytes: Buffer } {
  const buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (let read = 1; read > 0 && length <= size; length += read) read = readSync(fd, buffer, length, size + 1 - length, length);
  const bytes = buffer.subarray(0, length);
  return { ...digestOf(bytes, oidLength), size: length, bytes };
}

async function readLarge(
  fd: number,
  size: number,
  oidLength: number,
  onPiece?: (piece: Uint8Array) => void,
): Promise<{ digest: string; oid: string | null; size: number; bytes: null }> {
  const content = createHash("sha256");
  const object = objectHash(oidLength, size);
  const chunk = Buffer.allocUnsafe(chunkSize);
  let position = 0;
  for (let read = 1; read > 0; position += read) {
    read = readSync(fd, chunk, 0, chunkSize, position);
    content.update(chunk.subarray(0, read));
    object?.update(chunk.subarray(0, read));
    onPiece?.(chunk.subarray(0, read));
    if (position % (16 * chunkSize) === 0) await nextTurn();
  }
  return { digest: content.digest("hex"), oid: object?.digest("hex") ?? null, size: position, bytes: null };
}

function digestOf(bytes: Uint8Array, oidLength: number): { digest: string; oid: string | null } {
  return { digest: sha(bytes), oid: objectHash(oidLength, bytes.length)?.update(bytes).digest("hex") ?? null };
}

/** Git's name for a blob: a hash over its type, length and bytes; SHA-1, or SHA-256 in repositories that use it. */
function objectHash(oidLength: number, size: number): Hash | null {
  if (oidLength === 0) return null;
  return createHash(oidLength === 64 ? "sha256" : "sha1").update(`blob ${size}\0`);
}

function sha(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
