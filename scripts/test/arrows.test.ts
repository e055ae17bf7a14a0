import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cyclesIn, faultsIn, importsOf } from "../check-arrows.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-arrows-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

const manifest = (name: string, ...dependencies: string[]): string =>
  JSON.stringify({ name, dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, "1.0.0"])) });

test("every way to import is seen", () => {
  const source = `
    import one from "a"; import type { Two } from "b"; import "c"; export * from "d"; export { five } from "e"; export type { Six } from "f";
    export const seven = await import("g");`;
  expect(importsOf("x.ts", source).toSorted()).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
});

test("imports along the arrows are no fault", () => {
  write({
    "packages/protocol/package.json": manifest("@holdfast/protocol", "zod"),
    "packages/protocol/src/index.ts": `import { z } from "zod"; export const shape = z.string();`,
    "packages/node/package.json": manifest("@holdfast/node", "@holdfast/protocol"),
    "packages/node/src/index.ts": `import { readFileSync } from "node:fs"; import { shape } from "@holdfast/protocol"; export const read = [readFileSync, shape];`,
  });
  expect(faultsIn(root)).toEqual([]);
});

test("a sibling that imports a sibling is a fault, in the source and in package.json", () => {
  write({
    "packages/tools/package.json": manifest("@holdfast/tools", "@holdfast/policy"),
    "packages/tools/src/index.ts": `export { decide } from "@holdfast/policy/decide";`,
  });
  expect(faultsIn(root)).toEqual([
    "packages/tools/package.json: tools may not depend on policy",
    "packages/tools/src/index.ts: tools may not import policy",
  ]);
});

test("an import that package.json doesn't name is a fault", () => {
  write({ "packages/models/package.json": manifest("@holdfast/models"), "packages/models/src/index.ts": `import "yaml";` });
  expect(faultsIn(root)).toEqual(["packages/models/src/index.ts: imports yaml, which packages/models/package.json doesn't name"]);
});

test("Node in a package that must run in a browser is a fault, with or without node:", () => {
  write({
    "packages/policy/package.json": manifest("@holdfast/policy"),
    "packages/policy/src/index.ts": `import "node:fs"; import "path";`,
  });
  expect(faultsIn(root)).toEqual([
    "packages/policy/src/index.ts: imports node:fs, but must run in a browser",
    "packages/policy/src/index.ts: imports path, but must run in a browser",
  ]);
});

test("a store may use Node, unless the memory store leads to it", () => {
  write({
    "packages/stores/package.json": manifest("@holdfast/stores"),
    "packages/stores/src/memory.ts": `import "./shared.ts";`,
    "packages/stores/src/shared.ts": `import "node:fs";`,
    "packages/stores/src/sqlite/log.ts": `import "node:sqlite";`,
  });
  expect(faultsIn(root)).toEqual(["packages/stores/src/shared.ts: imports node:fs, but must run in a browser"]);
});

test("a relative import out of the package or out of src is a fault", () => {
  write({
    "packages/checks/package.json": manifest("@holdfast/checks"),
    "packages/checks/src/index.ts": `import "../../policy/src/index.ts"; import "../test/help.ts";`,
  });
  expect(faultsIn(root)).toContain("packages/checks/src/index.ts: reaches out of its package with ../../policy/src/index.ts");
  expect(faultsIn(root)).toContain("packages/checks/src/index.ts: source imports ../test/help.ts outside src");
});

test("a test may use another package's tests, and nothing else of it but by name", () => {
  write({
    "packages/node/package.json": manifest("@holdfast/node"),
    "packages/node/test/files.test.ts": `import "../../tools/test/conformance.ts"; import "../../tools/src/inner.ts"; import "@holdfast/tools";`,
  });
  expect(faultsIn(root)).toEqual(["packages/node/test/files.test.ts: reaches out of its package with ../../tools/src/inner.ts"]);
});

test("a package that the diagram doesn't know is a fault", () => {
  write({ "packages/surprise/package.json": manifest("@holdfast/surprise") });
  expect(faultsIn(root)[0]).toContain("packages/surprise: not in the diagram");
});

test("a cycle between files is found once, however it is entered", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["b"]],
    ["d", []],
  ]);
  expect(cyclesIn(graph)).toEqual([["b", "c", "b"]]);
});
