import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { lineChanges, splitLines } from "@holdfast/runtime/lines";
import { makePlace, type Place } from "./observer-fixture.ts";

let place: Place;
afterEach(() => place.remove());

test("line changes turn the old text into the new one, with as few lines as git's minimal diff", () => {
  place = makePlace({ git: false });
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 14 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (old, next) => {
      const [a, b] = [splitLines(old), splitLines(next)];
      const out: string[] = [];
      let at = 0;
      let size = 0;
      for (const change of lineChanges(a, b)) {
        out.push(...a.slice(at, change.oldStart), ...b.slice(change.newStart, change.newEnd));
        at = change.oldEnd;
        size += change.oldEnd - change.oldStart + change.newEnd - change.newStart;
      }
      expect([...out, ...a.slice(at)].join("")).toBe(next);
      expect(size).toBe(shortest(a, b));
    }),
    { numRuns: 500 },
  );
});

/** By the textbook: length of both minus twice the longest common subsequence. */
function shortest(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const line of a) {
    const next = [0];
    for (let j = 1; j <= b.length; j += 1) next.push(line === b[j - 1] ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0));
    row = next;
  }
  return a.length + b.length - 2 * (row.at(-1) ?? 0);
}

test("a very long rewrite is counted without looking for the shortest way", () => {
  place = makePlace({ git: false });
  const old = Array.from({ length: 20_000 }, (_, i) => `old ${i}\n`);
  const next = Array.from({ length: 20_000 }, (_, i) => `new ${i}\n`);
  expect(lineChanges(old, next)).toEqual([{ oldStart: 0, oldEnd: 20_000, newStart: 0, newEnd: 20_000 }]);
});

test("patch(1) turns the earlier file into the later one with the diff shown", async () => {
  place = makePlace({ git: true });
  const old = Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n");
  const next = old.replace("line 3\n", "line three\nand more\n").replace("line 30\n", "").replace("line 39", "end\n");
  place.write("a.txt", old);
  const observer = place.observer();
  const before = await observer.snapshot(null);
  place.write("a.txt", next);
  const after = await observer.snapshot(before.manifest);
  const diff = (await observer.diff(before.manifest, after.manifest, "a.txt")) ?? "";
  expect(diff).toContain("\\ No newline at end of file");
  writeFileSync(join(place.top, "a.txt"), old);
  execFileSync("git", ["apply", "--unsafe-paths", "-"], { cwd: place.top, input: diff, stdio: ["pipe", "ignore", "ignore"] });
  expect(readFileSync(join(place.top, "a.txt"), "utf8")).toBe(next);
});

test("added, deleted, binary and mode changes are shown as what they are", async () => {
  place = makePlace({ git: true });
  place.write("gone", "x\n");
  place.write("bin", new Uint8Array([0, 1]));
  place.write("run", "#!/bin/sh\n");
  const observer = place.observer();
  const before = await observer.snapshot(null);
  rmSync(join(place.dir, "gone"));
  place.write("new", "y\nz\n");
  place.write("bin", new Uint8Array([0, 2]));
  chmodSync(join(place.dir, "run"), 0o755);
  const after = await observer.snapshot(before.manifest);
  expect(await observer.changes(before.manifest, after.manifest)).toEqual([
    { path: "bin", change: "modified", added: null, removed: null },
    { path: "gone", change: "deleted", added: 0, removed: 1 },
    { path: "new", change: "added", added: 2, removed: 0 },
    { path: "run", change: "modified", added: 0, removed: 0 },
  ]);
  const diff = (path: string): Promise<string | null> => observer.diff(before.manifest, after.manifest, path);
  expect(await diff("new")).toBe("--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+y\n+z\n");
  expect(await diff("gone")).toBe("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
  expect(await diff("bin")).toContain("Binary files differ");
  expect(await diff("run")).toContain("file → executable");
  expect(await diff("unchanged")).toBe("");
});

test("a file too large to be kept has no earlier content to compare with", async () => {
  place = makePlace({ git: true });
  place.write("big", "x\n".repeat(1_000_000));
  const observer = place.observer();
  const before = await observer.snapshot(null);
  place.write("big", "y\n");
  const after = await observer.snapshot(before.manifest);
  expect(await observer.diff(before.manifest, after.manifest, "big")).toBeNull();
  expect(await observer.changes(before.manifest, after.manifest)).toEqual([
    { path: "big", change: "modified", added: null, removed: null },
  ]);
});
