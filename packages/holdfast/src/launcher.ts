import { fileURLToPath } from "node:url";

/** The program as it is started. It lies beside the folder of the sources, and of the bundle. */
export const launcher = fileURLToPath(new URL("../bin/holdfast", import.meta.url));
