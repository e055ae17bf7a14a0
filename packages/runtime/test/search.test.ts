import { describe, expect, test } from "vitest";
import type { Ports } from "../src/index.ts";
import { drive, eraseItem, forkSession, post, readSession, renameSession, searchSessions } from "../src/index.ts";
import { idsOf, makeSession, memoryStore, sqliteStore } from "./erasing.ts";
import { say } from "./kit.ts";

const wish = { limit: 100, perSession: 100 };

async function hitsOf(ports: Ports, query: string, more: Partial<Parameters<typeof searchSessions>[2]> = {}) {
  const { found } = await searchSessions(ports, query, { ...wish, ...more });
  return found.flatMap(({ row, hits }) => hits.map((hit) => ({ session: row.session, ...hit })));
}

async function goOn(ports: Ports, session: string, text: string): Promise<void> {
  await post(ports, session, say(text));
  await drive(ports, session, { waiting: "return" });
}

describe.each([
  ["memory", memoryStore],
  ["SQLite", sqliteStore],
] as const)("searching, in %s", (_, open) => {
  test("finds prompts, answers, calls, results and titles, each with its turn, its item and its words", async () => {
    const { ports, session } = await makeSession(open());
    await renameSession(ports, session, "A title");
    const ids = await idsOf(ports, session);
    for (const [query, kind, itemId, turn] of [
      ["PROMPT-words", "prompt", ids.prompt, 1],
      ["later-words", "prompt", ids.steering, null],
      ["last-words", "answer", ids.last, null],
      ["command-words", "call", ids.command, 1],
      ["ran-words", "result", ids.ran, 1],
      ["title", "title", null, null],
    ] as const) {
      const [hit, ...others] = await hitsOf(ports, query);
      expect(others).toEqual([]);
      expect(hit).toMatchObject({ session, in: kind, itemId });
      if (turn !== null) expect(hit?.turn).toBe(turn);
      expect(hit?.snippet.found.toLowerCase()).toBe(query.toLowerCase());
    }
  });

  test("all words must occur in one item, phrases as they are, on whatever lines they stand", async () => {
    const { ports, session } = await makeSession(open());
    await goOn(ports, session, 'fix the\n  "login" form in Zürich, 100% of a_b, then ΣΊΣΥΦΟΣ and e\u0301tude');
    const isFound = async (query: string) => (await hitsOf(ports, query)).length === 1;
    for (const query of [
      "login fix",
      '"zürich, 100%"',
      'the "form in" login',
      '"fix the"',
      "ZÜRICH",
      "100%",
      "a_b",
      "étude",
      "E\u0301TUDE",
      "zü fix",
      '"login"',
      "rich",
    ]) {
      expect([query, await isFound(query)]).toEqual([query, true]);
    }
    for (const query of [
      "login signup",
      '"form login"',
      "100_",
      "a%b",
      "log*",
      "login OR signup",
      "NOT signup",
      "fix:login",
      "(login)",
      "^fix",
    ]) {
      expect([query, await isFound(query)]).toEqual([query, false]);
    }
  });

  test("any characters are text: quotes that don't close, operators, NUL, lone surrogates", async () => {
    const { ports } = await makeSession(open());
    for (const query of [
      '"',
      '""',
      '"a',
      "'; DROP TABLE events; --",
      "a\u0000b",
      "\ud800",
      "NEAR(a b)",
      "{x}:y",
      "%",
      "_",
      "\\",
      "\u0130",
    ]) {
      expect([query, (await searchSessions(ports, query, wish)).unreadable.length === 0]).toEqual([query, true]);
    }
    for (const bad of ["", "  \n", "x".repeat(501), Array.from({ length: 21 }, (_, index) => `word${index}`).join(" ")]) {
      await expect(searchSessions(ports, bad, wish)).rejects.toMatchObject({ code: "usage" });
    }
  });

  test("an erased item isn't found, what was stored beside it is, and a deleted session isn't", async () => {
    const { ports, session } = await makeSession(open());
    const ids = await idsOf(ports, session);
    // They came with one sampling, so one event held both.
    expect(await hitsOf(ports, "first-words")).toHaveLength(1);
    await eraseItem(ports, session, ids.thought);
    expect(await hitsOf(ports, "first-words")).toEqual([]);
    expect(await hitsOf(ports, "command-words")).toHaveLength(1);
    expect(await hitsOf(ports, "[erased]")).toEqual([]);
    await ports.log.delete(session);
    expect(await hitsOf(ports, "command-words")).toEqual([]);
  });

  test("an item whose erasure waits for a fork in use is found no more where it was erased", async () => {
    const { ports, session } = await makeSession(open());
    const { session: fork } = await forkSession(ports, session);
    const owner = { ...ports.processes.owner, label: "another process" };
    await ports.log.lock(`session:${fork}`, owner, () => true);
    await expect(eraseItem(ports, session, (await idsOf(ports, session)).ran)).rejects.toMatchObject({ code: "session_busy" });
    expect((await hitsOf(ports, "ran-words")).map((hit) => hit.session)).toEqual([fork]);
  });

  test("what forks share is found once, in the session that changed last", async () => {
    const { ports, session } = await makeSession(open());
    const { session: fork } = await forkSession(ports, session, { title: "fork" });
    await goOn(ports, fork, "further");
    expect((await hitsOf(ports, "ran-words")).map((hit) => hit.session)).toEqual([fork]);
    await ports.log.delete(session);
    expect((await hitsOf(ports, "ran-words")).map((hit) => hit.session)).toEqual([fork]);
    expect((await readSession(ports, fork)).row.title).toBe("fork");
  });

  test("the newest come first, and no more than were asked for", async () => {
    const { ports, session } = await makeSession(open());
    for (let turn = 0; turn < 4; turn += 1) await goOn(ports, session, `needle ${turn}`);
    const { found } = await searchSessions(ports, "needle", { limit: 10, perSession: 3 });
    expect(found[0]?.hits.map(({ snippet }) => snippet.after)).toEqual([" 3", " 2", " 1"]);
    expect(found[0]?.more).toBe(1);
    expect(await hitsOf(ports, "needle", { limit: 2 })).toHaveLength(2);
    expect(await hitsOf(ports, "needle", { workspaces: ["/elsewhere"] })).toEqual([]);
  });

  test("a damaged session is named, and the others are searched", async () => {
    const { ports, session } = await makeSession(open());
    const { session: fork } = await forkSession(ports, session, { title: "ran-words" });
    const read: typeof ports.log.read = async (name, ...range) =>
      (await ports.log.read(name, ...range)).map((event) => (name === fork ? { ...event, payload: "{" } : event));
    const damaged = { ...ports, log: { ...ports.log, read } };
    const { found, unreadable } = await searchSessions(damaged, "ran-words", wish);
    expect(unreadable).toEqual([fork]);
    // Of the damaged one only its title can be told.
    expect(found.map(({ row, hits }) => [row.session, hits.map((hit) => hit.in)]).sort()).toEqual(
      [
        [fork, ["title"]],
        [session, ["result"]],
      ].sort(),
    );
  });

  test("a snippet is one line around the words", async () => {
    const { ports, session } = await makeSession(open());
    await goOn(ports, session, `${"a ".repeat(100)}\n\tneedle\n${"b ".repeat(100)}`);
    const [hit] = await hitsOf(ports, "needle");
    expect(hit?.snippet.before).toMatch(/^…[a ]{60}$/);
    expect(hit?.snippet.after).toMatch(/^[b ]{60}…$/);
  });
});
