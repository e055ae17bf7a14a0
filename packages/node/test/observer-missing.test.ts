import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { isMissing, lookAt, lookThrough } from "../src/files/missing.ts";
import { usualInstructions } from "../src/observer/instructions.ts";
import { worldMark } from "../src/observer/world.ts";
import { makePlace, type Place } from "./observer-fixture.ts";

let place: Place;
afterEach(() => place.remove());

const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : new TextDecoder().decode(bytes));

function replaceFolder(path: string): void {
  rmSync(join(place.dir, path), { recursive: true });
  writeFileSync(join(place.dir, path), "a file\n");
}

test.each([{ git: true }, { git: false }])(
  "a folder that became a file is told as its files deleted and the file added (git: $git)",
  async (kind) => {
    place = makePlace(kind);
    place.write("d/e/f", "1\n");
    place.write("d/g", "2\n");
    if (kind.git) place.commit();
    const observer = place.observer();
    const before = await observer.snapshot(null);
    replaceFolder("d");
    const after = await observer.snapshot(before.manifest);
    expect(await observer.changes(before.manifest, after.manifest)).toEqual([
      { path: "d", change: "added", added: 1, removed: 0 },
      { path: "d/e/f", change: "deleted", added: 0, removed: 1 },
      { path: "d/g", change: "deleted", added: 0, removed: 1 },
    ]);
    expect(await observer.diff(before.manifest, after.manifest, "d/e/f")).toContain("-1\n");
    expect(text(await observer.content(before.manifest, { root: "main", path: "d/e/f" }))).toBe("1\n");
    expect(await observer.read({ root: "main", path: "d/e/f" })).toBeNull();
    expect((await observer.sign([{ root: "main", path: "d/e/f" }])).size).toBe(0);
  },
);

test("a copy has the earlier folder where the file is now, and the earlier file where a folder is", async () => {
  place = makePlace({ git: true });
  place.write("d", "a file\n");
  place.write("f/x", "new\n");
  symlinkSync(place.top, join(place.dir, "l"));
  writeFileSync(join(place.top, "outside"), "stays");
  const observer = place.observer();
  const { manifest } = await observer.snapshot(null);
  const was = (path: string, content: string | null) => ({
    ...{ root: "main", path, kind: "file" as const },
    content: content === null ? null : new TextEncoder().encode(content),
  });
  const changes = [was("d/e/f", "1\n"), was("d", null), was("f", "2\n"), was("f/x", null), was("l/outside", "3\n"), was("l", null)];
  const copy = await observer.scratch(manifest, changes, { linksDependencies: true, without: [] });
  const at = (path: string): string => join(copy.roots["main"] ?? "", path);
  expect(readFileSync(at("d/e/f"), "utf8")).toBe("1\n");
  expect(readFileSync(at("f"), "utf8")).toBe("2\n");
  expect(readFileSync(at("l/outside"), "utf8")).toBe("3\n");
  expect(readFileSync(join(place.top, "outside"), "utf8")).toBe("stays");
  await copy.remove();
});

test("a repository inside the workspace that became a file is gone, and what a file is in the way of is not tracked", async () => {
  place = makePlace({ git: true });
  place.write("sub/a", "1\n");
  place.git("-C", "sub", "init", "-q");
  place.git("-C", "sub", "add", "a");
  const observer = place.observer();
  const before = await observer.snapshot(null);
  replaceFolder("sub");
  const after = await observer.snapshot(before.manifest);
  expect((await observer.changes(before.manifest, after.manifest)).map(({ path, change }) => `${change} ${path}`)).toContain("added sub");
  expect(await observer.isTracked(join(place.dir, "sub/a/b"))).toBe(false);
});

test("the world is told where a tracked folder is a file, and where .git is something else", async () => {
  place = makePlace({ git: true });
  place.write("d/f", "1\n");
  place.commit();
  replaceFolder("d");
  // Places of instructions lie in folders: this one is a file.
  const rules = { ...usualInstructions, files: ["d/AGENTS.md", "AGENTS.md"] };
  place.write("AGENTS.md", "Be calm.\n");
  const told = (await place.observer(undefined, rules).world(true)).map((section) => section.text).join("\n");
  expect(told).toContain("with uncommitted changes");
  expect(told).toContain("Be calm.");
  rmSync(join(place.dir, ".git"), { recursive: true });
  mkdirSync(join(place.dir, ".git"));
  const input = { roots: [{ id: "main", path: place.dir }], cwd: place.dir, now: 0, instructions: rules };
  const mark = worldMark(input);
  place.write("AGENTS.md", "Be quick.\n");
  expect(worldMark(input)).not.toBe(mark);
});

test("nothing lies below a file, at the end of links that go round, or under a name longer than any", () => {
  place = makePlace({ git: false });
  place.write("file", "x");
  symlinkSync("round", join(place.dir, "round"));
  for (const path of ["file/x", "none", "round/x", "n".repeat(400)]) {
    expect(lookAt(join(place.dir, path)), path).toBeUndefined();
    expect(lookThrough(join(place.dir, path)), path).toBeUndefined();
  }
  expect(lookAt(join(place.dir, "round"))?.isSymbolicLink()).toBe(true);
  expect(lookThrough(join(place.dir, "round"))).toBeUndefined();
  expect(isMissing(Object.assign(new Error(), { code: "EACCES" }))).toBe(false);
  expect(existsSync(join(place.dir, "file"))).toBe(true);
});
