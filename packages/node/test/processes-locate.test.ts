import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLocate } from "../src/processes/locate.ts";

let base: string;
let root: string;
let tools: string;

function program(path: string): string {
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-locate-")));
  root = join(base, "work");
  tools = join(base, "tools");
  for (const folder of [join(root, "bin"), tools]) mkdirSync(folder, { recursive: true });
  program(join(tools, "git"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test("a name is the first file on the PATH that can be run, by its real path", async () => {
  writeFileSync(join(root, "bin/git"), "not to be run");
  symlinkSync(join(tools, "git"), join(tools, "git-link"));
  const locate = createLocate([join(root, "bin"), tools].join(delimiter), [root]);
  expect(await locate("git")).toBe(join(tools, "git"));
  expect(await locate("git-link")).toBe(join(tools, "git"));
  expect(await locate("nothing-of-that-name")).toBeNull();
  expect(await locate("..")).toBeNull();
});

test("a file put in front of it later is found, wherever the workspace is on the PATH", async () => {
  for (const entry of [join(root, "bin"), "bin", "./bin"]) {
    const locate = createLocate([entry, tools].join(delimiter), [root]);
    expect(await locate("git"), entry).toBe(join(tools, "git"));
    const shadow = program(join(root, "bin/git"));
    expect(await locate("git"), entry).toBe(shadow);
    rmSync(shadow);
  }
  const byLink = join(base, "link");
  symlinkSync(join(root, "bin"), byLink);
  const locate = createLocate([byLink, tools].join(delimiter), [root]);
  await locate("git");
  expect(await (program(join(root, "bin/git")), locate("git"))).toBe(join(root, "bin/git"));
});

test("the empty entry of a PATH is the folder of the command", async () => {
  program(join(root, "git"));
  expect(await createLocate(`${delimiter}${tools}`, [root])("git")).toBe(join(root, "git"));
});
