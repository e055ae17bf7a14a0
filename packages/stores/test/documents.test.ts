import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DocumentIndex } from "@holdfast/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDocumentIndex } from "../src/documents.ts";

let folder = "";
let index: DocumentIndex;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-documents-"));
  index = openDocumentIndex(folder, "a");
});
afterEach(() => {
  index.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = (path: string, ...texts: readonly string[]) =>
  index.put([
    {
      path,
      stamp: "1",
      digest: texts.join(),
      isWhole: true,
      chunks: texts.map((text, at) => ({ line: at + 1, endLine: at + 1, heading: at === 0 ? "Deploying" : "", text })),
    },
  ]);
const hits = (...words: readonly string[]) => index.search(words, 10).map(({ path, line }) => `${path}:${line}`);

test("words are found in any form and accent, a heading and a path counting more, with where they stand", () => {
  put("/d/a.md", "Run the script.", "Rollbacks are done by hand – naïvely.");
  put("/d/rollback.md", "Nothing here.");
  expect(hits("rolling", "rollback")).toEqual(["/d/rollback.md:1", "/d/a.md:2"]);
  expect(hits("naive")).toEqual(["/d/a.md:2"]);
  expect(hits("deploy").sort()).toEqual(["/d/a.md:1", "/d/rollback.md:1"]);
  expect(index.search(["script"], 1)[0]).toMatchObject({ heading: "Deploying", text: "Run the script.", isWhole: true });
});

test("what is replaced or removed is no longer found, and what is touched is as it was", () => {
  put("/d/a.md", "walrus");
  put("/d/a.md", "otter");
  expect([hits("walrus"), hits("otter")]).toEqual([[], ["/d/a.md:1"]]);
  index.touch("/d/a.md", "2");
  expect(index.known()).toEqual([{ path: "/d/a.md", stamp: "2", digest: "otter", isWhole: true }]);
  index.remove(["/d/a.md", "/d/never.md"]);
  expect([hits("otter"), index.known()]).toEqual([[], []]);
});

test.each(['"', "NEAR(a b)", "text:x", "*", "a AND", "(", "^", "-x", "\0"])("the query %j is words, and no syntax of the index", (word) => {
  put("/d/a.md", "walrus");
  expect(hits(word, "walrus")).toEqual(["/d/a.md:1"]);
  expect(index.search([], 5)).toEqual([]);
});

test("two processes can use it at once, and it is theirs alone", () => {
  const other = openDocumentIndex(folder, "a");
  put("/d/a.md", "walrus");
  expect(other.search(["walrus"], 1)).toHaveLength(1);
  other.close();
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
});

test("one that is damaged is made anew", () => {
  put("/d/a.md", "walrus");
  index.close();
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "no database at all ".repeat(500));
  index = openDocumentIndex(folder, "a");
  expect(index.known()).toEqual([]);
  put("/d/a.md", "walrus");
  expect(hits("walrus")).toHaveLength(1);
});

test("an index that nobody opened for two months goes when another is opened", () => {
  openDocumentIndex(folder, "old").close();
  const long = new Date(Date.now() - 61 * 24 * 3600 * 1000);
  for (const name of readdirSync(folder)) if (name.startsWith("old.")) utimesSync(join(folder, name), long, long);
  openDocumentIndex(folder, "b").close();
  const names = readdirSync(folder).map((name) => name.split(".")[0]);
  expect([names.includes("a"), names.includes("b"), names.includes("old")]).toEqual([true, true, false]);
});

test("vectors find what is nearest; those of another embedder are nowhere near", () => {
  put("/d/a.md", "one", "two", "three");
  const ids = index.unembedded(2).map(({ id }) => id);
  expect(ids).toHaveLength(2);
  index.embed([
    { id: ids[0]!, vector: Float32Array.of(1, 0) },
    { id: ids[1]!, vector: Float32Array.of(0.6, 0.8) },
  ]);
  index.embed(index.unembedded(9).map(({ id }) => ({ id, vector: Float32Array.of(1, 0, 0) })));
  expect(index.nearest(Float32Array.of(0, 1), 2).map(({ text }) => text)).toEqual(["two", "one"]);
  expect(index.unembedded(9)).toEqual([]);
});
