import type { BlobStore } from "@holdfast/runtime";

/** A content store of which nothing can be had: whatever asks it hears why. */
export function unusableBlobs(why: Error): BlobStore {
  const refuse = async (): Promise<never> => {
    throw why;
  };
  return { put: refuse, get: refuse, has: refuse, size: refuse, delete: refuse, collect: refuse };
}
