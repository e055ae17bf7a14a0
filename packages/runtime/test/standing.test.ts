import { expect, test } from "vitest";
import type { Log } from "../src/index.ts";
import { drive, post, readSession, readStanding } from "../src/index.ts";
import { createTestModel, createTestTool, createWorld, portsOf, runPrompt, say } from "./kit.ts";

/** A session of several turns, and what is read of its log. */
async function longSession(steps: number) {
  let begun = 0;
  const world = createWorld({
    model: createTestModel((asked) => ({ calls: asked < begun + steps ? [{ name: "read", input: asked }] : [] })),
    tools: [createTestTool({ name: "read" })],
  });
  const ports = portsOf(world);
  const { session } = await runPrompt(ports);
  begun = steps + 1;
  const reads: (readonly [from: number, to: number | undefined])[] = [];
  const log: Log = {
    ...world.log,
    read: (id, from, to) => {
      reads.push([from, to]);
      return world.log.read(id, from, to);
    },
  };
  return { ports, session, log, reads };
}

test("nothing of the log is read where no turn is open", async () => {
  const { session, log, reads } = await longSession(3);
  const standing = await readStanding({ log }, session);
  expect(standing.openTurn).toEqual([]);
  expect(reads).toEqual([]);
  const { row, settings, roots, cwd, checks, plan } = await readSession({ log }, session);
  expect(standing).toMatchObject({ row, settings, roots, cwd, checks, plan });
});

test.each([1, 300])("of an open turn of %i steps all is read, and little of what came before", async (steps) => {
  const { ports, session, log, reads } = await longSession(steps);
  const stop = new AbortController();
  await post(ports, session, say("once more"));
  let commits = 0;
  const onEvent = (): void => {
    commits += 1;
    if (commits === 2 * steps) stop.abort();
  };
  await drive(ports, session, { waiting: "return", signal: stop.signal, onEvent }).catch(() => undefined);
  const { events } = await readSession({ log: ports.log }, session);
  const from = events.findLastIndex(({ type }) => type === "turn.started");
  expect(events.slice(from).some(({ type }) => type === "turn.ended")).toBe(false);
  expect((await readStanding({ log }, session)).openTurn).toEqual(events.slice(from));
  expect(Math.min(...reads.map(([first]) => first))).toBeGreaterThan((events[from]?.seq ?? 0) - 500);
});
