import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { namedOutside } from "../src/reach/outside.ts";
import { makePlace, type Place } from "./place.ts";

let [place, outside]: [Place | null, string] = [null, ""];
beforeEach(() => {
  place = makePlace();
  outside = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-outside-")));
  for (const path of ["right.mjs", "home/.answers.json"]) {
    mkdirSync(join(outside, "home"), { recursive: true });
    writeFileSync(join(outside, path), "");
  }
});
afterEach(async () => {
  await place?.end();
  rmSync(outside, { recursive: true });
});

function found(path: string, text: string, userFolder: string | null = join(outside, "home")): Promise<string[]> {
  const { dir, observer } = place ?? makePlace();
  const workplace = { cwd: dir, roots: [{ id: "main", path: dir }], userFolder };
  return namedOutside(observer, workplace, [{ root: "main", path, text: text.replaceAll("OUTSIDE", outside) }]);
}

test.each([
  ["src/a.js", 'export * from "OUTSIDE/right.mjs";', "right.mjs"],
  ["src/a.js", 'join(homedir(), ".answers.json")', "home/.answers.json"],
  ["a.py", 'open(os.path.expanduser("~/.answers.json"))', "home/.answers.json"],
  ["a.py", 'top = "OUTSIDE"\nopen(os.path.join(top, "right.mjs"))', "right.mjs"],
  ["a.py", 'sys.path.insert(0, "OUTSIDE/home")', "home"],
  ["lib/a.sh", ". OUTSIDE/right.mjs", "right.mjs"],
])("a source that uses a file outside the workspace: %s, %s", async (path, text, where) => {
  expect(await found(path, text)).toEqual([join(outside, where)]);
});

test("what is not there, belongs to the machine or lies in the workspace is no matter; nor is any of it where nothing can be written there", async () => {
  place?.write("b.js", "");
  expect(await found("src/a.js", 'get("/api/users"); read("/etc/hosts"); load("../b.js"); join("OUTSIDE", "missing");')).toEqual([]);
  expect(await found("src/a.js", 'export * from "OUTSIDE/right.mjs";', null)).toEqual([]);
});
