import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { namedFiles } from "../src/config/named-files.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-named-")));
  mkdirSync(join(root, "tools"));
  for (const name of ["tools/check.sh", "tools/plain", "package.json", "run"]) writeFileSync(join(root, name), name);
  writeFileSync(join(root, "tools/shebang"), "#!/bin/sh\n");
  chmodSync(join(root, "run"), 0o755);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const named = async (...texts: string[]) => (await namedFiles(root, texts)).map(({ path, isProgram }) => [path, isProgram]);

test("files of the project are found wherever they stand in a command line, and programs among them", async () => {
  expect(await named("test -f package.json && FILE=tools/plain sh './tools/check.sh'; (tools/shebang)|./run")).toEqual([
    ["package.json", false],
    ["run", true],
    ["tools/check.sh", true],
    ["tools/plain", false],
    ["tools/shebang", true],
  ]);
  expect(await named("node", "--config=package.json", "tools", "../x", "/etc/passwd", `${root}/run`)).toEqual([
    ["package.json", false],
    ["run", true],
  ]);
});

test("content, and where a link leads, decide whether it is the same file", async () => {
  const content = async (name: string) => (await namedFiles(root, [name])).map((file) => file.content);
  const before = await content("tools/check.sh");
  writeFileSync(join(root, "tools/check.sh"), "changed");
  expect(await content("tools/check.sh")).not.toEqual(before);
  symlinkSync("tools/plain", join(root, "link"));
  expect(await content("link")).toEqual(await content("tools/plain"));
  rmSync(join(root, "link"));
  symlinkSync("/bin/sh", join(root, "link"));
  expect(await content("link")).toEqual([`leads to ${realpathSync("/bin/sh")}`]);
  rmSync(join(root, "link"));
  symlinkSync("/dev/zero", join(root, "link"));
  expect(await content("link")).toEqual(["leads to /dev/zero"]);
});
