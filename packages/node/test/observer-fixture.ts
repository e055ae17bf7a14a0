import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BlobStore, CheckFiles, Observer } from "@holdfast/runtime";
import { createObserver } from "../src/observer/index.ts";
import type { InstructionRules } from "../src/observer/instructions.ts";

export function memoryBlobs(): BlobStore & { readonly all: Map<string, Uint8Array> } {
  const all = new Map<string, Uint8Array>();
  return {
    all,
    async put(bytes) {
      const id = createHash("sha256").update(bytes).digest("hex");
      all.set(id, Uint8Array.from(bytes));
      return id;
    },
    get: async (id) => all.get(id) ?? null,
    has: async (id) => all.has(id),
    size: async (id) => all.get(id)?.length ?? 0,
    async delete(id) {
      all.delete(id);
    },
    collect: async () => 0,
  };
}

export interface Place {
  readonly top: string;
  /** The workspace. */
  readonly dir: string;
  readonly home: string;
  readonly blobs: ReturnType<typeof memoryBlobs>;
  write(path: string, content: string | Uint8Array): void;
  git(...args: string[]): string;
  commit(message?: string): void;
  /** A new observer, as a new process would make it: only what is on disk is shared. */
  observer(cwd?: string, instructions?: InstructionRules): Observer & CheckFiles;
  remove(): void;
}

export function makePlace(options: { readonly git: boolean }): Place {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-observer-")));
  const dir = join(top, "project");
  const home = join(top, "home");
  mkdirSync(dir);
  mkdirSync(home);
  const blobs = memoryBlobs();
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main", ...args], {
      cwd: dir,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    }).toString();
  if (options.git) git("init", "-q");
  return {
    top,
    dir,
    home,
    blobs,
    write(path, content) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), content);
    },
    git,
    commit(message = "work") {
      git("add", "-A");
      git("commit", "-q", "-m", message);
    },
    observer: (cwd = dir, instructions) =>
      createObserver({
        files: { cwd, roots: [{ id: "main", path: dir }] },
        blobs,
        cacheDir: join(top, "cache"),
        home,
        now: () => Date.UTC(2030, 0, 2, 12),
        ...(instructions === undefined ? {} : { instructions }),
      }),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}
