/** Makes the content store in a folder and puts one text: `put-blob FOLDER TEXT`. */
import { openFileBlobs } from "@holdfast/stores/file-blobs";

const [folder = "", text = ""] = process.argv.slice(2);
process.stdout.write(await openFileBlobs(folder).put(new TextEncoder().encode(text)));
