import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";

export interface SmallDisk {
  readonly folder: string;
  /** Uses up all space but about `leaving` bytes. */
  fill(leaving: number): void;
  /** Gives that space back. */
  empty(): void;
  unmount(): void;
}

/** Whether this user may mount; without it, what happens on a full disk can't be shown. */
export function canMountDisks(): boolean {
  const { folder, dispose } = temporaryFolder();
  const mounted = mount(folder, 1);
  if (mounted) spawnSync("umount", [folder]);
  void dispose();
  return mounted;
}

function mount(folder: string, mebibytes: number): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder]).status === 0;
}

/** A disk in memory of so many MiB. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const { folder, dispose } = temporaryFolder();
  if (!mount(folder, mebibytes)) throw new Error("can't mount a disk");
  const filler = join(folder, "filler");
  return {
    folder,
    fill: (leaving) => {
      const file = openSync(filler, "w");
      const { bavail, bsize } = statfsSync(folder);
      for (let left = bavail * bsize - leaving; left > 0; left -= bsize) writeSync(file, Buffer.alloc(bsize));
      closeSync(file);
    },
    empty: () => rmSync(filler),
    unmount: () => {
      spawnSync("umount", [folder]);
      void dispose();
    },
  };
}
