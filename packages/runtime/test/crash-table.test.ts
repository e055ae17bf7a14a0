import { expect, test } from "vitest";
import { scenarios } from "./crash/scenarios.ts";
import { createSqliteTailLog } from "./crash/sqlite-tail-log.ts";
import { gapsOf, makeTable, renderTable } from "./crash/table.ts";
import { generatedIn } from "./durability-page.ts";

test("whatever goes wrong at whichever boundary, nothing is lost, repeated or forgotten, and docs/durability.md says what happens", async () => {
  const table = await makeTable();
  expect(table.wrong).toEqual([]);
  expect(gapsOf(table)).toEqual([]);
  expect(generatedIn("sessions"), "npm run durability").toBe(renderTable(table));
}, 120_000);

test("the same with SQLite's file set back to what it was at the last flush", async () => {
  const played = scenarios.filter(({ name, replay }) => name === "a turn" && (replay === "never" || replay === "probe"));
  const { wrong, cells } = await makeTable({ played, met: ["lost tail, normal"], makeLog: createSqliteTailLog });
  expect(wrong).toEqual([]);
  expect(cells.length).toBeGreaterThan(50);
}, 120_000);
