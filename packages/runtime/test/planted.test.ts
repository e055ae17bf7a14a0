import { expect, test } from "vitest";
import { planted, plant } from "./crash/planted.ts";
import { scenarios } from "./crash/scenarios.ts";
import { makeTable } from "./crash/table.ts";

// Tests of the crash table: what it is there to find, it finds.
test.each(planted.map((one) => [one.name, one] as const))("would be found: %s", async (_, { edits, replay, fault, says }) => {
  const played = scenarios.filter((one) => one.replay === replay && (one.name === "a turn" || one.hasActed !== undefined));
  const { api, remove } = await plant(edits);
  try {
    const { wrong } = await makeTable({ played, met: [fault], api });
    expect(wrong.join("\n")).toMatch(says);
  } finally {
    remove();
  }
});
