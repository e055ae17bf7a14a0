import { HoldfastError } from "@holdfast/protocol/error";
import type { BlobStore } from "@holdfast/runtime";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { collectBlobs } from "./collect.ts";
import { makeFolder, syncFolder, writeDurably } from "../durable-files.ts";
import { blobFailure, unlessMissing } from "./failure.ts";
import { blobPlaces } from "./places.ts";
import { openSalt } from "./salt.ts";

/**
 * Opens or makes a content store in this folder; many processes may use it at once. Acknowledged content survives the
 * death of the process and loss of power. Where `mayCollect` says no, a collection takes only what it names. Throws
 * `store_full`, `store_failed`, and `session_corrupt` for content that is not what was put.
 */
export function openFileBlobs(folder: string, mayCollect: () => Promise<boolean> = async () => true): BlobStore {
  const places = blobPlaces(resolve(folder));
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw blobFailure(error, places.folder);
    }
  };

  let salt: Uint8Array;
  try {
    for (const path of [places.folder, places.drafts, places.doomed]) makeFolder(path);
    salt = openSalt(places.folder);
  } catch (error) {
    throw blobFailure(error, places.folder);
  }
  const idOf = (bytes: Uint8Array): string => createHash("sha256").update(salt).update(bytes).digest("hex");

  /** True where the whole blob is there; it is young again then, so that collection leaves it alone. */
  const refresh = async (path: string, size: number): Promise<boolean> => {
    const now = new Date();
    return (await unlessMissing(stat(path)))?.size === size && (await unlessMissing(utimes(path, now, now).then(() => true))) === true;
  };

  return {
    put: (bytes) =>
      guard(async () => {
        const id = idOf(bytes);
        const path = places.of(id);
        if (!(await refresh(path, bytes.length))) {
          const draft = join(places.drafts, randomUUID());
          try {
            // First: where the whole store was deleted it fails here, and no new one without its salt is begun.
            await writeDurably(draft, bytes);
            makeFolder(dirname(path));
            await rename(draft, path);
          } catch (error) {
            await rm(draft, { force: true });
            throw error;
          }
        }
        syncFolder(dirname(path));
        return id;
      }),

    get: (id) =>
      guard(async () => {
        if (!places.isId(id)) return null;
        const bytes = (await unlessMissing(readFile(places.of(id)))) ?? (await unlessMissing(readFile(places.ofDoomed(id))));
        if (bytes === undefined) return null;
        if (idOf(bytes) !== id) {
          throw new HoldfastError("session_corrupt", `content ${id} is damaged: ${places.of(id)}`, {
            hint: "restore the file from a backup",
          });
        }
        return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
      }),

    has: async (id) => places.isId(id) && (existsSync(places.of(id)) || existsSync(places.ofDoomed(id))),

    size: (id) =>
      guard(async () => {
        if (!places.isId(id)) return 0;
        return ((await unlessMissing(stat(places.of(id)))) ?? (await unlessMissing(stat(places.ofDoomed(id)))))?.size ?? 0;
      }),

    delete: (id) =>
      guard(async () => {
        if (!places.isId(id)) return;
        await rm(places.of(id), { force: true });
        await rm(places.ofDoomed(id), { force: true });
        if (existsSync(dirname(places.of(id)))) syncFolder(dirname(places.of(id)));
      }),

    collect: (referenced, graceMs, among) =>
      guard(async () => {
        const isAllowed = among !== undefined || (await mayCollect());
        return isAllowed ? collectBlobs(places, (id) => !referenced.has(id) && among?.has(id) !== false, graceMs) : 0;
      }),
  };
}
