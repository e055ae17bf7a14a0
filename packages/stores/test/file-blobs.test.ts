import { openFileBlobs } from "@holdfast/stores/file-blobs";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeBlobs } from "./blob-conformance.ts";
import { mountSmallDisk, mountable } from "./disk.ts";
import { temporaryFolder } from "./folder.ts";

const hour = 60 * 60 * 1000;
const bytesOf = (text: string) => new TextEncoder().encode(text);

describeBlobs("files", async () => {
  const { folder, dispose } = temporaryFolder();
  return { blobs: openFileBlobs(join(folder, "blobs")), dispose };
});

describe("the content store in files", () => {
  let folder: string;
  let dispose: () => Promise<void>;
  beforeEach(() => {
    ({ folder, dispose } = temporaryFolder());
    folder = join(folder, "home", "blobs");
  });
  afterEach(() => dispose());
  const pathOf = (id: string) => join(folder, id.slice(0, 2), id);
  const age = (path: string, ageMs: number) => utimesSync(path, new Date(Date.now() - ageMs), new Date(Date.now() - ageMs));

  it("that was deleted while in use is not begun anew without its salt", async () => {
    const blobs = openFileBlobs(folder);
    await blobs.put(bytesOf("one"));
    rmSync(folder, { recursive: true });
    await expect(blobs.put(bytesOf("two"))).rejects.toMatchObject({ code: "store_failed" });
    expect(existsSync(folder)).toBe(false);
    const id = await openFileBlobs(folder).put(bytesOf("three"));
    expect(await openFileBlobs(folder).has(id)).toBe(true);
  });

  it("is private to its user", async () => {
    await openFileBlobs(folder).put(bytesOf("a"));
    for (const entry of readdirSync(join(folder, ".."), { recursive: true, withFileTypes: true })) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect([entry.name, mode.toString(8)]).toEqual([entry.name, entry.isDirectory() ? "700" : "600"]);
    }
  });

  it("finds its content again with the same ids after it was opened anew", async () => {
    const id = await openFileBlobs(folder).put(bytesOf("a"));
    const again = openFileBlobs(folder);
    expect(await again.get(id)).toEqual(bytesOf("a"));
    expect(await again.put(bytesOf("a"))).toBe(id);
  });

  it("names content by the salt and the bytes", async () => {
    const id = await openFileBlobs(folder).put(bytesOf("a"));
    expect(id).toBe(
      createHash("sha256")
        .update(readFileSync(join(folder, "salt")))
        .update("a")
        .digest("hex"),
    );
    expect(readdirSync(join(folder, "drafts"))).toEqual([]);
  });

  it("has one salt when many processes make the store at once", async () => {
    const child = fileURLToPath(new URL("./children/put-blob.ts", import.meta.url));
    const run = promisify(execFile);
    const ids = await Promise.all(Array.from({ length: 4 }, async () => (await run(process.execPath, [child, folder, "same"])).stdout));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  it("tells damaged content and a lost salt from missing content", async () => {
    const blobs = openFileBlobs(folder);
    const [cut, changed] = [await blobs.put(bytesOf("cut off")), await blobs.put(bytesOf("changed"))];
    truncateSync(pathOf(cut), 3);
    writeFileSync(pathOf(changed), "Changed");
    await expect(blobs.get(cut)).rejects.toMatchObject({ code: "session_corrupt" });
    await expect(blobs.get(changed)).rejects.toMatchObject({ code: "session_corrupt" });
    truncateSync(join(folder, "salt"), 31);
    expect(() => openFileBlobs(folder)).toThrow(expect.objectContaining({ code: "session_corrupt" }));
    rmSync(join(folder, "salt"));
    expect(() => openFileBlobs(folder)).toThrow(expect.objectContaining({ code: "session_corrupt" }));
  });

  it("writes content again over a file that was cut off", async () => {
    const blobs = openFileBlobs(folder);
    const id = await blobs.put(bytesOf("content"));
    truncateSync(pathOf(id), 3);
    expect(await blobs.put(bytesOf("content"))).toBe(id);
    expect(await blobs.get(id)).toEqual(bytesOf("content"));
  });

  it("keeps what was put again lately, however old its file is", async () => {
    const blobs = openFileBlobs(folder);
    const [fresh, stale] = [await blobs.put(bytesOf("fresh")), await blobs.put(bytesOf("stale"))];
    for (const id of [fresh, stale]) age(pathOf(id), 2 * hour);
    await blobs.put(bytesOf("fresh"));
    expect(await blobs.collect(new Set(), hour)).toBe(1);
    expect(await blobs.has(fresh)).toBe(true);
    expect(await blobs.has(stale)).toBe(false);
  });

  it("finishes a collection that was killed, giving back what is referred to", async () => {
    const blobs = openFileBlobs(folder);
    const doomed = (id: string) => join(folder, "doomed", id);
    const ids = [await blobs.put(bytesOf("referred to")), await blobs.put(bytesOf("put again")), await blobs.put(bytesOf("old"))];
    for (const id of ids) {
      writeFileSync(doomed(id), readFileSync(pathOf(id)));
      rmSync(pathOf(id));
    }
    const [referred, again, old] = ids as [string, string, string];
    age(doomed(referred), 2 * hour);
    age(doomed(old), 2 * hour);
    expect(await blobs.get(again)).toEqual(bytesOf("put again"));
    expect(await blobs.collect(new Set([referred]), hour)).toBe(1);
    expect(readdirSync(join(folder, "doomed"))).toEqual([]);
    expect([existsSync(pathOf(referred)), existsSync(pathOf(again)), existsSync(pathOf(old))]).toEqual([true, true, false]);
  });

  it("clears what killed writers left, and no file that is being written", async () => {
    const blobs = openFileBlobs(folder);
    const draft = (name: string) => join(folder, "drafts", name);
    for (const name of ["left", "being written"]) writeFileSync(draft(name), "half");
    age(draft("left"), 2 * hour);
    expect(await blobs.collect(new Set(), 0)).toBe(0);
    expect(readdirSync(join(folder, "drafts"))).toEqual(["being written"]);
  });

  it("says that it failed where its folder can't be used", () => {
    writeFileSync(join(folder, "..", "..", "file"), "");
    expect(() => openFileBlobs(join(folder, "..", "..", "file", "blobs"))).toThrow(expect.objectContaining({ code: "store_failed" }));
  });

  it.each(mountable(2))("says that the disk (%d MiB) is full, leaves nothing behind, and goes on once there is space", async (size) => {
    const disk = mountSmallDisk(size);
    try {
      const blobs = openFileBlobs(join(disk.folder, "blobs"));
      const id = await blobs.put(bytesOf("before"));
      disk.fill(16 * 1024);
      const large = new Uint8Array(256 * 1024).fill(7);
      await expect(blobs.put(large)).rejects.toMatchObject({ code: "store_full" });
      expect(readdirSync(join(disk.folder, "blobs", "drafts"))).toEqual([]);
      expect(await blobs.get(id)).toEqual(bytesOf("before"));
      disk.empty();
      expect(await blobs.get(await blobs.put(large))).toEqual(large);
    } finally {
      disk.unmount();
    }
  });
});
