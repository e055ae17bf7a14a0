import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createObserver } from "@holdfast/node/observer/index";
import { openFileBlobs } from "@holdfast/stores/file-blobs";
import type { Field } from "./field.ts";
import { number, type Row, rowOf } from "./row.ts";
import { median, ratios } from "./statistics.ts";
import { makeRepository } from "./workloads.ts";

/** The digest of the whole workspace after one file changed, beside `git status` in the same repository, one after the other. */
export async function digestCost(field: Field, files: number): Promise<Row[]> {
  const folder = field.folder("digest");
  makeRepository(folder, files);
  const home = field.folder("digest-home");
  const observer = createObserver({
    files: { cwd: folder, roots: [{ id: "r1", path: folder }] },
    blobs: openFileBlobs(join(home, "blobs")),
    cacheDir: join(home, "cache"),
    home,
  });
  const status = (): void => void execFileSync("git", ["status"], { cwd: folder, stdio: "ignore" });
  const { manifest } = await observer.snapshot(null);
  // The first of each reads more.
  status();
  await observer.snapshot(manifest);
  const [own, git]: [number[], number[]] = [[], []];
  for (let round = 0; round < field.rounds(11); round += 1) {
    appendFileSync(join(folder, "notes.txt"), `${round}\n`);
    let begun = performance.now();
    status();
    git.push(performance.now() - begun);
    begun = performance.now();
    await observer.snapshot(manifest);
    own.push(performance.now() - begun);
  }
  rmSync(folder, { recursive: true, force: true });
  const note = `${number(median(own))} ms against ${number(median(git))} ms`;
  const figure = `the digest, ${files.toLocaleString("en-US")} files, one changed`;
  return [rowOf(figure, ratios(own, git), " × git status", { text: "≤ 1.5 ×", most: 1.5 }, note)];
}
