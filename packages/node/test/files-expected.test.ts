import { chmodSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lookAgain, lookAt } from "@holdfast/runtime/drive/look";
import { temporaryFiles } from "./files-workspace.ts";

test("of a file that a call's expectation names, another mode and a link in its place are seen", async () => {
  const { files, root, write, close } = await temporaryFiles();
  try {
    for (const name of ["same", "mode", "link", "moved", "gone", "text"]) await write(name, "x\n");
    const before = await lookAt(files, ["same", "mode", "link", "moved", "gone", "text"]);
    chmodSync(join(root, "mode"), 0o755);
    renameSync(join(root, "link"), join(root, "link2"));
    symlinkSync("link2", join(root, "link"));
    await write("copy", "x\n");
    renameSync(join(root, "copy"), join(root, "moved"));
    rmSync(join(root, "gone"));
    await write("text", "y\n");
    const seen = await lookAgain(files, before ?? new Map());
    const changed = seen.map(({ path, before: was, after, isOtherForm }) => [path, was === after, isOtherForm === true]);
    expect(changed).toEqual([
      ["same", true, false],
      ["mode", true, true],
      ["link", true, true],
      ["moved", true, false],
      ["gone", false, false],
      ["text", false, false],
    ]);
  } finally {
    await close();
  }
});
