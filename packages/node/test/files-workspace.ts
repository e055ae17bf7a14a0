import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createFiles, type FilesOptions } from "../src/files/index.ts";
import type { FilesFixture } from "../../tools/test/files-conformance.ts";

/** A temporary workspace on the real disk. */
export async function temporaryFiles(options: Partial<FilesOptions> = {}): Promise<FilesFixture & { readonly base: string }> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-files-")));
  const root = join(base, "work");
  mkdirSync(root);
  const files = createFiles({ cwd: root, roots: [{ id: "main", path: root }], lockDir: join(base, "locks"), ...options });
  return {
    base,
    root,
    files,
    async write(path, content, mode) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
      if (mode !== undefined) chmodSync(join(root, path), mode);
    },
    content: async (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null),
    async close() {
      files.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
