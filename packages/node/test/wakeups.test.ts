import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Service } from "@holdfast/runtime";
import { serve } from "../src/host/serve.ts";
import { createWakeups } from "../src/host/wakeups.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-wakeups-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const untilIdle = (service: Partial<Service>): Service => ({
  due: async () => [],
  work: async () => undefined,
  atOnce: 2,
  untilIdle: true,
  signal: new AbortController().signal,
  ...service,
});

/** Resolves when another process's ring was heard; never, where only the time passes. */
test("a worker of one process hears the bell of another", async () => {
  const bell = join(folder, "bell");
  const stop = new AbortController();
  let asked = 0;
  const heard = new Promise<void>((resolve) => {
    const done = createWakeups(bell).serve(
      untilIdle({
        untilIdle: false,
        signal: stop.signal,
        due: async () => {
          asked += 1;
          if (asked === 1) setImmediate(() => execFileSync(process.execPath, [join(import.meta.dirname, "wakeups-child.ts"), bell]));
          if (asked === 2) resolve();
          return [];
        },
      }),
    );
    stop.signal.addEventListener("abort", () => void done);
  });
  await heard;
  stop.abort();
});

test("what was begun is brought to its end, also where it can't be asked any more what is due", async () => {
  let isDone = false;
  let asked = 0;
  const served = serve(
    untilIdle({
      due: async () => {
        asked += 1;
        if (asked === 1) return ["a", "b"];
        throw new Error("the disk is gone");
      },
      work: async (session) => {
        if (session === "b") return;
        await new Promise((resolve) => setTimeout(resolve, 30));
        isDone = true;
      },
    }),
    () => new Promise(() => undefined),
  );
  await expect(served).rejects.toThrow("the disk is gone");
  expect(isDone).toBe(true);
});

test("each session is worked on by one at a time, so many together as is said, and all are done in the end", async () => {
  const left = new Set(["a", "b", "c", "d", "e"]);
  const now = new Set<string>();
  let most = 0;
  await serve(
    untilIdle({
      due: async () => [...left],
      work: async (session) => {
        expect(now.has(session)).toBe(false);
        most = Math.max(most, now.add(session).size);
        await new Promise((resolve) => setTimeout(resolve, 5));
        now.delete(session);
        left.delete(session);
      },
    }),
    (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  );
  expect([left.size, most]).toEqual([0, 2]);
});

test("a session that can't be driven, or is due again at once, isn't tried again at once", async () => {
  const tried: string[] = [];
  await serve(
    untilIdle({
      due: async () => ["broken", "again", "good"],
      work: async (session) => {
        tried.push(session);
        if (session === "broken") throw new Error("no model");
      },
    }),
    () => Promise.resolve(),
  );
  expect(tried.toSorted()).toEqual(["again", "broken", "good"]);
});

test("serving ends when it is told to, after what is being worked on", async () => {
  const stop = new AbortController();
  let isDone = false;
  await serve(
    untilIdle({
      untilIdle: false,
      signal: stop.signal,
      due: async () => ["a"],
      work: async () => {
        stop.abort();
        await new Promise((resolve) => setTimeout(resolve, 20));
        isDone = true;
      },
    }),
    (_, signal) => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve()))),
  );
  expect(isDone).toBe(true);
});
