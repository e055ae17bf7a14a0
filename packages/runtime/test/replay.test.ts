import type { Json, StoredEvent } from "@holdfast/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BodyDigest, Hooks, Log, Model, Ports, SamplingRequest } from "../src/index.ts";

import { drive, eraseItem, forkSession, headerHash, payloadDigest, post, readSession, sha256, type ReplayReport } from "../src/index.ts";
import { replaySession } from "../src/session/replay.ts";
import type { World } from "./kit.ts";
import { createTestModel, createTestTool, createWorld, done, portsOf, runPrompt, say } from "./kit.ts";
import { playSession, randomSession } from "./random-session.ts";

/** More sessions with `npm run fuzz`. */
const runs = Number(process.env["HOLDFAST_TEST_RUNS"] ?? 60);

function bodyOf({ instructions, tools, items, cacheKey, effort, maxOutputTokens }: SamplingRequest): string {
  return sha256(JSON.stringify([instructions, tools, items, cacheKey, effort, maxOutputTokens]));
}

const bodyDigest: BodyDigest = async (_, { wire }, request) => (wire === "test" ? bodyOf(request) : null);

/** A model that says of what bytes its requests were. */
function withBody(model: Model): Model {
  return {
    ...model,
    async *sample(request, signal) {
      for await (const part of model.sample(request, signal)) {
        yield part.type === "started" ? { type: "started", sent: { wire: "test", digest: bodyOf(request) } } : part;
      }
    },
  };
}

function replay(ports: Pick<Ports, "log" | "blobs" | "director">, session: string): Promise<ReplayReport> {
  return replaySession({ log: ports.log, blobs: ports.blobs, director: ports.director, bodyDigest }, session);
}

/** The log as it would be read if one event had another payload; `chained`: with hashes that fit. */
function altered(log: Log, seq: number, change: (payload: Json) => Json, chained: boolean): Log {
  const alter = (events: readonly StoredEvent[]): StoredEvent[] => {
    let prev = "";
    return events.map((event) => {
      const payload = event.seq === seq ? JSON.stringify(change(JSON.parse(event.payload ?? "null") as Json)) : event.payload;
      if (!chained) return { ...event, payload };
      const header = { ...event, payload, prev, digest: payloadDigest(event.salt ?? "", payload ?? "") };
      prev = headerHash(header);
      return { ...header, hash: prev };
    });
  };
  return { ...log, read: async (session, from, to) => alter(await log.read(session, from, to)) };
}

/** The same value with one of its leaves changed. */
function changeLeaf(value: Json, choice: number): Json {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((one, index) => (index === choice % value.length ? changeLeaf(one, Math.floor(choice / value.length)) : one));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const keys = Object.keys(value);
    if (keys.length === 0) return { added: true };
    const key = keys[choice % keys.length] ?? "";
    return { ...value, [key]: changeLeaf((value as Record<string, Json>)[key] ?? null, Math.floor(choice / keys.length)) };
  }
  return typeof value === "string" ? `${value}!` : typeof value === "number" ? value + 1 : value !== true;
}

test(
  `${runs} random sessions replay equal, and a changed event is found where it is`,
  async () => {
    await fc.assert(
      fc.asyncProperty(randomSession, fc.nat(), fc.nat(), async (input, place, choice) => {
        const { world, session } = await playSession(input);
        const ports = portsOf(world);
        const report = await replay(ports, session);
        expect(report.departure).toBeNull();
        expect(report.unrecorded).toBe(0);
        expect((await replay(ports, session)).digest).toBe(report.digest);

        const events = await world.log.read(session, 1);
        expect(report.events).toBe(events.length);
        const seq = 1 + (place % events.length);
        const change = (payload: Json): Json => changeLeaf(payload, choice);
        const found = await replay({ ...ports, log: altered(world.log, seq, change, false) }, session);
        expect(found.departure).toMatchObject({ seq, what: "chain" });
        // Whoever can compute the hashes has still changed what follows from the event.
        const forged = await replay({ ...ports, log: altered(world.log, seq, change, true) }, session);
        expect(forged.departure?.seq).toBeGreaterThanOrEqual(seq);
      }),
      { numRuns: runs },
    );
  },
  30_000 + runs * 100,
);

function twoSteps(): { readonly world: World; readonly ports: Ports } {
  const tool = createTestTool({ name: "read", run: async ({ plan }) => done(`read ${JSON.stringify(plan.input)}`) });
  const model = withBody(createTestModel((index) => (index % 3 < 2 ? { calls: [{ name: "read", input: { n: index } }] } : {})));
  const world = createWorld({ model, tools: [tool] });
  return { world, ports: portsOf(world) };
}

describe("replay", () => {
  test("builds each request again, to the bytes of its body", async () => {
    const { ports } = twoSteps();
    const { session } = await runPrompt(ports);
    expect(await replay(ports, session)).toMatchObject({ departure: null, requests: 3, bodies: 3, unrecorded: 0, after: 0 });
  });

  test("names the request that other words led to", async () => {
    const { ports } = twoSteps();
    const { session } = await runPrompt(ports);
    const events = await ports.log.read(session, 1);
    const samplings = events.filter(({ type }) => type === "sampling.settled").map(({ seq }) => seq);
    const result = events.find(({ type }) => type === "call.settled");
    const change = (payload: Json): Json => {
      const settled = payload as { result: Record<string, Json> };
      return { ...settled, result: { ...settled.result, text: "something else" } } as Json;
    };
    // Hashes that fit, also at the tip: only the next request tells.
    const report = await replay({ ...ports, log: altered(ports.log, result?.seq ?? 0, change, true) }, session);
    expect(report.departure).toMatchObject({ seq: samplings[1], what: "request" });
    expect(report.departure?.detail).toContain("items");
  });

  test("names other instructions and other tools", async () => {
    const { ports } = twoSteps();
    const { session } = await runPrompt(ports);
    const first = (await ports.log.read(session, 1)).find(({ type }) => type === "sampling.settled");
    const director = {
      ...ports.director,
      direct: (input: Parameters<Ports["director"]["direct"]>[0]) => ({ ...input, instructions: "x" }),
    };
    expect((await replay({ ...ports, director }, session)).departure).toMatchObject({
      seq: first?.seq,
      what: "request",
      detail: expect.stringContaining("instructions"),
    });
    const tools = (payload: Json): Json => ({ ...(payload as object), tools: [{ name: "other", description: "", schema: {} }] }) as Json;
    const log = altered(ports.log, first?.seq ?? 0, tools, true);
    expect((await replay({ ...ports, log }, session)).departure?.detail).toContain("tools");
  });

  test("takes the tools from the log: what the program offers now doesn't matter", async () => {
    const { ports, world } = twoSteps();
    const { session } = await runPrompt(ports);
    const more = portsOf({ ...world, tools: [...world.tools, createTestTool({ name: "later" })] });
    await post(more, session, say("again"));
    await drive(more, session, { waiting: "return" });
    expect(await replay(ports, session)).toMatchObject({ departure: null, unrecorded: 0 });
    const brought = (await readSession(ports, session)).events.flatMap((event) =>
      event.type === "sampling.settled" && event.payload.tools !== undefined ? [event.payload.tools.map(({ name }) => name)] : [],
    );
    expect(brought).toEqual([["read"], ["read", "later"]]);
  });

  test("names an event that the plan had no place for", async () => {
    const { ports } = twoSteps();
    const { session } = await runPrompt(ports);
    const settled = (await ports.log.read(session, 1)).find(({ type }) => type === "call.settled");
    const other = (payload: Json): Json => ({ ...(payload as object), callId: "call_none" }) as Json;
    const report = await replay({ ...ports, log: altered(ports.log, settled?.seq ?? 0, other, true) }, session);
    expect(report.departure).toMatchObject({ seq: settled?.seq, what: "plan" });
  });

  test("names a register and a head that don't follow from the log", async () => {
    const { ports } = twoSteps();
    const { session } = await runPrompt(ports);
    const load: Log["load"] = async (id) => {
      const found = await ports.log.load(id);
      return found === null
        ? null
        : {
            ...found,
            registers: found.registers.map((row) =>
              row.kind === "settings" ? { ...row, value: row.value?.replace('"ask"', '"deny"') ?? null } : row,
            ),
          };
    };
    expect((await replay({ ...ports, log: { ...ports.log, load } }, session)).departure).toMatchObject({ what: "register" });
    const otherHead: Log["load"] = async (id) => {
      const found = await ports.log.load(id);
      return found === null ? null : { ...found, head: found.head.replace('"turns":1', '"turns":2') };
    };
    const report = await replay({ ...ports, log: { ...ports.log, load: otherHead } }, session);
    expect(report.departure).toMatchObject({ what: "head", detail: expect.stringContaining("turns") });
  });

  test("a fork replays with what it shares", async () => {
    const { ports } = twoSteps();
    const { session } = await runPrompt(ports);
    const { session: fork } = await forkSession(ports, session);
    await post(ports, fork, say("elsewhere"));
    await drive(ports, fork, { waiting: "return" });
    const report = await replay(ports, fork);
    expect(report).toMatchObject({ departure: null, unrecorded: 0 });
    expect(report.requests).toBeGreaterThan(3);
  });

  test("behind an erasure it starts at the snapshot, and no digest left tells what was erased", async () => {
    const { ports } = twoSteps();
    const { session } = await runPrompt(ports);
    const before = await readSession(ports, session);
    const result = before.items.find((item) => item.kind === "tool_result");
    const brought = (await ports.log.read(session, 1)).find(
      ({ type, payload }) => type === "call.settled" && payload?.includes(result?.id ?? ""),
    );
    await eraseItem(ports, session, result?.id ?? "");
    await post(ports, session, say("again"));
    await drive(ports, session, { waiting: "return" });
    const report = await replay(ports, session);
    expect(report).toMatchObject({ departure: null, unrecorded: 0 });
    expect(report.after).toBeGreaterThan(brought?.seq ?? 0);
    // The salt by which alone the digests could be tried out.
    expect(JSON.stringify(await ports.log.read(session, 1))).not.toContain(brought?.salt);
  });

  test("says of how many requests nothing is recorded: those to which a hook said words that were not saved yet", async () => {
    const { ports } = twoSteps();
    const hooks: Hooks = {
      has: (event) => event === "before_model",
      run: async () => [{ hook: "user: test", trust: "user", result: "passed", reason: "", context: "mind the gap", durationMs: 1 }],
    };
    const { session } = await runPrompt({ ...ports, hooks });
    expect(await replay(ports, session)).toMatchObject({ departure: null, requests: 0, unrecorded: 3 });
    // Saved by now, they are part of every later request.
    await post(ports, session, say("again"));
    await drive(ports, session, { waiting: "return" });
    expect(await replay(ports, session)).toMatchObject({ departure: null, requests: 3, bodies: 3, unrecorded: 3 });
  });
});
