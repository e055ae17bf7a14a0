import type { Model, SamplingRequest, StreamPart } from "@holdfast/runtime";
import { expect, test } from "vitest";
import { sharingLimit } from "../src/host/shared-limit.ts";

const request = {} as SamplingRequest;
const limited = (retryAfterMs: number | null): StreamPart => ({
  type: "failed",
  error: { class: "rate_limited", message: "slow down", status: 429, code: null, retryAfterMs },
});

/** Three sessions of one process on one provider whose rate is limited until `openAt`. */
function threeSessions(provider: string, answer: (now: number) => StreamPart) {
  const clock = { now: () => now };
  let now = 0;
  let asked = 0;
  const model: Model = {
    id: "p/m",
    contextWindow: null,
    async *sample() {
      asked += 1;
      yield answer(now);
    },
  };
  const sessions = [1, 2, 3].map(() => sharingLimit(model, provider, clock));
  const sample = async (which: number): Promise<StreamPart> => {
    for await (const part of sessions[which]!.sample(request, new AbortController().signal)) return part;
    throw new Error("nothing came");
  };
  return { sample, asked: () => asked, pass: (ms: number) => (now += ms) };
}

test("retry budget shape (C06): sessions that share a provider share its back-off", async () => {
  const { sample, asked, pass } = threeSessions("one", (now) => (now < 60_000 ? limited(60_000 - now) : finished));
  expect(await sample(0)).toMatchObject({ error: { retryAfterMs: 60_000 } });
  pass(10_000);
  expect(await sample(1)).toMatchObject({ type: "failed", error: { class: "rate_limited", retryAfterMs: 50_000 } });
  expect(await sample(2)).toMatchObject({ type: "failed", error: { retryAfterMs: 50_000 } });
  expect(asked()).toBe(1);
  pass(50_000);
  for (const which of [0, 1, 2]) expect(await sample(which)).toBe(finished);
});

test("retry budget shape (C06): without a time the pause grows, is shorter than a session's own, and ends with an answer", async () => {
  let isBusy = true;
  const { sample, asked, pass } = threeSessions("two", () => (isBusy ? limited(null) : finished));
  await sample(0);
  expect(await sample(1)).toMatchObject({ error: { retryAfterMs: 100 } });
  // A session's own first pause is 150 ms at the least, its second 750.
  pass(150);
  await sample(0);
  pass(690);
  await sample(0);
  expect(asked()).toBe(3);
  isBusy = false;
  pass(1_400);
  expect(await sample(2)).toBe(finished);
  isBusy = true;
  await sample(0);
  expect(await sample(1)).toMatchObject({ error: { retryAfterMs: 100 } });
});

const finished: StreamPart = {
  type: "finished",
  finish: "stop",
  usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0 },
  cost: null,
};
