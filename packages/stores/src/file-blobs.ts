/** The content store of one machine, a file a blob. Node only. */
export { examineContents, type ContentsLook } from "./file-blobs/examine.ts";
export { inspectBlobs, type BlobLook } from "./file-blobs/orphans.ts";
export { openFileBlobs } from "./file-blobs/store.ts";
export { unusableBlobs } from "./file-blobs/unusable.ts";
