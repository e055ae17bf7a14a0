import type { BlobStore } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const hour = 60 * 60 * 1000;
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** What every content store must do. `open` gives an empty one. */
export function describeBlobs(
  name: string,
  open: () => Promise<{ readonly blobs: BlobStore; readonly dispose: () => Promise<void> }>,
): void {
  describe(`${name}: the content store`, () => {
    let blobs: BlobStore;
    let dispose: () => Promise<void>;
    beforeEach(async () => {
      ({ blobs, dispose } = await open());
    });
    afterEach(() => dispose());

    it("gives back any bytes", async () => {
      const all = Uint8Array.from({ length: 300_000 }, (_, index) => index % 256);
      for (const bytes of [all, new Uint8Array(0), all.subarray(5, 9)]) {
        const id = await blobs.put(bytes);
        expect(await blobs.has(id)).toBe(true);
        expect(await blobs.get(id)).toEqual(Uint8Array.from(bytes));
        expect(await blobs.size(id)).toBe(bytes.length);
      }
    });

    it("gives the same bytes one id, and other bytes another", async () => {
      const ids = await Promise.all([blobs.put(bytesOf("a")), blobs.put(bytesOf("a")), blobs.put(bytesOf("b"))]);
      expect(ids[0]).toBe(ids[1]);
      expect(ids[2]).not.toBe(ids[0]);
    });

    it("has ids that tell nobody the content", async () => {
      const other = await open();
      expect(await other.blobs.put(bytesOf("a"))).not.toBe(await blobs.put(bytesOf("a")));
      await other.dispose();
    });

    it("keeps its own copy", async () => {
      const bytes = bytesOf("content");
      const id = await blobs.put(bytes);
      bytes.fill(0);
      (await blobs.get(id))?.fill(0);
      expect(await blobs.get(id)).toEqual(bytesOf("content"));
    });

    it("knows nothing of ids it didn't give", async () => {
      for (const id of ["", "../salt", "0".repeat(64), "0".repeat(63)]) {
        expect(await blobs.get(id)).toBeNull();
        expect(await blobs.has(id)).toBe(false);
        expect(await blobs.size(id)).toBe(0);
        await blobs.delete(id);
      }
    });

    it("deletes, and takes the same content again", async () => {
      const id = await blobs.put(bytesOf("a"));
      await blobs.delete(id);
      await blobs.delete(id);
      expect(await blobs.get(id)).toBeNull();
      expect(await blobs.has(id)).toBe(false);
      expect(await blobs.put(bytesOf("a"))).toBe(id);
      expect(await blobs.get(id)).toEqual(bytesOf("a"));
    });

    it("collects what nobody refers to once its grace is over", async () => {
      const kept = await blobs.put(bytesOf("kept"));
      const lost = await blobs.put(bytesOf("lost"));
      expect(await blobs.collect(new Set([kept]), hour)).toBe(0);
      expect(await blobs.has(lost)).toBe(true);
      expect(await blobs.collect(new Set([kept, "f".repeat(64)]), 0)).toBe(1);
      expect(await blobs.get(lost)).toBeNull();
      expect(await blobs.get(kept)).toEqual(bytesOf("kept"));
      expect(await blobs.collect(new Set([kept]), 0)).toBe(0);
    });

    it("collects among those that are named alone, where some are", async () => {
      const [kept, named, other] = [await blobs.put(bytesOf("kept")), await blobs.put(bytesOf("named")), await blobs.put(bytesOf("other"))];
      expect(await blobs.collect(new Set([kept]), 0, new Set([kept, named]))).toBe(1);
      expect([await blobs.has(kept), await blobs.has(named), await blobs.has(other)]).toEqual([true, false, true]);
    });
  });
}
