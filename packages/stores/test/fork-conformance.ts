import type { Log } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commitOf, storedEvent } from "./sample.ts";

/** What every log must do for forks. `open` gives an empty one; `dispose` frees what it used. */
export function describeForks(name: string, open: () => Promise<{ readonly log: Log; readonly dispose: () => Promise<void> }>): void {
  describe(`${name}: forks`, () => {
    let log: Log;
    let dispose: () => Promise<void>;
    beforeEach(async () => {
      ({ log, dispose } = await open());
    });
    afterEach(async () => {
      await log.close();
      await dispose();
    });

    const forkOf = (session: string, parent: string, seq: number, tip: number, change: Parameters<typeof commitOf>[2] = {}) =>
      commitOf(session, seq, { created: { workspace: "/project", title: session, fork: { session: parent, seq, tip } }, ...change });

    it("share the events up to where they begin, also as forks of forks", async () => {
      await log.commit(commitOf("s", 0, { count: 4, takesSnapshot: true, head: "four" }));
      await log.commit(forkOf("f", "s", 3, 4, { count: 2 }));
      await log.commit(commitOf("s", 4));
      await log.commit(commitOf("f", 5));
      await log.commit(forkOf("g", "f", 2, 6));
      await log.commit(forkOf("h", "f", 5, 6, { takesSnapshot: true, head: "h" }));
      const writers = async (session: string, from = 1, to?: number) =>
        (await log.read(session, from, to)).map((event) => `${event.session}${event.seq}`);
      expect(await writers("s")).toEqual(["s1", "s2", "s3", "s4", "s5"]);
      expect(await writers("f")).toEqual(["s1", "s2", "s3", "f4", "f5", "f6"]);
      expect(await writers("g")).toEqual(["s1", "s2", "g3"]);
      expect(await writers("h")).toEqual(["s1", "s2", "s3", "f4", "f5", "h6"]);
      expect(await writers("h", 3, 4)).toEqual(["s3", "f4"]);
      expect(await log.read("f", 2, 2)).toEqual([storedEvent("s", 2)]);
      expect((await log.load("f"))?.row).toMatchObject({ parent: "s", parentSeq: 3, seq: 6 });
      expect((await log.load("g"))?.row).toMatchObject({ parent: "s", parentSeq: 2 });
      expect((await log.list({})).map(({ session, parent }) => [session, parent]).sort()).toEqual([
        ["f", "s"],
        ["g", "s"],
        ["h", "f"],
        ["s", null],
      ]);
      // A snapshot after the beginning is no part of the history.
      expect(await log.snapshot("f", 6)).toBeNull();
      expect(await log.snapshot("h", 6)).toMatchObject({ seq: 6, head: "h" });
      expect(await log.snapshot("s", 9)).toMatchObject({ seq: 4, head: "four" });
    });

    it("take over the snapshots and references to blobs from before they begin", async () => {
      await log.commit(commitOf("s", 0, { count: 2, takesSnapshot: true, head: "two", blobRefs: ["early"] }));
      await log.commit(commitOf("s", 2, { blobRefs: ["early", "late"] }));
      await log.commit(forkOf("f", "s", 2, 3));
      expect(await log.snapshot("f", 3)).toMatchObject({ seq: 2, head: "two" });
      await log.delete("s");
      expect(await log.referencedBlobs()).toEqual(new Set(["early"]));
    });

    it("are refused where the other session has gone on, is gone, or never was", async () => {
      await log.commit(commitOf("s", 0, { count: 3 }));
      for (const commit of [forkOf("f", "s", 2, 2), forkOf("f", "s", 3, 4), forkOf("f", "none", 2, 3), forkOf("s", "s", 2, 3)]) {
        await expect(log.commit(commit)).rejects.toMatchObject({ code: "stale_driver" });
      }
      await log.commit(forkOf("f", "s", 3, 3));
      await log.delete("s");
      await expect(log.commit(forkOf("g", "s", 3, 3))).rejects.toMatchObject({ code: "stale_driver" });
      await expect(log.commit(commitOf("s", 0))).rejects.toMatchObject({ code: "stale_driver" });
      expect(await log.load("g")).toBeNull();
    });

    it("share an erasure, which waits until all that share the event are named", async () => {
      await log.commit(commitOf("s", 0, { count: 4 }));
      await log.commit(forkOf("f", "s", 3, 4, { count: 2 }));
      await log.commit(forkOf("g", "f", 4, 5));
      await log.commit(forkOf("early", "s", 1, 4));
      expect(await log.sharers("s", [4])).toEqual([]);
      expect(await log.sharers("f", [5])).toEqual([]);
      expect(await log.sharers("f", [4])).toEqual(["g"]);
      expect((await log.sharers("g", [2, 4])).sort()).toEqual(["f", "s"]);
      expect((await log.sharers("s", [1])).sort()).toEqual(["early", "f", "g"]);
      const erasure = { seqs: [2, 4], blobs: [], title: null };
      expect(await log.erase("g", { ...erasure, sharers: ["s"] })).toBe(false);
      expect((await log.read("g", 1)).every(({ payload }) => payload !== null)).toBe(true);
      expect(await log.erase("g", { ...erasure, sharers: ["f", "s"] })).toBe(true);
      const erased = async (session: string) =>
        (await log.read(session, 1)).filter(({ payload }) => payload === null).map(({ seq }) => seq);
      expect([await erased("s"), await erased("f"), await erased("g"), await erased("early")]).toEqual([[2], [2, 4], [2, 4], []]);
    });

    it("keep of a deleted session what they share, and nothing else, until the last of them is deleted", async () => {
      await log.commit(commitOf("s", 0, { count: 5, registers: [{ kind: "fact", key: "a", value: "1" }], blobRefs: ["b"], wakeAt: 1 }));
      await log.post("s", { messageId: "m", body: "x", at: 1 });
      await log.commit(forkOf("f", "s", 3, 5));
      await log.commit(forkOf("g", "f", 2, 4));
      expect(await log.delete("s")).toEqual([]);
      expect([await log.load("s"), await log.read("s", 1), await log.inbox("s")]).toEqual([null, [], []]);
      await expect(log.post("s", { messageId: "m2", body: "x", at: 1 })).rejects.toMatchObject({ code: "session_not_found" });
      expect(await log.list({ wakeBefore: 10 })).toEqual([]);
      expect(await log.read("f", 1, 3)).toEqual([storedEvent("s", 1), storedEvent("s", 2), storedEvent("s", 3)]);
      expect(await log.sharers("g", [1])).toEqual(["f"]);
      expect(await log.delete("f")).toEqual(["f"]);
      expect((await log.read("g", 1)).map(({ session, seq }) => [session, seq])).toEqual([
        ["s", 1],
        ["s", 2],
        ["g", 3],
      ]);
      expect(await log.delete("g")).toEqual(["g", "s"]);
      expect(await log.delete("g")).toEqual([]);
      expect(await log.list({})).toEqual([]);
    });
  });
}
