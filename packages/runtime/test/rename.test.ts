import { describe, expect, test } from "vitest";
import { eraseItem, forkSession, readSession, renameSession } from "../src/index.ts";
import { expectWhole, found, idsOf, makeSession, memoryStore, sqliteStore } from "./erasing.ts";

describe.each([
  ["memory", memoryStore],
  ["SQLite", sqliteStore],
] as const)("renaming, in %s", (_, open) => {
  test("is an event, and the store's row has the title with the same commit", async () => {
    const { ports, session } = await makeSession(open());
    expect(await renameSession(ports, session, "  The login\n bug\t")).toBe("The login bug");
    const { row, events } = await readSession(ports, session);
    expect(row.title).toBe("The login bug");
    expect(events.at(-1)).toMatchObject({ type: "session.renamed", seq: row.seq, payload: { title: "The login bug" } });
    await renameSession(ports, session, "The login bug");
    expect((await readSession(ports, session)).row.seq).toBe(row.seq);
    await expectWhole(ports, session);
  });

  test("a title has no control characters, is not empty and not huge", async () => {
    const { ports, session } = await makeSession(open());
    expect(await renameSession(ports, session, "a\u0000b\u001b[2Jc\u009bd\ud800")).toBe("a b [2Jc d\ufffd");
    for (const bad of ["", " \n", "\u0007", "x".repeat(201)]) {
      await expect(renameSession(ports, session, bad)).rejects.toMatchObject({ code: "usage" });
      await expect(forkSession(ports, session, { title: bad })).rejects.toMatchObject({ code: "usage" });
    }
  });

  test("an erased prompt leaves the title that a person gave, and takes the one that came from it", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    await renameSession(ports, session, "A name of its own");
    const { session: fork } = await forkSession(ports, session);
    await eraseItem(ports, session, (await idsOf(ports, session)).prompt);
    for (const one of [session, fork]) {
      expect((await readSession(ports, one)).row.title).toBe("A name of its own");
      await expectWhole(ports, one);
    }
    expect(found(await store.contents())).not.toContain("prompt-words");
  });

  test("an erased prompt takes a title that was made of its words later", async () => {
    const store = open();
    const { ports, session } = await makeSession(store);
    await renameSession(ports, session, "A name of its own");
    await renameSession(ports, session, "prompt-words");
    await eraseItem(ports, session, (await idsOf(ports, session)).prompt);
    expect((await readSession(ports, session)).row.title).toBe("[erased]");
    expect(found(await store.contents())).not.toContain("prompt-words");
    await renameSession(ports, session, "Named again");
    expect((await readSession(ports, session)).row.title).toBe("Named again");
    await expectWhole(ports, session);
  });

  test("a title given while a fork in use holds an erasure up stays when the erasure is finished", async () => {
    const { ports, session } = await makeSession(open());
    const { session: fork } = await forkSession(ports, session);
    const { prompt } = await idsOf(ports, session);
    const owner = { ...ports.processes.owner, label: "another process" };
    await ports.log.lock(`session:${fork}`, owner, () => true);
    await expect(eraseItem(ports, session, prompt)).rejects.toMatchObject({ code: "session_busy" });
    // Shown nowhere, also not as the title.
    expect((await readSession(ports, session)).row.title).toBe("[erased]");
    await renameSession(ports, session, "Given meanwhile");
    await ports.log.unlock(`session:${fork}`, owner);
    await eraseItem(ports, session, prompt);
    expect((await readSession(ports, session)).row.title).toBe("Given meanwhile");
    for (const one of [session, fork]) await expectWhole(ports, one);
  });

  test("a session that another process drives is not renamed", async () => {
    const { ports, session } = await makeSession(open());
    await ports.log.lock(`session:${session}`, { ...ports.processes.owner, label: "another" }, () => true);
    await expect(renameSession(ports, session, "x")).rejects.toMatchObject({ code: "session_busy" });
    await expect(renameSession(ports, "ses_none", "x")).rejects.toMatchObject({ code: "session_not_found" });
  });
});
