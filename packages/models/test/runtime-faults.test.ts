import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, it, test } from "vitest";
import { defaultLimits, type Delta, type Item, type Limits, type Op } from "@holdfast/protocol";
import { drive, post, readSession, type DriveEnd, type Tool } from "@holdfast/runtime";
import type { HttpModelOptions, WireName } from "../src/index.ts";
import { createTestTool, createWorld, done, newSession, portsOf, say, type World } from "../../runtime/test/kit.ts";
import { answerOf, wires, type End, type Said } from "./dialects.ts";
import { connect, listen, sse, type Loopback } from "./loopback.ts";

/**
 * Faults that other programs had with model streams, each by its kind, where the right outcome is the runtime's: a real
 * server, the real wire, the real driver, a clock that doesn't wait.
 */

let server: Loopback | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

/** Answers the request with this number, from 0; the last entry answers all that follow. */
type Reply = (response: ServerResponse) => unknown;

interface Played {
  readonly world: World;
  readonly session: string;
  readonly end: DriveEnd;
  readonly items: readonly Item[];
  readonly deltas: readonly Delta[];
  /** Bodies of the requests, and when each came. */
  readonly bodies: readonly string[];
  readonly at: readonly number[];
}

async function play(wire: WireName, replies: readonly Reply[], options: PlayOptions = {}): Promise<Played> {
  const at: number[] = [];
  const started = await listen((response, index) => {
    at.push(world.clock.now());
    return (replies[index] ?? replies.at(-1))?.(response);
  });
  server = started;
  const model = connect(wire, { baseUrl: started.baseUrl, ...options.model });
  const world: World = createWorld({ model, tools: options.tools ?? [] });
  const ports = portsOf(world);
  const session = await newSession(ports, { limits: options.limits ?? defaultLimits });
  const blob = options.image === undefined ? null : await world.blobs.put(options.image);
  const image = blob === null ? [] : [{ type: "image" as const, blob, mediaType: "image/png" }];
  await post(ports, session, { type: "input.send", parts: [{ type: "text", text: options.prompt ?? "do it" }, ...image] });
  const deltas: Delta[] = [];
  const end = await drive(ports, session, { waiting: "return", onDelta: (delta) => deltas.push(delta) });
  return { world, session, end, items: (await readSession(world, session)).items, deltas, bodies: started.bodies, at };
}
interface PlayOptions {
  readonly tools?: readonly Tool[];
  readonly model?: Partial<HttpModelOptions>;
  readonly image?: Uint8Array;
  readonly prompt?: string;
  readonly limits?: Limits;
}

const says =
  (wire: WireName, said: readonly Said[], end: End): Reply =>
  (response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(answerOf(wire, said, end));
const refuses =
  (status: number, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify({ error: { message: "no" } }));

/** An answer with one call whose input may be no whole JSON, which the Gemini API reports instead of sending it. */
function saysCut(wire: WireName, input: string, end: End): Reply {
  const malformed = { candidates: [{ content: {}, finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "Malformed function call" }] };
  return wire === "gemini"
    ? (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(malformed))
    : says(wire, [{ call: "write", input: [input] }], end);
}
function written(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === "assistant_message" ? [item.text] : []));
}
function failures({ world, session }: Played) {
  return readSession(world, session).then((view) =>
    view.events.flatMap((event) => (event.type === "sampling.failed" ? [event.payload] : [])),
  );
}
const write = () => createTestTool({ name: "write" });

describe.each(wires)("%s", (wire) => {
  const fine = says(wire, [{ text: ["All done."] }], "stop");

  it.each(['{"content":"first ha', '{"path":"a.txt","content":"half'])(
    "T06 lenient JSON repair executed: a call cut as %s is not run, and the model is told",
    async (input) => {
      const tool = write();
      const played = await play(wire, [saysCut(wire, input, "calls"), fine], { tools: [tool] });
      expect(tool.runs).toEqual([]);
      expect(written(played.items)).toEqual(["All done."]);
      if (wire === "gemini") expect(await failures(played)).toMatchObject([{ error: { class: "cut", code: "MALFORMED_FUNCTION_CALL" } }]);
      else expect(played.bodies[1]).toContain("is not valid JSON");
    },
  );

  it("T08 silent drop: a cut call with an ordinary finish and no text is never a success", async () => {
    const tool = write();
    const limits = { ...defaultLimits, stepsPerTurn: 5 };
    const { end, bodies } = await play(wire, [saysCut(wire, '{"content":"first ha', "stop")], { tools: [tool], limits });
    expect(tool.runs).toEqual([]);
    expect(end.exitStatus).not.toBe(0);
    expect(bodies.length).toBeGreaterThan(1);
  });

  it("T11 parallel call dropped: both calls of an answer run, and both results come back", async () => {
    const tool = write();
    const both: readonly Said[] = [1, 2].map((n) => ({ call: "write", input: [`{"n":${n}}`] }));
    const { items, bodies } = await play(wire, [says(wire, both, "calls"), fine], { tools: [tool] });
    expect(tool.runs).toHaveLength(2);
    expect(items.filter((item) => item.kind === "tool_result").map((item) => item.text)).toEqual(['ran {"n":1}', 'ran {"n":2}']);
    // This server gives both calls one id: the first keeps it where the wire sends back the server's own.
    const ids = items.flatMap((item) => (item.kind === "tool_call" ? [item.callId] : []));
    const sent = wire === "responses" ? ['"call_id":"c"', ...ids.slice(1)] : ids;
    for (const id of sent) expect(bodies[1]?.split(id)).toHaveLength(3);
  });

  const soon = () => new Date(Date.now() + 4_000).toUTCString();
  it.each([
    ["429 and seconds", 429, () => ({ "retry-after": "3" }), 3_000],
    ["503 and seconds", 503, () => ({ "retry-after": "3" }), 3_000],
    ["529 and seconds", 529, () => ({ "retry-after": "3" }), 3_000],
    ["a date to come", 429, () => ({ "retry-after": soon() }), 2_500],
    ["milliseconds", 429, () => ({ "retry-after-ms": "3000" }), 3_000],
    ["a date that has passed", 429, () => ({ "retry-after": "Thu, 01 Jan 2015 00:00:00 GMT" }), null],
    ["zero", 429, () => ({ "retry-after": "0" }), null],
    ["a negative number", 429, () => ({ "retry-after": "-3" }), null],
    ["rubbish", 429, () => ({ "retry-after": "soon" }), null],
  ] as const)("T12 Retry-After ignored: %s", async (_, status, headers, least) => {
    const no: Reply = (response) => refuses(status, headers())(response);
    const { at, end } = await play(wire, [no, no, fine]);
    expect(end.standing).toBe("unverified");
    const gaps = at.slice(1).map((time, i) => time - (at[i] ?? 0));
    expect(gaps).toHaveLength(2);
    for (const gap of gaps) {
      if (least === null) expect(gap).toBeLessThan(3_000);
      else expect(gap).toBeGreaterThanOrEqual(least);
    }
  });

  it("T12 Retry-After ignored: a time longer than is ever waited ends the turn, and the person is told how long", async () => {
    const { at, end } = await play(wire, [refuses(429, { "retry-after": "1000000000" })]);
    expect(at).toHaveLength(1);
    expect(end).toMatchObject({ standing: "failed", error: { code: "model_rate_limited" } });
    expect(end.error?.message).toContain("It asks to wait 11574 days.");
  });

  it("T14 idle stream: an answer that falls silent is given up and sampled again", async () => {
    const silent: Reply = (response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).write(answerOf(wire, [{ text: ["a", "b", "c"] }], null));
    const played = await play(wire, [silent, fine], { model: { idleTimeoutMs: 60 } });
    expect(written(played.items)).toEqual(["All done."]);
    expect(await failures(played)).toMatchObject([{ error: { class: "network", code: "idle_timeout" } }]);
  });

  it("T16 retry duplicates output: what a broken attempt said is taken back, its call never existed", async () => {
    const tool = write();
    const broken: Reply = (response) => {
      const said: readonly Said[] = wire === "gemini" ? [{ text: ["Hel"] }] : [{ text: ["Hel"] }, { call: "write", input: ['{"a":'] }];
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(answerOf(wire, said, null), () => setTimeout(() => response.socket?.resetAndDestroy(), 20));
    };
    const second = says(wire, [{ text: ["Hello"] }, { call: "write", input: ['{"b":1}'] }], "calls");
    const { items, deltas } = await play(wire, [broken, second, fine], { tools: [tool] });
    expect(written(items)).toEqual(["Hello", "All done."]);
    expect(items.flatMap((item) => (item.kind === "tool_call" ? [item.input] : []))).toEqual(['{"b":1}']);
    expect(tool.runs).toHaveLength(1);
    const retracted = deltas.flatMap((delta) => (delta.type === "item.retracted" ? [delta.itemId] : []));
    const shown = deltas.flatMap((delta) => ("itemId" in delta && delta.type.endsWith(".delta") ? [delta.itemId] : []));
    const kept = new Set(items.map((item) => item.id));
    expect(retracted.length).toBeGreaterThan(0);
    expect(new Set(retracted)).toEqual(new Set(shown.filter((id) => !kept.has(id))));
  });

  it.each([
    ["nothing at all", []],
    ["white space", [{ text: [" \n"] }]],
    ["thoughts alone", [{ thought: ["Hm."], signature: "SIG" }]],
  ] as const)("T18 empty response: %s after a result is asked about once, and leaves no empty message behind", async (_, said) => {
    const tool = write();
    const replies = [says(wire, [{ call: "write", input: ["{}"] }], "calls"), says(wire, said, "stop"), fine];
    const played = await play(wire, replies, { tools: [tool] });
    expect(played.end.standing).toBe("unverified");
    expect(played.bodies).toHaveLength(3);
    expect(played.bodies[2]).toContain("Your answer was empty.");
    const ports = portsOf(played.world);
    await post(ports, played.session, say("and now?"));
    expect((await drive(ports, played.session, { waiting: "return" })).standing).toBe("unverified");
    for (const body of played.bodies) expect(emptyTexts(JSON.parse(body))).toEqual([]);
  });

  it("T18 empty response: the second one in a row is an error, not an answer", async () => {
    const { end, bodies } = await play(wire, [says(wire, [{ thought: ["Hm."] }], "stop")]);
    expect(end).toMatchObject({ standing: "failed", exitStatus: 1 });
    expect(bodies).toHaveLength(2);
  });

  it.each([20_000, 40_000])(
    "T20 context arithmetic: input and what is reserved for output fit a window of %i together",
    async (contextWindow) => {
      const tool = createTestTool({ name: "write", run: async () => done("word ".repeat(11_200)) });
      const counts: Reply = (response) => {
        const body = server?.bodies.at(-1) ?? "";
        const reserved = Number(/"(?:max_output_tokens|max_tokens|maxOutputTokens)":(\d+)/.exec(body)?.[1] ?? 8_000);
        if (body.length / 4 + reserved <= contextWindow) return fine(response);
        return response.writeHead(400).end(JSON.stringify({ error: { code: "context_length_exceeded", message: "too long" } }));
      };
      const first = says(wire, [{ call: "write", input: ["{}"] }], "calls");
      const { end, bodies } = await play(wire, [first, counts], { tools: [tool], model: { contextWindow } });
      expect(end.standing).toBe("unverified");
      expect(bodies).toHaveLength(2);
    },
  );

  it("T21 error class confusion: a body that is too large is no matter of tokens; the error names it, and it is not sent again", async () => {
    const image = new Uint8Array(2_000_000);
    const limited: Reply = (response) => ((server?.bodies.at(-1)?.length ?? 0) > 1_000_000 ? refuses(413)(response) : fine(response));
    const { end, bodies } = await play(wire, [limited], { image, model: { contextWindow: 200_000 } });
    expect(bodies).toHaveLength(1);
    expect(end).toMatchObject({ standing: "failed", error: { code: "model_invalid_request" } });
    expect(end.error?.message).toMatch(/body of 2\.7 MB is too large, whatever its tokens: images/);
  });

  it("T21 error class confusion: an input that fills the window is told apart from other invalid requests", async () => {
    const fails = async (prompt: string) => {
      const { end } = await play(wire, [refuses(400)], { prompt, model: { contextWindow: 1_000 } });
      await server?.close();
      return end.error?.code;
    };
    expect(await fails("short")).toBe("model_invalid_request");
    expect(await fails("long ".repeat(1_000))).toBe("model_context_overflow");
  });

  it("T22 truncation as success: a stream that never has its final event fails the turn after its retries", async () => {
    const { end, items } = await play(wire, [says(wire, [{ text: ["Half an ans"] }], null)]);
    expect(end).toMatchObject({ standing: "failed", exitStatus: 1, error: { code: "model_cut" } });
    expect(written(items)).toEqual([]);
  });
});

/** Texts without a word in them, and messages without content, wherever they stand in a request. */
function emptyTexts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(emptyTexts);
  if (typeof value !== "object" || value === null) return [];
  const own = Object.entries(value).filter(
    ([key, inner]) =>
      ["text", "content", "parts"].includes(key) &&
      (inner === "" || (typeof inner === "string" && inner.trim() === "") || (Array.isArray(inner) && inner.length === 0)),
  );
  return [...own, ...Object.values(value).flatMap(emptyTexts)];
}

const interrupt: Op = { type: "interrupt", by: "test" };

test.each(wires)("T12 Retry-After ignored: an interrupt during the wait on %s acts at once", async (wire) => {
  const started = await listen((response) => refuses(429, { "retry-after": "500" })(response));
  server = started;
  const world = createWorld({ model: connect(wire, { baseUrl: started.baseUrl }) });
  // A clock whose sleepers only wake when they are called off.
  world.clock.sleep = (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const ports = portsOf(world);
  const session = await newSession(ports);
  await post(ports, session, say("do it"));
  const ended = drive(ports, session, { waiting: "return" });
  while ((await readSession(world, session)).events.every((event) => event.type !== "sampling.failed")) await wait(5);
  await post(ports, session, interrupt);
  expect((await ended).standing).toBe("interrupted");
  expect(started.bodies).toHaveLength(1);
});

test.each(wires)("T14 idle stream: an interrupt of a turn whose %s stream is silent acts at once", async (wire) => {
  let onClose: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (onClose = resolve));
  const started = await listen((response) => {
    response.on("close", onClose);
    response.writeHead(200, { "content-type": "text/event-stream" }).write(answerOf(wire, [{ text: ["a"] }], null));
  });
  server = started;
  const world = createWorld({ model: connect(wire, { baseUrl: started.baseUrl }) });
  const ports = portsOf(world);
  const session = await newSession(ports);
  await post(ports, session, say("do it"));
  const stop = (delta: Delta): unknown => delta.type === "text.delta" && post(ports, session, interrupt);
  const end = await drive(ports, session, { waiting: "return", onDelta: stop });
  expect(end.standing).toBe("interrupted");
  expect(await closed).toBeUndefined();
});
