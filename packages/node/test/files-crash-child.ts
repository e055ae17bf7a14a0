import * as fs from "node:fs";
import { createFiles } from "../src/files/index.ts";
import type { FileOperations } from "../src/files/file-operations.ts";

/** Applies edits and meets a signal just before its `stopAt`th change to the file system. */
const [root, lockDir, stopAt, signal, edits] = process.argv.slice(2) as [string, string, string, NodeJS.Signals, string];

let count = 0;
const operations = new Proxy(fs as FileOperations, {
  get(target, name: keyof FileOperations) {
    return (...args: never[]) => {
      if (count++ === Number(stopAt)) process.kill(process.pid, signal);
      return (target[name] as (...all: never[]) => unknown)(...args);
    };
  },
});
const files = createFiles({ cwd: root, roots: [{ id: "main", path: root }], lockDir, operations });
const result = await files.apply(
  (JSON.parse(edits) as { path: string; before: string | null; after: string | null; afterDigest: string | null; mode: null }[]).map(
    (edit) => ({
      ...edit,
      after: edit.after === null ? null : new TextEncoder().encode(edit.after),
    }),
  ),
  { session: "session_1", callId: "call_1", attempt: 1 },
);
process.stdout.write(JSON.stringify({ result, count }));
