import type { Log } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commitOf, owner, storedEvent } from "./sample.ts";

const everyoneLives = () => true;
const nobodyLives = () => false;

/** What every log must do. `open` gives an empty one; `dispose` frees what it used. */
export function describeLog(name: string, open: () => Promise<{ readonly log: Log; readonly dispose: () => Promise<void> }>): void {
  describe(`${name}: the log`, () => {
    let log: Log;
    let dispose: () => Promise<void>;
    beforeEach(async () => {
      ({ log, dispose } = await open());
    });
    afterEach(async () => {
      await log.close();
      await dispose();
    });

    describe("commit", () => {
      it("gives back what was saved", async () => {
        const registers = [
          { kind: "approval", key: "a1", value: '{"open":true}' },
          { kind: "plan", key: "", value: "[]" },
        ];
        await log.commit(commitOf("s", 0, { count: 2, registers, status: "waiting", wakeAt: 5000, at: 10 }));
        const state = await log.load("s");
        expect(state?.row).toEqual({
          session: "s",
          workspace: "/project",
          title: "Session s",
          status: "waiting",
          wakeAt: 5000,
          createdAt: 10,
          updatedAt: 10,
          seq: 2,
          parent: null,
          parentSeq: null,
        });
        expect(state?.head).toBe('{"seq":2}');
        expect(state?.registers).toHaveLength(2);
        expect(state?.registers).toEqual(expect.arrayContaining(registers));
        expect(await log.read("s", 1)).toEqual([storedEvent("s", 1), storedEvent("s", 2)]);
      });

      it("keeps every character, times to their fraction, and missing workspaces", async () => {
        const text = "é 日本 \u{1f600} \0 ' \" \\ \r\n $& ﬁ e\u0301";
        const event = { ...storedEvent("s", 1, text), at: 1_700_000_000_000.25, type: text, salt: null };
        const created = { workspace: null, title: text };
        await log.commit(commitOf("s", 0, { events: [event], head: text, registers: [{ kind: text, key: text, value: text }], created }));
        expect(await log.read("s", 1)).toEqual([event]);
        const state = await log.load("s");
        expect(state).toMatchObject({ head: text, registers: [{ kind: text, key: text, value: text }] });
        expect(state?.row).toMatchObject({ workspace: null, title: text });
      });

      it("overwrites the head, changes and deletes registers, and leaves the others", async () => {
        const set = (key: string, value: string | null) => ({ kind: "fact", key, value });
        await log.commit(commitOf("s", 0, { registers: [set("kept", "1"), set("changed", "1"), set("deleted", "1")] }));
        await log.commit(commitOf("s", 1, { registers: [set("changed", "2"), set("deleted", null), set("never was", null)] }));
        const state = await log.load("s");
        expect(state?.head).toBe('{"seq":2}');
        expect(Object.fromEntries(state?.registers.map(({ key, value }) => [key, value]) ?? [])).toEqual({ kept: "1", changed: "2" });
      });

      it("goes on only where the log ends", async () => {
        await log.commit(commitOf("s", 0, { count: 3 }));
        for (const expectedSeq of [1, 2, 4]) {
          await expect(log.commit(commitOf("s", expectedSeq))).rejects.toMatchObject({ code: "stale_driver" });
        }
        await expect(log.commit(commitOf("s", 0))).rejects.toMatchObject({ code: "stale_driver" });
        await expect(log.commit(commitOf("unknown", 3))).rejects.toMatchObject({ code: "stale_driver" });
        await log.commit(commitOf("s", 3));
        expect((await log.load("s"))?.row.seq).toBe(4);
      });

      it("lets one of many drivers win each step", async () => {
        await log.commit(commitOf("s", 0));
        const results = await Promise.allSettled(Array.from({ length: 8 }, () => log.commit(commitOf("s", 1))));
        expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
      });

      it("keeps a snapshot of head and registers where a commit takes one, and finds the latest before an event", async () => {
        await log.commit(commitOf("s", 0, { head: "one", registers: [{ kind: "fact", key: "a", value: '"1"' }], takesSnapshot: true }));
        await log.commit(commitOf("s", 1, { count: 3, registers: [{ kind: "fact", key: "b", value: "2" }] }));
        const last = { head: "five", registers: [{ kind: "fact", key: "a", value: null }], takesSnapshot: true };
        await log.commit(commitOf("s", 4, last));
        const first = { seq: 1, head: "one", registers: [{ kind: "fact", key: "a", value: '"1"' }] };
        expect(await log.snapshot("s", 0)).toBeNull();
        expect(await log.snapshot("s", 1)).toEqual(first);
        expect(await log.snapshot("s", 4)).toEqual(first);
        expect(await log.snapshot("s", 9)).toEqual({ seq: 5, head: "five", registers: [{ kind: "fact", key: "b", value: "2" }] });
        await log.delete("s");
        expect(await log.snapshot("s", 9)).toBeNull();
      });

      it("can change the head without an event", async () => {
        await log.commit(commitOf("s", 0));
        await log.commit(commitOf("s", 1, { events: [], head: "changed", status: "idle" }));
        expect(await log.load("s")).toMatchObject({ head: "changed", row: { seq: 1, status: "idle" } });
      });

      it("leaves nothing of a commit that fails in a part", async () => {
        await log.commit(commitOf("s", 0, { registers: [{ kind: "fact", key: "a", value: "1" }] }));
        await log.post("s", { messageId: "m1", body: "one", at: 1 });
        const before = await log.load("s");
        const failing = commitOf("s", 1, {
          count: 2,
          registers: [
            { kind: "fact", key: "a", value: "2" },
            { kind: "fact", key: "b", value: "2" },
          ],
          taken: [1, 7],
          outbox: [{ messageId: "o1", to: "other", body: "hello" }],
          blobRefs: ["blob"],
          wakeAt: 99,
        });
        await expect(log.commit(failing)).rejects.toMatchObject({ code: "stale_driver" });
        expect(await log.load("s")).toEqual(before);
        expect(await log.read("s", 1)).toHaveLength(1);
        expect(await log.inbox("s")).toHaveLength(1);
        expect(await log.takeOutbox(10)).toEqual([]);
        expect(await log.referencedBlobs()).toEqual(new Set());

        await expect(log.commit(commitOf("new", 0, { taken: [1] }))).rejects.toMatchObject({ code: "stale_driver" });
        expect(await log.load("new")).toBeNull();
      });

      it("refuses what can't be a log", async () => {
        const first = commitOf("s", 0);
        const { created: _, ...uncreated } = first;
        for (const wrong of [
          uncreated,
          { ...first, events: [] },
          { ...first, events: [storedEvent("s", 2)] },
          { ...first, events: [storedEvent("s", 1), storedEvent("s", 1)] },
          { ...first, events: [storedEvent("other", 1)] },
          commitOf("s", 4, { created: { workspace: null, title: "again" } }),
        ]) {
          await expect(log.commit(wrong)).rejects.toMatchObject({ code: "internal" });
        }
        expect(await log.load("s")).toBeNull();
      });

      it("doesn't share what it keeps with the caller", async () => {
        const event = { ...storedEvent("s", 1) };
        const register = { kind: "fact", key: "a", value: "1" };
        await log.commit(commitOf("s", 0, { events: [event], registers: [register] }));
        event.payload = "changed";
        register.value = "changed";
        expect((await log.read("s", 1))[0]?.payload).toBe(storedEvent("s", 1).payload);
        expect((await log.load("s"))?.registers[0]?.value).toBe("1");
      });
    });

    describe("reading", () => {
      it("knows no session that was never created", async () => {
        expect(await log.load("s")).toBeNull();
        expect(await log.read("s", 1)).toEqual([]);
        expect(await log.inbox("s")).toEqual([]);
        expect(await log.list({})).toEqual([]);
      });

      it("gives the events of a range in order, both ends included", async () => {
        await log.commit(commitOf("s", 0, { count: 20 }));
        await log.commit(commitOf("other", 0, { count: 20 }));
        await log.commit(commitOf("s", 20, { count: 5 }));
        const seqs = async (from: number, to?: number) => (await log.read("s", from, to)).map((event) => event.seq);
        expect(await seqs(18, 22)).toEqual([18, 19, 20, 21, 22]);
        expect(await seqs(24)).toEqual([24, 25]);
        expect(await seqs(0, 2)).toEqual([1, 2]);
        expect(await seqs(25, 24)).toEqual([]);
        expect(await seqs(26)).toEqual([]);
      });
    });

    describe("list", () => {
      beforeEach(async () => {
        const at = (session: string, change: Parameters<typeof commitOf>[2]) => log.commit(commitOf(session, 0, change));
        await at("a", { at: 30, status: "idle", created: { workspace: "/x", title: "" } });
        await at("b", { at: 10, status: "waiting", wakeAt: 100, created: { workspace: "/y", title: "" } });
        await at("c", { at: 20, status: "waiting", wakeAt: 200, created: { workspace: "/x", title: "" } });
        await at("d", { at: 20, status: "running", created: { workspace: null, title: "" } });
      });
      const names = async (filter: Parameters<Log["list"]>[0]) => (await log.list(filter)).map((row) => row.session);

      it("is the one that changed last first, whatever the clock said", async () => {
        expect(await names({})).toEqual(["d", "c", "b", "a"]);
        expect(await names({ limit: 2 })).toEqual(["d", "c"]);
        await log.commit(commitOf("b", 1, { at: 5 }));
        expect(await names({ limit: 2 })).toEqual(["b", "d"]);
        await log.delete("b");
        await log.commit(commitOf("a", 1, { at: 1 }));
        await log.commit(commitOf("e", 0, { at: 0 }));
        expect(await names({})).toEqual(["e", "a", "d", "c"]);
      });

      it("finds by workspace, status, and what is due at a moment", async () => {
        expect(await names({ workspaces: ["/x"] })).toEqual(["c", "a"]);
        expect(await names({ workspaces: ["/y", "/x"] })).toEqual(["c", "b", "a"]);
        expect(await names({ workspaces: [] })).toEqual([]);
        expect(await names({ status: "waiting" })).toEqual(["c", "b"]);
        expect(await names({ wakeBefore: 99 })).toEqual([]);
        expect(await names({ wakeBefore: 100 })).toEqual(["b"]);
        expect(await names({ wakeBefore: 1e15 })).toEqual(["c", "b"]);
        expect(await names({ workspaces: ["/x"], status: "waiting", wakeBefore: 1e15 })).toEqual(["c"]);
        await log.commit(commitOf("b", 1, { wakeAt: null, status: "idle" }));
        expect(await names({ wakeBefore: 1e15 })).toEqual(["c"]);
      });
    });

    describe("inbox", () => {
      const post = (messageId: string, body = messageId) => log.post("s", { messageId, body, at: 7 });

      it("numbers densely from 1, whatever comes between", async () => {
        await log.commit(commitOf("s", 0));
        await log.commit(commitOf("other", 0));
        expect(await post("m1")).toBe(1);
        expect(await log.post("other", { messageId: "m1", body: "", at: 7 })).toBe(1);
        await log.commit(commitOf("s", 1, { taken: [1] }));
        const numbers = await Promise.all(["m2", "m3", "m2", "m4"].map((id) => post(id)));
        expect(numbers).toEqual([2, 3, 2, 4]);
        expect(await log.inbox("s")).toEqual([2, 3, 4].map((number) => ({ number, messageId: `m${number}`, body: `m${number}`, at: 7 })));
      });

      it("makes one of a doubled message, also after it was taken", async () => {
        await log.commit(commitOf("s", 0));
        expect(await post("m1", "first")).toBe(1);
        expect(await post("m1", "second")).toBe(1);
        expect(await log.inbox("s")).toMatchObject([{ body: "first" }]);
        await log.commit(commitOf("s", 1, { taken: [1] }));
        expect(await post("m1")).toBe(1);
        expect(await log.inbox("s")).toEqual([]);
        expect(await post("m2")).toBe(2);
      });

      it("takes a row only where none has come since, if so wished: of several at once just one", async () => {
        await log.commit(commitOf("s", 0));
        expect([await log.posted("s"), await log.posted("none")]).toEqual([0, 0]);
        const at = (messageId: string, after: number) => log.post("s", { messageId, body: messageId, at: 7 }, after);
        expect((await Promise.all(["m1", "m2", "m3"].map((id) => at(id, 0)))).toSorted()).toEqual([1, null, null]);
        await log.commit(commitOf("s", 1, { taken: [1] }));
        expect([await log.posted("s"), await at("m4", 0), await at("m4", 1), await at("m4", 1)]).toEqual([1, null, 2, 2]);
        expect((await log.inbox("s")).map(({ messageId }) => messageId)).toEqual(["m4"]);
      });

      it("lets a commit take any rows, each once", async () => {
        await log.commit(commitOf("s", 0));
        for (const id of ["m1", "m2", "m3", "m4"]) await post(id);
        await log.commit(commitOf("s", 1, { taken: [4, 2] }));
        expect((await log.inbox("s")).map((row) => row.number)).toEqual([1, 3]);
        await expect(log.commit(commitOf("s", 2, { taken: [2] }))).rejects.toMatchObject({ code: "stale_driver" });
        await expect(log.commit(commitOf("s", 2, { taken: [3, 3] }))).rejects.toMatchObject({ code: "stale_driver" });
        await log.commit(commitOf("s", 2, { taken: [1, 3] }));
        expect(await log.inbox("s")).toEqual([]);
      });

      it("refuses a message to a session that is not there", async () => {
        await expect(post("m1")).rejects.toMatchObject({ code: "session_not_found" });
      });
    });

    describe("outbox", () => {
      it("gives a row until it is settled, in order, and one for a doubled message id", async () => {
        const row = (messageId: string) => ({ messageId, to: "child", body: `body of ${messageId}` });
        await log.commit(commitOf("s", 0, { outbox: [row("o1"), row("o2")] }));
        await log.commit(commitOf("t", 0, { outbox: [row("o1")] }));
        await log.commit(commitOf("s", 1, { outbox: [row("o2"), row("o3")] }));
        const all = [
          { session: "s", ...row("o1") },
          { session: "s", ...row("o2") },
          { session: "t", ...row("o1") },
          { session: "s", ...row("o3") },
        ];
        expect(await log.takeOutbox(10)).toEqual(all);
        expect(await log.takeOutbox(2)).toEqual(all.slice(0, 2));
        expect(await log.takeOutbox(10, "s")).toEqual(all.filter(({ session }) => session === "s"));
        expect(await log.takeOutbox(1, "t")).toEqual([all[2]]);
        expect(await log.takeOutbox(10, "unknown")).toEqual([]);
        await log.settleOutbox("s", "o1");
        await log.settleOutbox("s", "o1");
        await log.settleOutbox("unknown", "o1");
        expect(await log.takeOutbox(10)).toEqual(all.slice(1));
      });
    });

    describe("claims", () => {
      it("are taken once, for ever, by attempt", async () => {
        await log.commit(commitOf("s", 0));
        await log.commit(commitOf("t", 0));
        expect(await log.claim("s", "call", 1, "driver a")).toBe(true);
        expect(await log.claim("s", "call", 1, "driver b")).toBe(false);
        expect(await log.claim("s", "call", 1, "driver a")).toBe(false);
        expect(await log.claim("s", "call", 2, "driver b")).toBe(true);
        expect(await log.claimedBy("s", "call", 1)).toBe("driver a");
        expect(await log.claimedBy("s", "call", 2)).toBe("driver b");
        for (const [session, call] of [["s", "none"] as const, ["none", "call"] as const]) {
          expect(await log.claimedBy(session, call, 1)).toBeNull();
        }
        expect(await log.claim("s", "other", 1, "driver b")).toBe(true);
        expect(await log.claim("t", "call", 1, "driver b")).toBe(true);
        await expect(log.claim("u", "call", 1, "driver b")).rejects.toMatchObject({ code: "session_not_found" });
      });
    });

    describe("locks", () => {
      it("have one holder, who can take them again and give them back", async () => {
        const [first, second] = [owner(1), owner(2)];
        expect(await log.holder("workspace")).toBeNull();
        expect(await log.lock("workspace", first, nobodyLives)).toEqual({ held: true });
        expect(await log.lock("workspace", second, everyoneLives)).toEqual({ held: false, holder: first });
        expect(await log.lock("workspace", { ...first, label: "another session" }, everyoneLives)).toEqual({ held: false, holder: first });
        expect(await log.lock("workspace", first, everyoneLives)).toEqual({ held: true });
        expect(await log.lock("another", second, everyoneLives)).toEqual({ held: true });
        await log.unlock("workspace", second);
        await log.unlock("workspace", { ...first, label: "another session" });
        expect(await log.holder("workspace")).toEqual(first);
        await log.unlock("workspace", first);
        expect(await log.holder("workspace")).toBeNull();
        expect(await log.lock("workspace", second, everyoneLives)).toEqual({ held: true });
      });

      it("fall to the next when the holder is dead, and don't come back to it", async () => {
        const [dead, next] = [owner(1), owner(2)];
        await log.lock("workspace", dead, everyoneLives);
        const asked: number[] = [];
        const result = await log.lock("workspace", next, (holder) => {
          asked.push(holder.pid);
          return false;
        });
        expect(result).toEqual({ held: true });
        expect(asked).toEqual([1]);
        await log.unlock("workspace", dead);
        expect(await log.holder("workspace")).toEqual(next);
      });

      it("tell a process from a later one with its number, and from one before a restart of the machine", async () => {
        await log.lock("workspace", owner(1), everyoneLives);
        for (const stranger of [owner(1, { startTime: "200" }), owner(1, { bootId: "later" })]) {
          expect(await log.lock("workspace", stranger, everyoneLives)).toEqual({ held: false, holder: owner(1) });
          await log.unlock("workspace", stranger);
        }
        expect(await log.holder("workspace")).toEqual(owner(1));
      });

      it("tell two processes that began together in two containers, and keep what shows that the holder lives", async () => {
        const [here, there] = [owner(1, { life: "1.a" }), owner(1, { life: "2.b" })];
        await log.lock("workspace", here, everyoneLives);
        for (const stranger of [there, owner(1)]) {
          expect(await log.lock("workspace", stranger, everyoneLives)).toEqual({ held: false, holder: here });
          await log.unlock("workspace", stranger);
        }
        expect(await log.holder("workspace")).toEqual(here);
        await log.unlock("workspace", here);
        expect(await log.holder("workspace")).toBeNull();
      });

      it("stay as they were when the question whether the holder lives fails", async () => {
        await log.lock("workspace", owner(1), everyoneLives);
        const asked = log.lock("workspace", owner(2), () => {
          throw new RangeError("no process table");
        });
        await expect(asked).rejects.toThrow("no process table");
        expect(await log.holder("workspace")).toEqual(owner(1));
      });
    });

    it("wants a session woken for what is posted to it, until its next commit", async () => {
      await log.commit(commitOf("s", 0, { status: "idle" }));
      await log.commit(commitOf("later", 0, { status: "waiting", wakeAt: 9000 }));
      for (const session of ["s", "later"]) await log.post(session, { messageId: "m", body: "{}", at: 5000 });
      await log.post("s", { messageId: "m2", body: "{}", at: 7000 });
      await log.post("s", { messageId: "m", body: "{}", at: 1 });
      const due = async (at: number) => (await log.list({ wakeBefore: at })).map(({ session, wakeAt }) => [session, wakeAt]).sort();
      expect(await due(4999)).toEqual([]);
      expect(await due(5000)).toEqual([
        ["later", 5000],
        ["s", 5000],
      ]);
      await log.commit(commitOf("s", 1, { taken: [1, 2] }));
      await log.commit(commitOf("later", 1, { wakeAt: 9000 }));
      expect(await due(8000)).toEqual([]);
    });

    describe("erasing and deleting", () => {
      it("erases a payload and its salt and keeps the header", async () => {
        await log.commit(commitOf("s", 0, { count: 3 }));
        const second = { seqs: [2, 9], blobs: [], title: null, sharers: [] };
        await log.erase("s", second);
        await log.erase("s", second);
        const events = await log.read("s", 1);
        expect(events[1]).toEqual({ ...storedEvent("s", 2), payload: null, salt: null });
        expect([events[0], events[2]]).toEqual([storedEvent("s", 1), storedEvent("s", 3)]);
        await expect(log.erase("unknown", second)).rejects.toMatchObject({ code: "session_not_found" });
      });

      it("forgets with what it erases all snapshots but the newest, the session's references to blobs, and its title", async () => {
        for (const session of ["s", "other"]) {
          await log.commit(commitOf(session, 0, { head: "one", takesSnapshot: true, blobRefs: [`of ${session}`, "shared", "kept"] }));
          await log.commit(commitOf(session, 1, { head: "two", takesSnapshot: true }));
        }
        const before = await log.load("s");
        await log.erase("s", { seqs: [1, 2], blobs: ["of s", "shared"], title: "[erased]", sharers: [] });
        expect((await log.read("s", 1)).map(({ payload, salt }) => [payload, salt])).toEqual([
          [null, null],
          [null, null],
        ]);
        expect(await log.snapshot("s", 1)).toBeNull();
        expect(await log.snapshot("s", 2)).toMatchObject({ seq: 2, head: "two" });
        expect(await log.snapshot("other", 1)).toMatchObject({ seq: 1, head: "one" });
        expect([...(await log.referencedBlobs())].sort()).toEqual(["kept", "of other", "shared"]);
        expect(await log.load("s")).toEqual({ ...before, row: { ...before?.row, title: "[erased]" } });
        expect((await log.load("other"))?.row.title).toBe("Session other");
      });

      it("deletes all of a session and nothing of another", async () => {
        const full = { registers: [{ kind: "fact", key: "a", value: "1" }], outbox: [{ messageId: "o", to: "x", body: "" }] };
        for (const session of ["s1", "s10"]) {
          await log.commit(commitOf(session, 0, { ...full, count: 3, blobRefs: ["shared", session] }));
          await log.post(session, { messageId: "m", body: "", at: 1 });
          await log.claim(session, "call", 1, "driver");
          await log.lock(`session:${session}`, owner(1), everyoneLives);
          await log.lock(`session/${session}/call/1`, owner(1), everyoneLives);
        }
        await log.lock("workspace:/project", owner(1), everyoneLives);
        const kept = await log.load("s10");
        await log.delete("s1");
        await log.delete("s1");

        expect(await log.load("s1")).toBeNull();
        expect(await log.read("s1", 1)).toEqual([]);
        expect(await log.inbox("s1")).toEqual([]);
        expect((await log.takeOutbox(9)).map((row) => row.session)).toEqual(["s10"]);
        expect(await log.referencedBlobs()).toEqual(new Set(["shared", "s10"]));
        expect(await log.holder("session:s1")).toBeNull();
        expect(await log.holder("session/s1/call/1")).toBeNull();
        expect(await log.holder("session:s10")).toEqual(owner(1));
        expect(await log.holder("workspace:/project")).toEqual(owner(1));
        await expect(log.post("s1", { messageId: "m", body: "", at: 1 })).rejects.toMatchObject({ code: "session_not_found" });
        await expect(log.commit(commitOf("s1", 3))).rejects.toMatchObject({ code: "stale_driver" });
        expect(await log.load("s10")).toEqual(kept);
        expect(await log.read("s10", 1)).toHaveLength(3);
        expect(await log.inbox("s10")).toHaveLength(1);

        await log.commit(commitOf("s1", 0));
        expect((await log.load("s1"))?.registers).toEqual([]);
        expect(await log.post("s1", { messageId: "m", body: "", at: 1 })).toBe(1);
        expect(await log.claim("s1", "call", 1, "driver")).toBe(true);
      });

      it("names every blob that a session refers to", async () => {
        await log.commit(commitOf("s", 0, { blobRefs: ["a", "b"] }));
        await log.commit(commitOf("s", 1, { blobRefs: ["b", "c"] }));
        expect(await log.referencedBlobs()).toEqual(new Set(["a", "b", "c"]));
      });
    });
  });
}
