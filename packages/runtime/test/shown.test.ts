import { isHoldfastError } from "@holdfast/protocol/error";
import { expect, test } from "vitest";
import type { Log } from "../src/index.ts";
import { readSession } from "../src/index.ts";
import { compactionsOf } from "../src/session/compactions.ts";
import { requestsOf } from "../src/session/requests.ts";
import { createTestModel, createTestTool, createWorld, portsOf, runPrompt } from "./kit.ts";

test("an event of a log that became one of another type, or none, is no fault of a view: what can be read is shown", async () => {
  const model = createTestModel((index) => (index === 0 ? { calls: [{ name: "look", input: "x" }] } : { text: "done" }));
  const ports = portsOf(createWorld({ model, tools: [createTestTool({ name: "look" })] }));
  const { session } = await runPrompt(ports);
  const stored = await ports.log.read(session, 1);
  const shown = await readSession(ports, session);
  const faults: string[] = [];
  const look = async (what: string, changed: typeof stored): Promise<void> => {
    const log: Log = { ...ports.log, read: async (_, from, to = Infinity) => changed.filter(({ seq }) => seq >= from && seq <= to) };
    for (const view of [readSession, compactionsOf, requestsOf]) {
      await view({ ...ports, log }, session).catch((error: unknown) => {
        if (!isHoldfastError(error, "session_corrupt") && !isHoldfastError(error, "usage")) faults.push(`${what}: ${String(error)}`);
      });
    }
  };
  for (const event of stored) {
    for (const type of ["turn.started", "sampling.settled", "call.settled", "window.compacted", "item.erased", "of another", "toString"]) {
      await look(
        `${event.type} as ${type}`,
        stored.map((one) => (one === event ? { ...one, type } : one)),
      );
    }
    for (const payload of ["{}", "null"]) {
      await look(
        `${event.type} with ${payload}`,
        stored.map((one) => (one === event ? { ...one, payload } : one)),
      );
    }
  }
  expect(faults).toEqual([]);
  expect((await readSession(ports, session)).items).toEqual(shown.items);
});
