import { expect, test } from "vitest";
import { generatedIn } from "../../runtime/test/durability-page.ts";
import { makeCommandTable, renderCommandTable } from "./command-crashes.ts";
import { makeEditTable, renderEditTable } from "./edit-crashes.ts";

test("a patch of several files is all or nothing at every operation of the edit engine, and each file tells which", async () => {
  const table = await makeEditTable();
  expect(table.wrong).toEqual([]);
  // The operations there are (FileOperations), but for a change of owner, which takes a file of another user's.
  expect([...table.met].toSorted()).toEqual([
    "closeSync",
    "copyFileSync",
    "fchmodSync",
    "fsyncSync",
    "linkSync",
    "mkdirSync",
    "openSync",
    "renameSync",
    "rmdirSync",
    "unlinkSync",
    "writeSync",
  ]);
  expect(generatedIn("edits"), "npm run durability").toBe(renderEditTable(table));
});

test("whatever is left of a command's records, its call is run again, followed, settled with its true end, or in doubt", async () => {
  const rows = await makeCommandTable();
  expect(rows.map(({ left, found }) => [left, found])).toEqual(rows.map(({ left, right }) => [left, right]));
  expect(rows.map(({ left, foundAgain }) => [left, foundAgain])).toEqual(rows.map(({ left, right }) => [left, right]));
  expect(generatedIn("commands"), "npm run durability").toBe(renderCommandTable(rows));
});
