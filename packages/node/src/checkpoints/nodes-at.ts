import { closeSync, constants, openSync, readFileSync, readlinkSync } from "node:fs";
import type { TreeNode } from "@holdfast/protocol";
import { readDigest } from "../observer/digest.ts";
import { holdBelow } from "./hold.ts";
import { nodeKind, permissions } from "./tree.ts";
import { lookAt } from "../files/missing.ts";

const mostRead = 16 * 1024 * 1024;

/** What the file or link at `path` below `root` holds now; null where there is none, or too large a one. */
export async function contentAt(root: string, path: string): Promise<Uint8Array | null> {
  return within(root, path, async (at) => {
    const stat = lookAt(at);
    if (stat?.isSymbolicLink() === true) return readlinkSync(at, "buffer");
    if (stat === undefined || !stat.isFile() || stat.size > mostRead) return null;
    const fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  }).catch(() => null);
}

/** What stands at `path` below `root` now; its content is known by its digest alone. */
export async function nodeAt(root: string, path: string): Promise<TreeNode | null> {
  return within(root, path, async (at) => {
    const stat = lookAt(at);
    if (stat === undefined) return null;
    const kind = nodeKind(stat.mode);
    const mode = kind === "link" ? null : permissions(stat.mode);
    if (kind !== "file" && kind !== "link") return { kind, mode, digest: null, size: 0, content: null };
    const read = await readDigest(at, stat, 0);
    return read === null ? null : { kind, mode, digest: read.digest, size: read.size, content: null };
  });
}

async function within<T>(root: string, path: string, work: (at: string | Buffer) => Promise<T>): Promise<T | null> {
  const parts = path.slice(root.length + 1).split("/");
  const name = parts.pop() ?? "";
  const held = holdBelow(root, parts);
  if (held === null) return null;
  try {
    return await work(held.of(name));
  } finally {
    held.close();
  }
}
