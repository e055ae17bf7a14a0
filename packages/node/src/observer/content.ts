import { createHash } from "node:crypto";
import type { PieceReader } from "@holdfast/runtime";
import type { Git } from "./git.ts";
import { readDigest, readPieces, smallFile } from "./digest.ts";
import type { KeptContents } from "./kept.ts";
import type { FileRecord } from "./manifest.ts";
import { fsPath } from "./names.ts";
import { repoFolder, rootPath } from "./snapshot.ts";
import { lookAt } from "../files/missing.ts";

export interface Contents {
  /** The content a manifest lists: kept, from git's objects, or still on disk. Null where it can't be had any more. */
  read(record: FileRecord): Promise<Uint8Array | null>;
  /** The same in pieces, also of a file on disk that is too large to be read whole. */
  look<T>(record: FileRecord, begin: () => PieceReader<T>): Promise<T | null>;
}

export function createContents(git: Git, roots: readonly { readonly id: string; readonly path: string }[], kept: KeptContents): Contents {
  const isRight = (record: FileRecord, bytes: Uint8Array | null): bytes is Uint8Array =>
    bytes !== null && createHash("sha256").update(bytes).digest("hex") === record.digest;
  const contents: Contents = {
    async look(record, begin) {
      const root = rootPath(roots, record.root);
      const path = root === null ? null : fsPath(root, record.path);
      const stat = path === null ? undefined : lookAt(path);
      if (path !== null && record.kept === null && stat?.isFile() === true && stat.size === record.size && stat.size > smallFile) {
        const reader = begin();
        if ((await readPieces(path, (piece) => reader.take(piece))) === record.digest) return reader.end();
      }
      const bytes = await contents.read(record);
      if (bytes === null) return null;
      const reader = begin();
      reader.take(bytes);
      return reader.end();
    },
    async read(record) {
      const root = rootPath(roots, record.root);
      if (root === null || record.kind === "submodule" || record.kind === "other") return null;
      if (record.kept !== null) {
        const bytes = await kept.read(record.kept, record.size);
        if (isRight(record, bytes)) return bytes;
      }
      const path = fsPath(root, record.path);
      const stat = lookAt(path);
      const read = stat === undefined ? null : await readDigest(path, stat, 0);
      if (read !== null && isRight(record, read.bytes)) return read.bytes;
      if (record.oid === null) return null;
      const object = await git(repoFolder(root, record), ["cat-file", "blob", record.oid]);
      return object.code === 0 && isRight(record, object.stdout) ? object.stdout : null;
    },
  };
  return contents;
}
