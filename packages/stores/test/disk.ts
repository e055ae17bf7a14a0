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
  /** From now on nothing can be written there. */
  protect(): void;
  unmount(): void;
}

/** The sizes in MiB of disks this user can mount: none where that takes rights this user hasn't. */
export function mountable(mebibytes: number): number[] {
  const { folder, dispose } = temporaryFolder();
  const mounted = mount(folder, mebibytes);
  if (mounted) unmount(folder);
  void dispose();
  return mounted ? [mebibytes] : [];
}

function mount(folder: string, mebibytes: number): boolean {
  return spawnSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder]).status === 0;
}

function unmount(folder: string): void {
  // What was killed a moment ago may still have a file of it open.
  spawnSync("/bin/umount", ["-l", folder]);
}

/** The same folder once more at `at`, where nothing of it can be written. Returns what takes it away. */
export function mountReadOnly(folder: string, at: string): () => void {
  const steps = [
    ["--bind", folder, at],
    ["-o", "remount,bind,ro", at],
  ];
  if (!steps.every((args) => spawnSync("/bin/mount", args).status === 0)) throw new Error("can't mount a folder read-only");
  return () => unmount(at);
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
      try {
        for (let left = bavail * bsize - leaving; left > 0; left -= bsize) writeSync(file, Buffer.alloc(bsize));
      } catch (error) {
        // Whoever else writes meanwhile takes of the same space.
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(filler),
    protect: () => {
      if (spawnSync("/bin/mount", ["-o", "remount,ro", folder]).status !== 0) throw new Error("can't mount the disk read-only");
    },
    unmount: () => {
      unmount(folder);
      void dispose();
    },
  };
}
