import { describe, expect, test } from "vitest";
import type { Log } from "../src/index.ts";
import { drive, readSession } from "../src/index.ts";
import { createTestModel, createWorld, portsOf, runPrompt } from "./kit.ts";

const cut = (text: string | null): string | null => text && text.slice(0, text.length / 2);
const damages: readonly [string, (log: Log) => Partial<Log>][] = [
  ["head", (log) => ({ load: async (id) => log.load(id).then((stored) => stored && { ...stored, head: cut(stored.head) ?? "" }) })],
  [
    "register",
    (log) => ({
      load: async (id) =>
        log
          .load(id)
          .then((stored) => stored && { ...stored, registers: stored.registers.map((row) => ({ ...row, value: cut(row.value) })) }),
    }),
  ],
  [
    "event",
    (log) => ({ read: async (...range) => (await log.read(...range)).map((event) => ({ ...event, payload: cut(event.payload) })) }),
  ],
];

describe.each(damages)("a damaged %s", (what, damage) => {
  test("is named as such, when it is driven and when it is read", async () => {
    const world = createWorld({ model: createTestModel(() => ({})) });
    const { session } = await runPrompt(portsOf(world));
    const log = { ...world.log, ...damage(world.log) };
    const fault = expect.objectContaining({ code: "session_corrupt", message: expect.stringContaining(what) });
    await expect(drive({ ...portsOf(world), log }, session, { waiting: "return" })).rejects.toEqual(fault);
    await expect(readSession({ log }, session)).rejects.toEqual(fault);
  });
});
