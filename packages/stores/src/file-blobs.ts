/** The content store of one machine, a file a blob. Node only. */
export { openFileBlobs } from "./file-blobs/store.ts";
