/** The content store of one machine, a file a blob. Node only. */
export { inspectBlobs, type BlobLook } from "./file-blobs/orphans.ts";
export { openFileBlobs } from "./file-blobs/store.ts";
