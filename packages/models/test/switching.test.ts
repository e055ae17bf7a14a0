import { afterEach, describe, expect, it } from "vitest";
import type { Item } from "@holdfast/protocol";
import { drive, post, readSession } from "@holdfast/runtime";
import { chatWire, geminiWire, messagesWire, responsesWire, type WireName } from "../src/index.ts";
import type { Identity } from "../src/identity.ts";
import { createTestTool, createWorld, done, newSession, portsOf } from "../../runtime/test/kit.ts";
import { answerOf, speak, wires, type End, type Said } from "./dialects.ts";
import { connect, identities, listen, requestOf, wireOf, type Loopback } from "./loopback.ts";
import { checkRequest } from "./strict.ts";

const pixel = new Uint8Array([137, 80, 78, 71]);
const servers: Loopback[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A turn's answers: thoughts, parallel calls of which one fails, one brings an image and one has a name no tool has; then words. */
const working: readonly (readonly [readonly Said[], End])[] = [
  [
    [
      { thought: ["First ", "look."], signature: "" },
      { text: ["I look at it."] },
      { call: "look", input: ['{"a":1}'] },
      { call: "fail", input: ["{}"] },
      { call: "no such.tool", input: ['{"b":', "2}"] },
    ],
    "calls",
  ],
  [
    [
      { thought: ["Now it is clear."], signature: "" },
      { call: "look", input: ['{"a":2}'] },
    ],
    "calls",
  ],
  [[{ thought: ["That is all."], signature: "" }, { text: ["It is done."] }], "stop"],
];

/** A server that works so in each turn, in the words of its wire; what only it understands bears its name. */
async function provider(wire: WireName) {
  let count = 0;
  const server = await listen((response) => {
    const [said, end] = working[count++ % working.length] ?? [[], "stop"];
    const own = said.map((one) => ("thought" in one ? { ...one, signature: signatureOf(wire) } : one));
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(wire === "gemini" ? signedCalls(own, end) : answerOf(wire, own, end));
  });
  servers.push(server);
  return { server, model: connect(wire, { baseUrl: server.baseUrl }) };
}
const signatureOf = (wire: WireName): string => `only-${wire}-reads-this`;

/** Gemini signs the first call of a step. */
function signedCalls(said: readonly Said[], end: End): string {
  const at = said.findIndex((one) => "call" in one);
  const frames = speak.gemini(said, end).map(({ data }) => JSON.stringify(data));
  const signed =
    at < 0
      ? frames
      : frames.map((text) => text.replace('{"functionCall":', `{"thoughtSignature":"${signatureOf("gemini")}","functionCall":`));
  return signed.map((text) => `data: ${text}\n\n`).join("");
}

const pairs = wires.flatMap((from) => wires.filter((to) => to !== from).map((to) => [from, to] as const));

describe("a session that changes its model at a turn's boundary", () => {
  it.each(pairs)("from %s to %s sends requests that are valid to the letter, and back again", async (from, to) => {
    const [first, second] = [await provider(from), await provider(to)];
    const tools = [
      createTestTool({
        name: "look",
        run: async (intent) => done(`seen ${intent.callId}`, { images: [{ blob, mediaType: "image/png" }] }),
      }),
      createTestTool({ name: "fail", run: async () => ({ status: "failed", text: "", trust: "tool" }) }),
    ];
    const world = createWorld({ model: first.model, tools });
    const blob = await world.blobs.put(pixel);
    const session = await newSession(portsOf(world));
    const turn = async (model: typeof first.model): Promise<void> => {
      const ports = portsOf({ ...world, model });
      const image = { type: "image" as const, blob, mediaType: "image/png" };
      await post(ports, session, { type: "input.send", parts: [{ type: "text", text: "Look at this." }, image] });
      expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
    };
    await turn(first.model);
    await turn(second.model);
    await turn(first.model);

    expect([first.server.bodies.length, second.server.bodies.length]).toEqual([6, 3]);
    const kinds = (await readSession(world, session)).items.map((item: Item) => item.kind);
    expect(kinds.filter((kind) => kind === "tool_call")).toHaveLength(12);
    for (const [wire, { server }] of [
      [from, first],
      [to, second],
    ] as const) {
      for (const body of server.bodies) {
        expect(() => checkRequest(wire, body)).not.toThrow();
        for (const other of wires) if (other !== wire) expect(body).not.toContain(signatureOf(other));
      }
    }
    // What one's own model gave comes back, in the turn it was given in and after the other's turn too.
    if (from !== "chat") expect(first.server.bodies[1]).toContain(signatureOf(from));
    if (from !== "chat") expect(first.server.bodies[5]).toContain(signatureOf(from));
    if (from === "chat") expect(first.server.bodies[5]).toContain("First look.");
    // Every result of the other's turn is there, behind its call.
    const results = (await readSession(world, session)).items.filter((item) => item.kind === "tool_result").slice(0, 4);
    for (const { callId } of results) expect(second.server.bodies[0]?.split(callId).length).toBeGreaterThan(2);
  });
});

it.each(wires)("what only one model of %s understands goes to no other model of the same wire, nor to another provider's", async (wire) => {
  const { provider: name, model } = identities[wire];
  const payload = {
    encrypted_content: "OWN",
    summary: [],
    field: "reasoning_content",
    thinking: "OWN",
    signature: "OWN",
    thought_signature: "OWN",
  };
  const opaque = { provider: name, model, payload };
  const items: Item[] = [
    { kind: "user_message", id: "u", trust: "user", parts: [{ type: "text", text: "go" }] },
    { kind: "reasoning", id: "r", text: "OWN", opaque },
    { kind: "assistant_message", id: "a", text: "Done." },
    { kind: "user_message", id: "v", trust: "user", parts: [{ type: "text", text: "more" }] },
  ];
  const bodyOf = async (identity: Identity) => new TextDecoder().decode((await makers[wire](identity).body(requestOf(items))).bytes);
  expect(await bodyOf({ provider: name, model })).toContain("OWN");
  expect(await bodyOf({ provider: name, model: "another" })).not.toContain("OWN");
  expect(await bodyOf({ provider: "another", model })).not.toContain("OWN");
});
const makers = { responses: responsesWire, chat: chatWire, messages: messagesWire, gemini: geminiWire };

describe("the check of a request", () => {
  const call: Item = { kind: "tool_call", id: "c", callId: "call_1", name: "t", input: "{}" };
  const result: Item = { kind: "tool_result", id: "r", callId: "call_1", status: "completed", trust: "tool", text: "ok" };
  const user: Item = { kind: "user_message", id: "u", trust: "user", parts: [{ type: "text", text: "go" }] };
  const built = async (wire: WireName, items: readonly Item[]) =>
    new TextDecoder().decode((await wireOf(wire).body(requestOf(items))).bytes);

  it.each(wires)("of %s refuses a call without its result, a result without its call, and an unknown field", async (wire) => {
    const valid = await built(wire, [user, call, result]);
    expect(() => checkRequest(wire, valid)).not.toThrow();
    expect(() => checkRequest(wire, valid.replace("{", '{"surprise":1,'))).toThrow("surprise");
    for (const items of [
      [user, call, user],
      [user, result],
    ]) {
      const body = await built(wire, items);
      expect(() => checkRequest(wire, body)).toThrow();
    }
  });
});
