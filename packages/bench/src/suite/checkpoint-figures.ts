import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCheckpoints } from "@holdfast/node/checkpoints/create";
import { createObserver, openParts } from "@holdfast/node/observer/index";
import { openFileBlobs } from "@holdfast/stores/file-blobs";
import type { Field } from "./field.ts";
import type { Row } from "./row.ts";
import { number, rowOf } from "./row.ts";
import { median, ratios } from "./statistics.ts";
import { makeRepository } from "./workloads.ts";

const changes = {
  "a file changed": (folder: string, n: number) => appendFileSync(join(folder, "notes.txt"), `${n}\n`),
  "a file made": (folder: string, n: number) => writeFileSync(join(folder, `made-${n}.txt`), `${n}\n`),
  nothing: () => undefined,
} as const;

/** What is looked at and kept before a command, beside `git status` in the same repository, one after the other. */
export async function checkpointCost(field: Field, files: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of [20, files]) {
    const folder = field.folder("checkpoints");
    makeRepository(folder, count);
    const home = field.folder("checkpoints-home");
    const looked = {
      files: { cwd: folder, roots: [{ id: "r1", path: folder }] },
      blobs: openFileBlobs(join(home, "blobs")),
      cacheDir: join(home, "cache"),
      home,
    };
    const parts = openParts(looked);
    const { manifest } = await createObserver({ ...looked, parts }).snapshot(null);
    const checkpoints = createCheckpoints({ parts, blobs: looked.blobs, home, mostBytes: 1_000_000_000, onNote: () => undefined });
    await checkpoints.take({ session: "ses", commands: ["true"], manifest });
    // The first after a change of git's index reads more.
    execFileSync("git", ["status"], { cwd: folder, stdio: "ignore" });
    for (const [title, change] of Object.entries(changes)) {
      const [own, git]: [number[], number[]] = [[], []];
      for (let round = 0; round < field.rounds(count === files ? 11 : 31); round += 1) {
        change(folder, round);
        git.push(timed(() => void execFileSync("git", ["status"], { cwd: folder, stdio: "ignore" })));
        const begun = performance.now();
        checkpoints.ended("ses", []);
        await checkpoints.take({ session: "ses", commands: ["sed -i s/a/b/ notes.txt"], manifest });
        own.push(performance.now() - begun);
      }
      const note = `${number(median(own))} ms against ${number(median(git))} ms`;
      rows.push(
        rowOf(
          `a checkpoint, ${count.toLocaleString("en-US")} files, ${title}`,
          ratios(own, git),
          " × git status",
          count === files ? { text: "≤ 1.5 ×", most: 1.5 } : undefined,
          note,
        ),
      );
    }
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

function timed(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
