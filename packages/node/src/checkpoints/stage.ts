import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, constants, fchmodSync, fsyncSync, openSync, symlinkSync, writeSync } from "node:fs";
import type { TreeNode } from "@holdfast/protocol";
import { outerPath } from "../sandbox/programs.ts";

/**
 * Makes a file, link or pipe as it was at `at`, where nothing is yet, durably. False where its content isn't kept any more.
 * A file is its owner's alone until it is whole. The program that makes a pipe runs as the user, outside the sandbox: none
 * from within `roots` is taken for it.
 */
export async function stage(
  at: string,
  node: TreeNode,
  pieces: AsyncIterable<Uint8Array | null>,
  roots: readonly string[],
): Promise<boolean> {
  switch (node.kind) {
    case "pipe":
      execFileSync("mkfifo", ["-m", (node.mode ?? 0o644).toString(8), at], {
        stdio: "ignore",
        env: { PATH: outerPath(process.env["PATH"], roots) },
      });
      return true;
    case "link": {
      const target = await whole(pieces);
      if (target === null || digestOf(target) !== node.digest) return false;
      symlinkSync(target, at);
      return true;
    }
    case "file":
      return stageFile(at, node, pieces);
    case "folder":
    case "other":
      return false;
  }
}

async function stageFile(at: string, node: TreeNode, pieces: AsyncIterable<Uint8Array | null>): Promise<boolean> {
  const hash = createHash("sha256");
  const fd = openSync(at, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    for await (const piece of pieces) {
      if (piece === null) return false;
      hash.update(piece);
      for (let written = 0; written < piece.length;) written += writeSync(fd, piece, written);
    }
    if (hash.digest("hex") !== node.digest) return false;
    fchmodSync(fd, node.mode ?? 0o644);
    fsyncSync(fd);
    return true;
  } finally {
    closeSync(fd);
  }
}

async function whole(pieces: AsyncIterable<Uint8Array | null>): Promise<Buffer | null> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) {
    if (piece === null) return null;
    all.push(piece);
  }
  return Buffer.concat(all);
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
