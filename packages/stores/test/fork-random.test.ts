import type { Commit, Log } from "@holdfast/runtime";
import { createMemoryLog } from "@holdfast/stores/memory";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryFolder } from "./folder.ts";
import { commitOf } from "./sample.ts";

/** Numbers that pick among the sessions and events there are when the step is made. */
interface Step {
  readonly kind: "begin" | "commit" | "snapshot" | "fork" | "erase" | "delete" | "deleteAtRest" | "post" | "take";
  readonly which: number;
  readonly at: number;
  readonly all: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("begin", "commit", "snapshot", "fork", "fork", "fork", "erase", "delete", "deleteAtRest", "post", "take"),
  which: fc.nat(),
  at: fc.nat(),
  all: fc.boolean(),
});

/** What a step answers, or the code it throws. */
async function answer(of: () => Promise<unknown>): Promise<unknown> {
  try {
    const said = await of();
    return Array.isArray(said) ? said.toSorted() : said;
  } catch (error) {
    return { code: (error as { code?: unknown }).code };
  }
}

async function take(log: Log, names: readonly string[], { kind, which, at, all }: Step, count: number): Promise<unknown> {
  const fresh = `s${count}`;
  const name = names[which % Math.max(1, names.length)] ?? "none";
  const state = await log.load(name);
  const tip = state?.row.seq ?? 0;
  const seq = 1 + (at % Math.max(1, tip));
  const commit = (session: string, expectedSeq: number, change: Partial<Commit> & { readonly count?: number }) =>
    answer(() =>
      log.commit(commitOf(session, expectedSeq, { at: 1_700_000_000_000 + count, status: all ? "idle" : "running", ...change })),
    );
  switch (kind) {
    case "begin":
      return commit(fresh, 0, { count: 3, blobRefs: [`b${count}`] });
    case "commit":
    case "snapshot":
      return commit(name, tip, {
        count: 1 + (at % 3),
        blobRefs: [`b${at % 5}`],
        registers: [{ kind: "fact", key: `k${at % 3}`, value: all ? null : `"${count}"` }],
        takesSnapshot: kind === "snapshot",
      });
    case "fork":
      // Now and then of a tip that is not there any more.
      return commit(fresh, seq, {
        created: { workspace: "/project", title: fresh, fork: { session: name, seq, tip: at % 7 === 0 ? tip - 1 : tip } },
        blobRefs: [`b${count}`],
        takesSnapshot: all,
      });
    case "erase": {
      const seqs = [...new Set([seq, 1 + (which % Math.max(1, tip))])];
      const sharers = await log.sharers(name, seqs);
      const erasure = { seqs, blobs: [`b${at % 5}`], title: all ? "[erased]" : null, sharers: at % 3 === 0 ? sharers.slice(1) : sharers };
      return answer(() => log.erase(name, erasure));
    }
    case "delete":
      return answer(() => log.delete(name));
    case "deleteAtRest":
      return answer(() => log.delete(name, at % 4 === 0 ? tip + 1 : tip));
    case "post":
      return answer(() => log.post(name, { messageId: `m${at % 4}`, body: "x", at: count }));
    case "take": {
      const [first] = await log.inbox(name);
      return commit(name, tip, { taken: [first?.number ?? 9] });
    }
  }
}

/** All that can be asked of a log. */
async function seen(log: Log, made: readonly string[]): Promise<unknown> {
  const sessions = await Promise.all(
    made.map(async (name) => {
      const state = await log.load(name);
      const tip = state?.row.seq ?? 0;
      const events = await log.read(name, 1);
      const perEvent = await Promise.all(
        Array.from({ length: tip }, async (_, index) => {
          const snapshot = await log.snapshot(name, index + 1);
          return {
            sharers: (await log.sharers(name, [index + 1])).toSorted(),
            snapshot: snapshot === null ? null : { ...snapshot, registers: snapshot.registers.toSorted(byKey) },
          };
        }),
      );
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: tip }, (_, index) => index + 1));
      expect(await log.read(name, 2, tip - 1)).toEqual(events.slice(1, Math.max(1, tip - 1)));
      const known = state === null ? null : { ...state, registers: state.registers.toSorted(byKey) };
      return { name, state: known, events, perEvent, inbox: await log.inbox(name) };
    }),
  );
  const listed = (await log.list({})).map(({ session }) => session);
  const weights = (await log.weigh(listed.slice(0, 2))).map(({ session, blobs, isWhole }) => ({
    session,
    isWhole,
    blobs: blobs.toSorted(),
  }));
  return {
    sessions,
    listed,
    weights,
    running: await log.list({ status: "running" }),
    blobs: [...(await log.referencedBlobs())].toSorted(),
  };
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}

it("both logs answer alike through random commits, forks, erasures and deletions, and keep nothing in the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const { folder, dispose } = temporaryFolder();
      const logs = [createMemoryLog(), openSqliteLog(`${folder}/store/sessions.db`)] as const;
      const [memory, sqlite] = logs;
      const made: string[] = [];
      try {
        for (const [count, one] of [{ kind: "begin", which: 0, at: 0, all: true } as Step, ...steps].entries()) {
          const [inMemory, inSqlite] = [await take(memory, made, one, count), await take(sqlite, made, one, count)];
          expect(inSqlite, JSON.stringify(one)).toEqual(inMemory);
          if (one.kind === "begin" || one.kind === "fork") made.push(`s${count}`);
          expect(await seen(sqlite, made)).toEqual(await seen(memory, made));
        }
        for (const name of made) expect(await answer(() => sqlite.delete(name))).toEqual(await answer(() => memory.delete(name)));
        for (const log of logs) expect([await log.list({}), await log.referencedBlobs()]).toEqual([[], new Set()]);
      } finally {
        for (const log of logs) await log.close();
        await dispose();
      }
    }),
    { numRuns: 40 },
  );
});
