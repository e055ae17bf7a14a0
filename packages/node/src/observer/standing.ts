import { realpathSync } from "node:fs";
import type { Standing } from "@holdfast/runtime";
import { isMissing, lookAt, lookThrough } from "../files/missing.ts";
import { readDigest } from "./digest.ts";

/** What stands at `path`: a link as itself, or what it leads to. Null where there is nothing. */
export async function standingAt(path: string, throughLinks: boolean): Promise<Standing | null> {
  try {
    const stat = throughLinks ? lookThrough(path) : lookAt(path);
    if (stat === undefined) return null;
    if (stat.isDirectory()) return { kind: "folder", digest: "", size: 0 };
    const read = await readDigest(throughLinks ? realpathSync(path) : path, stat, 0);
    return read === null ? null : { kind: read.kind, digest: read.digest, size: read.size };
  } catch (error) {
    return isMissing(error) ? null : { kind: "unknown", digest: "", size: 0 };
  }
}
