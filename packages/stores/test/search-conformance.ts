import type { Log, SessionRow } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commitOf, storedEvent } from "./sample.ts";

async function namesOf(rows: AsyncIterable<SessionRow>): Promise<string[]> {
  const names: string[] = [];
  for await (const row of rows) names.push(row.session);
  return names;
}

/** What every log must do to find, rename, weigh and prune sessions. `open` gives an empty one. */
export function describeSearch(name: string, open: () => Promise<{ readonly log: Log; readonly dispose: () => Promise<void> }>): void {
  describe(`${name}: finding and weighing`, () => {
    let log: Log;
    let dispose: () => Promise<void>;
    beforeEach(async () => {
      ({ log, dispose } = await open());
    });
    afterEach(async () => {
      await log.close();
      await dispose();
    });

    const withTexts = (session: string, texts: readonly string[], change: Parameters<typeof commitOf>[2] = {}) =>
      commitOf(session, 0, { events: texts.map((text, index) => storedEvent(session, index + 1, JSON.stringify({ text }))), ...change });
    const forkOf = (session: string, parent: string, seq: number, tip: number, change: Parameters<typeof commitOf>[2] = {}) =>
      commitOf(session, seq, { created: { workspace: "/project", title: session, fork: { session: parent, seq, tip } }, ...change });

    it("finds sessions by pieces of their events and titles, in either case, the newest first", async () => {
      await log.commit(withTexts("old", ["the Login fails", "npm test"], { at: 1 }));
      await log.commit(withTexts("new", ["LOGIN again, and npm"], { at: 2 }));
      await log.commit(withTexts("titled", ["nothing"], { at: 3, created: { workspace: "/other", title: "About login and npm" } }));
      expect(await namesOf(log.search(["login"]))).toEqual(["titled", "new", "old"]);
      // One event must have all of them.
      expect(await namesOf(log.search(["login", "npm"]))).toEqual(["titled", "new"]);
      expect(await namesOf(log.search(["login"], ["/project"]))).toEqual(["new", "old"]);
      expect(await namesOf(log.search(["logout"]))).toEqual([]);
      expect(await namesOf(log.search([]))).toEqual(["titled", "new", "old"]);
    });

    it("takes no character of a piece for a sign of its own", async () => {
      for (const text of ["100%", "a_b", "wow!", "[x]*", "NEAR(a)"]) await log.commit(withTexts(text, [text]));
      await log.commit(withTexts("plain", ["1000 axb wow x neara"]));
      for (const piece of ["100%", "a_b", "wow!", "[x]*", "NEAR(a)"]) expect(await namesOf(log.search([piece]))).toEqual([piece]);
    });

    it("finds nothing of what was erased or deleted", async () => {
      await log.commit(withTexts("s", ["secret", "other"]));
      await log.erase("s", { seqs: [1], blobs: [], title: null, sharers: [] });
      expect(await namesOf(log.search(["secret"]))).toEqual([]);
      await log.delete("s");
      expect(await namesOf(log.search(["other"]))).toEqual([]);
    });

    it("finds shared events in a fork up to where it begins, also where the other session is deleted", async () => {
      await log.commit(withTexts("s", ["shared", "later"]));
      await log.commit(forkOf("f", "s", 1, 2));
      expect((await namesOf(log.search(["shared"]))).sort()).toEqual(["f", "s"]);
      expect(await namesOf(log.search(["later"]))).toEqual(["s"]);
      await log.delete("s");
      expect(await namesOf(log.search(["shared"]))).toEqual(["f"]);
    });

    it("gives a session another title with a commit, and none with one that was refused", async () => {
      await log.commit(commitOf("s", 0));
      await log.commit(commitOf("s", 1, { title: "another" }));
      await log.commit(commitOf("s", 2));
      await expect(log.commit(commitOf("s", 9, { title: "refused" }))).rejects.toMatchObject({ code: "stale_driver" });
      expect((await log.load("s"))?.row.title).toBe("another");
    });

    it("weighs what would be free: not what a session that stays shares or refers to", async () => {
      const large = JSON.stringify("x".repeat(10_000));
      const events = [storedEvent("s", 1, large), storedEvent("s", 2, large)];
      await log.commit(commitOf("s", 0, { events, blobRefs: ["both", "alone"] }));
      await log.commit(commitOf("other", 0, { blobRefs: ["both"] }));
      const [whole] = await log.weigh(["s"]);
      expect(whole).toMatchObject({ session: "s", blobs: ["alone"], isWhole: true });
      expect(whole?.bytes).toBeGreaterThanOrEqual(20_000);
      expect(whole?.bytes).toBeLessThan(30_000);

      await log.commit(forkOf("f", "s", 1, 2));
      const [part] = await log.weigh(["s"]);
      expect(part).toMatchObject({ session: "s", isWhole: false });
      expect(part?.bytes).toBeGreaterThanOrEqual(10_000);
      expect(part?.bytes).toBeLessThan(20_000);
      const together = await log.weigh(["s", "f", "other", "unknown"]);
      expect(together.map(({ session, isWhole }) => [session, isWhole])).toEqual([
        ["s", true],
        ["f", true],
        ["other", true],
      ]);
      expect(together.flatMap(({ blobs }) => blobs).sort()).toEqual(["alone", "both"]);

      // What only the fork needs of a deleted session goes with the fork.
      await log.delete("s");
      expect(await log.weigh(["s"])).toEqual([]);
      const [last] = await log.weigh(["f"]);
      expect(last?.bytes).toBeGreaterThanOrEqual(10_000);
    });

    it("deletes a session that rests, and leaves one alone that went on, is in a turn, or was written to", async () => {
      const idle = { status: "idle" } as const;
      await log.commit(commitOf("s", 0, { count: 2, ...idle }));
      await expect(log.delete("s", 1)).rejects.toMatchObject({ code: "stale_driver" });
      await log.post("s", { messageId: "m", body: "text", at: 1 });
      await expect(log.delete("s", 2)).rejects.toMatchObject({ code: "stale_driver" });
      await log.commit(commitOf("s", 2, { taken: [1] }));
      await expect(log.delete("s", 3)).rejects.toMatchObject({ code: "stale_driver" });
      await log.commit(commitOf("s", 3, idle));
      expect(await log.delete("s", 4)).toEqual(["s"]);
      expect(await log.delete("s", 4)).toEqual([]);
    });
  });
}
