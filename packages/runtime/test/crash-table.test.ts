import { expect, test } from "vitest";
import { generatedIn } from "./durability-page.ts";
import { planted, plant } from "./crash/planted.ts";
import { scenarios } from "./crash/scenarios.ts";
import { gapsOf, makeTable, renderTable } from "./crash/table.ts";

test("whatever goes wrong at whichever boundary, nothing is lost, repeated or forgotten, and docs/durability.md says what happens", async () => {
  const table = await makeTable();
  expect(table.wrong).toEqual([]);
  expect(gapsOf(table)).toEqual([]);
  expect(generatedIn("sessions"), "npm run durability").toBe(renderTable(table));
});

test.each(planted.map((one) => [one.name, one] as const))("would be found: %s", async (_, { edits, replay, fault, says }) => {
  const played = scenarios.filter((one) => one.replay === replay && (one.name === "a turn" || one.hasActed !== undefined));
  const { api, remove } = await plant(edits);
  try {
    const { wrong } = await makeTable(played, [fault], api);
    expect(wrong.join("\n")).toMatch(says);
  } finally {
    remove();
  }
});
