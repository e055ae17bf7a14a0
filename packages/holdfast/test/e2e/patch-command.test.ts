import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const files = { "src/a.txt": "one\ntwo\n", "README.md": "# A project\n" };
const run = (command: string) => ({ name: "run_command", input: { command } });
const patch = (path: string) => `*** Begin Patch\n*** Update File: ${path}\n@@\n-one\n+ONE\n*** End Patch`;
const here = (text: string) => `<<'EOF'\n${text}\nEOF`;
const events = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; item?: { type: string; changes?: { path: string }[] } });

test("a command that is one patch is the tool's call: shown as a change of files, and undone like one", async () => {
  const place = await createPlace(
    (results) => (results.length < 1 ? { calls: [run(`cd src && apply_patch ${here(patch("a.txt"))}`)] } : { text: "Done." }),
    files,
  );
  const { code, stdout } = await place.exec("--json", "go");
  expect(code).toBe(0);
  const change = events(stdout).find((event) => event.type === "item.completed" && event.item?.type === "file_change");
  expect(change?.item?.changes).toMatchObject([{ path: join(place.workspace, "src/a.txt"), kind: "update" }]);
  expect(readFileSync(join(place.workspace, "src/a.txt"), "utf8")).toBe("ONE\ntwo\n");
  expect((await place.start(["undo"]).finished).code).toBe(0);
  expect(readFileSync(join(place.workspace, "src/a.txt"), "utf8")).toBe("one\ntwo\n");
});

test("it is judged as the tool's call: one that leads out of the workspace is refused, not run by the shell", async () => {
  const outside = "*** Begin Patch\n*** Add File: ../escaped.txt\n+x\n*** End Patch";
  const place = await createPlace(
    (results) => (results.length < 1 ? { calls: [run(`bash -lc "apply_patch ${here(outside)}"`)] } : { text: results[0]! }),
    files,
  );
  expect((await place.exec("go")).stdout).toMatch(/was refused: .*escaped\.txt/);
  expect(existsSync(join(place.workspace, "../escaped.txt"))).toBe(false);
});

test("in a longer line the program of that name does it, inside the sandbox and without", async () => {
  const line = `mkdir -p made && apply_patch ${here(patch("src/a.txt"))}\ncat src/a.txt; apply_patch ${here(patch("src/a.txt"))}\necho status $?`;
  const place = await createPlace((results) => (results.length < 1 ? { calls: [run(line)] } : { text: results[0]! }), files);
  expect((await place.exec("go")).stdout).toBe(
    "exit code 0\nM src/a.txt\nONE\ntwo\nNo file was changed.\nsrc/a.txt: The hunk (line 3 of the patch) does not match the file: its context was not found. Read the file and try again.\nstatus 1\n",
  );
  const free = await createPlace((results) => (results.length < 1 ? { calls: [run(line)] } : { text: results[0]! }), files);
  expect((await free.exec("--sandbox", "off", "go")).stdout).toContain("M src/a.txt\nONE\n");
});

test("a longer line with a patch for a protected place is asked for, as the tool's call would be", async () => {
  const hook = "*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch";
  const place = await createPlace(
    (results) => (results.length < 1 ? { calls: [run(`ls; apply_patch ${here(hook)}`)] } : { text: results[0]! }),
    files,
  );
  expect((await place.exec("--approvals", "deny", "go")).stdout).toContain("was refused");
});
