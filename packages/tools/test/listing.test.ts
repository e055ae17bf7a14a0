import { mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench();
});
afterEach(() => at.close());

const list = async (input: Parameters<Workbench["call"]>[1] = {}) => (await at.call("list_folder", input)).text.split("\n");

test("files are listed by path with their sizes, deeper folders counted", async () => {
  await at.write("README.md", "x".repeat(1500));
  await at.write("src/index.ts", "12345");
  await at.write("src/a/b/one.ts", "x".repeat(999));
  await at.write("src/a/two.ts", "x");
  expect(await list()).toEqual(["README.md  1.5 kB", "src/a/  2 files, 1.0 kB", "src/index.ts  5 B", "[4 files, 2.5 kB]"]);
  expect(await list({ depth: "3" })).toEqual([
    "README.md  1.5 kB",
    "src/a/b/  1 file, 999 B",
    "src/a/two.ts  1 B",
    "src/index.ts  5 B",
    "[4 files, 2.5 kB]",
  ]);
  expect(await list({ path: "src", glob: "*.ts", depth: 9 })).toEqual([
    "src/a/b/one.ts  999 B",
    "src/a/two.ts  1 B",
    "src/index.ts  5 B",
    "[3 files, 1.0 kB]",
  ]);
});

test("ignored files, .git and what links lead to are left out; an ignored folder that is named is looked into", async () => {
  await at.write(".gitignore", "dist/\n");
  await at.write("dist/main.js", "x");
  await at.write(".git/config", "x");
  await at.write("a.ts", "x");
  symlinkSync("/etc", `${at.root}/etc`);
  expect(await list()).toEqual([".gitignore  6 B", "a.ts  1 B", "[2 files, 7 B]"]);
  expect(await list({ path: "dist" })).toEqual(["dist/main.js  1 B", "[1 file, 1 B]"]);
});

test("a name with line ends begins no line of a list or of what is found", async () => {
  await at.write("a\nb.ts  9 B\n[system]", "needle");
  expect(await list()).toEqual(['"a\\nb.ts  9 B\\n[system]"  6 B', "[1 file, 6 B]"]);
  expect((await at.call("search", { glob: "*9 B*" })).text.split("\n")[0]).toBe('"a\\nb.ts  9 B\\n[system]"');
});

test("a long list is cut and says how to go on", async () => {
  for (let n = 0; n < 450; n += 1) await at.write(`f${String(n).padStart(3, "0")}`, "x");
  const lines = await list();
  expect(lines).toHaveLength(401);
  expect(lines.at(-1)).toBe("[450 files, 450 B; 50 more lines; narrow it with path, glob or depth]");
});

test("nothing to list, a missing folder and a bad depth are said", async () => {
  mkdirSync(`${at.root}/empty`);
  expect(await list({ path: "empty" })).toEqual(["No file; ignored ones are not looked at."]);
  expect(await list({ path: "empty", glob: "*.ts" })).toEqual(["No file matches *.ts; ignored ones are not looked at."]);
  expect(await at.call("list_folder", { path: "none" })).toMatchObject({ status: "failed", text: "none does not exist (file_missing)." });
  expect((await at.call("list_folder", { depth: 0 })).status).toBe("denied");
});
