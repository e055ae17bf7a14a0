import type { TreeNode } from "@holdfast/protocol";
import type { Restore } from "@holdfast/runtime";
import { restoreTree } from "../src/checkpoints/restore.ts";

/** In these tests a content's place is the content. */
export async function* contentsOf(node: TreeNode): AsyncGenerator<Uint8Array | null> {
  yield node.content !== null && "whole" in node.content ? Buffer.from(node.content.whole) : null;
}

/** As a program: restores what it is sent, and is killed at the stop of this number, or at the first whose name begins so. */
const [root, home, at, session = "ses"] = process.argv.slice(2);
if (process.send !== undefined && root !== undefined && home !== undefined && at !== undefined) {
  process.on("message", (restore: Restore) => {
    let count = 0;
    const onStop = (what: string): void => {
      if (String(count++) === at || what.startsWith(at)) process.kill(process.pid, "SIGKILL");
    };
    void restoreTree({ home, roots: [root], pieces: contentsOf, onStop }, session, restore).then(() => process.exit(0));
  });
}
