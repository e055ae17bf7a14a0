import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makePlace, type Place } from "./observer-fixture.ts";

let place: Place;
afterEach(() => place.remove());

function fill(): void {
  place.write(".gitignore", "node_modules/\ndist/\n.env\ntarget/\n");
  place.write("src/a.ts", "a");
  place.write("run.sh", "#!/bin/sh\n");
  chmodSync(join(place.dir, "run.sh"), 0o755);
  symlinkSync("src/a.ts", join(place.dir, "link"));
  place.write("test/a.test.ts", "new");
  place.write("test/extra.test.ts", "new");
  place.write("node_modules/x/index.js", "x");
  place.write("node_modules/.vite/cache", "x");
  place.write("dist/out.js", "built");
  place.write("target/huge", "x");
  place.write(".env", "A=1");
}

test("what a new ignore line hides is in a copy only where it is meant to be", async () => {
  place = makePlace({ git: true });
  place.write("a.js", "a");
  const observer = place.observer();
  const scope = (await observer.snapshot(null)).manifest;
  place.write(".gitignore", "conftest.py\ndeep/\n");
  place.write("conftest.py", "new");
  place.write("deep/conftest.py", "new");
  place.write("deep/other.py", "new");
  const { manifest } = await observer.snapshot(scope);
  const gone = ["conftest.py", "deep/conftest.py"].map((path) => ({ root: "main", path, content: null, kind: "file" as const }));
  const copy = await observer.scratch(manifest, gone, { linksDependencies: true, without: [] });
  const at = (path: string): string => join(copy.roots["main"] ?? "", path);
  expect([existsSync(at("conftest.py")), existsSync(at("deep/conftest.py")), existsSync(at("deep/other.py"))]).toEqual([
    false,
    false,
    true,
  ]);
});

test("a scratch copy has the files in scope with other versions of some, and leaves the workspace alone", async () => {
  place = makePlace({ git: true });
  fill();
  const observer = place.observer();
  const { manifest, subject } = await observer.snapshot(null);
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const changes = [
    { root: "main", path: "test/a.test.ts", content: bytes("old"), kind: "file" as const },
    { root: "main", path: "test/extra.test.ts", content: null, kind: "file" as const },
    { root: "main", path: "deep/er/run.sh", content: bytes("#!/bin/sh\n"), kind: "executable" as const },
  ];
  const copy = await observer.scratch(manifest, changes, { linksDependencies: true, without: [{ root: "main", path: "dist" }] });
  const at = (path: string): string => join(copy.roots["main"] ?? "", path);
  expect(readFileSync(at("src/a.ts"), "utf8")).toBe("a");
  expect(readFileSync(at("test/a.test.ts"), "utf8")).toBe("old");
  expect(existsSync(at("test/extra.test.ts"))).toBe(false);
  expect(statSync(at("deep/er/run.sh")).mode & 0o111).not.toBe(0);
  expect(statSync(at("run.sh")).mode & 0o111).not.toBe(0);
  expect(readlinkSync(at("link"))).toBe("src/a.ts");
  expect(readFileSync(at(".env"), "utf8")).toBe("A=1");
  expect(lstatSync(at("node_modules")).isSymbolicLink()).toBe(true);
  expect(existsSync(at("dist"))).toBe(false);
  expect(existsSync(at("target"))).toBe(false);
  writeFileSync(at("src/a.ts"), "changed in the copy");
  await copy.remove();
  expect(existsSync(copy.roots["main"] ?? "")).toBe(false);
  expect(readFileSync(join(place.dir, "node_modules/x/index.js"), "utf8")).toBe("x");
  expect((await observer.snapshot(manifest)).subject).toBe(subject);
});

test("for a sandbox the copy comes with what is bound where: itself, dependencies read-only, their caches apart", async () => {
  place = makePlace({ git: true });
  fill();
  const observer = place.observer();
  const { manifest } = await observer.snapshot(null);
  const copy = await observer.scratch(manifest, [], { linksDependencies: false, without: [] });
  const binds = copy.binds.map(({ from, to, writable }) => [
    from.startsWith(place.dir) ? "workspace" : "copy",
    to.slice(place.dir.length),
    writable,
  ]);
  expect(binds).toEqual([
    ["copy", "", true],
    ["workspace", "/node_modules", false],
    ["copy", "/node_modules/.vite", true],
    ["workspace", "/.git", false],
  ]);
  expect(readFileSync(join(copy.roots["main"] ?? "", "dist/out.js"), "utf8")).toBe("built");
  await copy.remove();
});

test("what is ignored is listed with whole folders as one, dependencies told apart", async () => {
  place = makePlace({ git: true });
  fill();
  place.write("pkg/node_modules/y.js", "y");
  place.write("venv/.gitignore", "*\n");
  place.write("venv/bin/python", "x");
  for (const file of [".gitignore", "CACHEDIR.TAG", "v/last"]) place.write(`tool/${file}`, file === ".gitignore" ? "*\n" : "x");
  const ignored = (await place.observer().ignored()).map(({ path, isFolder, isDependency }) => [path, isFolder, isDependency]);
  expect(ignored.sort()).toEqual([
    [".env", false, false],
    ["dist", true, false],
    ["node_modules", true, true],
    ["pkg/node_modules", true, true],
    ["target", true, false],
    ["tool", true, false],
    ["venv", true, true],
  ]);
});

test("what is ignored is listed without git too", async () => {
  place = makePlace({ git: false });
  fill();
  place.write("pkg/node_modules/y.js", "y");
  place.write("pkg/a.js", "a");
  place.write("pkg/dist/b.js", "b");
  const ignored = (await place.observer().ignored()).map(({ path, isFolder, isDependency }) => [path, isFolder, isDependency]);
  expect(ignored.sort()).toEqual([
    [".env", false, false],
    ["dist", true, false],
    ["node_modules", true, true],
    ["pkg/dist", true, false],
    ["pkg/node_modules", true, true],
    ["target", true, false],
  ]);
});

test("a marked cache in a folder of dependencies counts by itself: they are signed without it, and a copy can leave it out", async () => {
  place = makePlace({ git: true });
  fill();
  const observer = place.observer();
  const sign = async (path: string): Promise<string | undefined> => [...(await observer.sign([{ root: "main", path }])).values()][0];
  const start = await sign("node_modules");
  const cache = "node_modules/.tool-cache";
  place.write(`${cache}/units`, "x");
  expect(await sign("node_modules")).not.toBe(start);
  place.write(`${cache}/CACHEDIR.TAG`, "Signature: 8a477f597d28d172789f06886806bc55\n");
  place.write("node_modules/x/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
  expect(await sign("node_modules")).not.toBe(start);
  rmSync(join(place.dir, "node_modules/x/CACHEDIR.TAG"));
  expect(await sign("node_modules")).toBe(start);
  expect((await observer.ignored()).filter(({ path }) => path.startsWith("node_modules"))).toEqual([
    { root: "main", path: "node_modules", isFolder: true, isDependency: true },
    { root: "main", path: cache, isFolder: true, isDependency: false },
  ]);
  const { manifest } = await observer.snapshot(null);
  const without = [{ root: "main", path: cache }];
  const linked = await observer.scratch(manifest, [], { linksDependencies: true, without });
  const at = (path: string): boolean => existsSync(join(linked.roots["main"] ?? "", path));
  expect([at("node_modules/x/index.js"), at(cache)]).toEqual([true, false]);
  const bound = await observer.scratch(manifest, [], { linksDependencies: false, without });
  const places = bound.binds.map(({ from, to }) => [from.startsWith(place.dir), to.slice(place.dir.length)]);
  expect(places).toContainEqual([true, "/node_modules"]);
  expect(places).toContainEqual([false, `/${cache}`]);
  await linked.remove();
  await bound.remove();
});

test("a signature changes with any file below, an edit that keeps size and mtime among them, and not with caches", async () => {
  place = makePlace({ git: true });
  fill();
  const observer = place.observer();
  const sign = async (): Promise<string | undefined> =>
    (await observer.sign([{ root: "main", path: "node_modules" }])).get("main:node_modules");
  const start = await sign();
  place.write("node_modules/.vite/cache", "other");
  place.write("node_modules/x/__pycache__/a.pyc", "x");
  rmSync(join(place.dir, "node_modules/x/__pycache__"), { recursive: true });
  expect(await sign()).toBe(start);
  const file = join(place.dir, "node_modules/x/index.js");
  const { atime, mtime } = statSync(file);
  writeFileSync(file, "y");
  utimesSync(file, atime, mtime);
  expect(await sign()).not.toBe(start);
  expect([
    ...(
      await observer.sign([
        { root: "main", path: "none" },
        { root: "", path: join(place.dir, ".env") },
      ])
    ).keys(),
  ]).toEqual([join(place.dir, ".env")]);
});
