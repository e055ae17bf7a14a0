import { describe, expect, test } from "vitest";
import type { StoredEvent } from "@holdfast/protocol";
import type { Log } from "../src/index.ts";
import { assertDrivable, changeSettings, drive, readEvent, readSession } from "../src/index.ts";
import type { Upcasts } from "../src/session/stored.ts";
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

test("what another commits while nobody's session is looked at doesn't make it look damaged", async () => {
  const world = createWorld({ model: createTestModel(() => ({})) });
  const { session } = await runPrompt(portsOf(world));
  let isFirst = true;
  const log: Log = {
    ...world.log,
    read: async (...range) => {
      if (isFirst) await changeSettings(portsOf(world), session, { effort: "low" });
      isFirst = false;
      return world.log.read(...range);
    },
  };
  await assertDrivable({ ...portsOf(world), log }, session);
  expect(isFirst).toBe(false);
});

test("a session whose head is of a later version is refused, whoever asks, and nothing of it is changed", async () => {
  const world = createWorld({ model: createTestModel(() => ({})) });
  const { session } = await runPrompt(portsOf(world));
  const commits: unknown[] = [];
  const later = (head: string) => JSON.stringify({ ...(JSON.parse(head) as object), version: 2 });
  const log: Log = {
    ...world.log,
    load: async (id) => world.log.load(id).then((stored) => stored && { ...stored, head: later(stored.head) }),
    commit: async (commit) => void commits.push(commit),
  };
  const newer = expect.objectContaining({ code: "session_newer" });
  const ports = { ...portsOf(world), log };
  await expect(drive(ports, session, { waiting: "return" })).rejects.toEqual(newer);
  await expect(readSession({ log }, session)).rejects.toEqual(newer);
  await expect(changeSettings(ports, session, { effort: "low" })).rejects.toEqual(newer);
  expect(commits).toEqual([]);
});

test("an event of an older version is read as a current one, and one of a newer version is refused", () => {
  const notice = { kind: "notice", id: "itm_1", trust: "system", text: "told" };
  const stored: StoredEvent = {
    session: "s",
    seq: 1,
    type: "notice.added",
    version: -1,
    at: 0,
    prev: "",
    digest: "",
    hash: "",
    salt: "",
    payload: '"told"',
  };
  const upcasts: Upcasts = {
    "notice.added": { [-1]: (payload) => ({ text: payload }), 0: (payload) => ({ notice: { ...notice, ...(payload as object) } }) },
  };
  expect(readEvent(stored, upcasts)).toEqual({ type: "notice.added", payload: { notice } });
  expect(readEvent({ ...stored, version: 1, payload: JSON.stringify({ notice }) }, upcasts)).toEqual({
    type: "notice.added",
    payload: { notice },
  });
  expect(readEvent({ ...stored, payload: null }, upcasts)).toBeNull();
  expect(() => readEvent({ ...stored, version: 2 }, upcasts)).toThrow(expect.objectContaining({ code: "session_newer" }));
});
