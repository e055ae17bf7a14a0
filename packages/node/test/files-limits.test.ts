import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFiles } from "../src/files/index.ts";

test("a search in a workspace whose ignore file has no end is ended before it takes the machine's memory", async () => {
  const base = mkdtempSync(join(tmpdir(), "holdfast-limits-"));
  writeFileSync(join(base, "a.txt"), "words");
  symlinkSync("/dev/zero", join(base, ".ignore"));
  const files = createFiles({ cwd: base, roots: [{ id: "root", path: base }], lockDir: join(base, "locks"), hidden: () => [] });
  await expect(files.glob("**", base, 10)).rejects.toMatchObject({ code: "file_unreadable", hint: expect.stringContaining(".ignore") });
  rmSync(join(base, ".ignore"));
  expect((await files.glob("*.txt", base, 10)).paths).toEqual([join(base, "a.txt")]);
  files.close();
  rmSync(base, { recursive: true });
});
