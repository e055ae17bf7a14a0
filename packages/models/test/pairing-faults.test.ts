import { afterEach, describe, expect, it } from "vitest";
import type { Clock, Log, Ports, Stop } from "@holdfast/runtime";
import { drive, forkSession, post, readSession } from "@holdfast/runtime";
import type { WireName } from "../src/index.ts";
import { expectLaw, expectPaired } from "../../runtime/test/invariants.ts";
import type { TestToolOptions, World } from "../../runtime/test/kit.ts";
import { allow, Crash, createTestTool, createWorld, done, newSession, portsOf, say } from "../../runtime/test/kit.ts";
import { answerOf, wires, type Said } from "./dialects.ts";
import { connect, listen, type Answer, type Loopback } from "./loopback.ts";
import { checkRequest } from "./strict.ts";

/** Fault area 6, calls and their results: each by its kind and id, over every wire, before the strictest server there is. */

let server: Loopback | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

interface Place {
  readonly world: World;
  readonly ports: Ports;
  readonly session: string;
  readonly bodies: readonly string[];
}

async function begin(wire: WireName, answer: Answer, tools: readonly TestToolOptions[], more: Partial<World> = {}): Promise<Place> {
  const started = await listen(answer);
  server = started;
  const world: World = {
    ...createWorld({ model: connect(wire, { baseUrl: started.baseUrl }), tools: tools.map(createTestTool) }),
    ...more,
  };
  const ports = portsOf(world);
  const session = await newSession(ports);
  await post(ports, session, say("do it"));
  return { world, ports, session, bodies: started.bodies };
}

function sends(wire: WireName, said: readonly Said[], end: "calls" | "stop" | null): Answer {
  return (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(answerOf(wire, said, end));
}
const both: readonly Said[] = [
  { call: "slow", input: ['{"n":1}'] },
  { call: "read", input: ['{"n":2}'] },
];

/** Every request was valid, and the session goes on. */
async function expectValid(wire: WireName, { world, ports, session, bodies }: Place): Promise<void> {
  await post(ports, session, say("hi"));
  expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
  for (const body of bodies) checkRequest(wire, body);
  expectPaired((await readSession(ports, session)).items);
  await expectLaw(world.log, session);
}

describe.each(wires)("%s", (wire) => {
  const interrupt = { type: "interrupt", by: "test" } as const;
  const answers: Answer = (response, index) =>
    sends(wire, index === 0 ? both : [{ text: ["Hello."] }], index === 0 ? "calls" : "stop")(response, index);

  it("R01 unpaired after interrupt: while the first of two calls runs", async () => {
    const place = await begin(wire, answers, [
      {
        name: "slow",
        run: async (_, signal) => {
          await post(place.ports, place.session, interrupt);
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return { status: "interrupted", text: "stopped", trust: "tool" };
        },
      },
      { name: "read" },
    ]);
    expect((await drive(place.ports, place.session, { waiting: "return" })).standing).toBe("interrupted");
    await expectValid(wire, place);
  });

  it("R01 unpaired after interrupt: while one of them waits for an approval", async () => {
    const policy = (tool: string) => ({ ...allow, decision: tool === "slow" ? ("review" as const) : ("allow" as const) });
    const place = await begin(wire, answers, [{ name: "slow" }, { name: "read" }], { policy });
    expect((await drive(place.ports, place.session, { waiting: "return" })).standing).toBe("waiting");
    await post(place.ports, place.session, interrupt);
    expect((await drive(place.ports, place.session, { waiting: "return" })).standing).toBe("interrupted");
    await expectValid(wire, place);
  });

  it("R01 unpaired after interrupt: while the arguments are streamed", async () => {
    const place = await begin(
      wire,
      (response, index) => {
        if (index > 0) return answers(response, index);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(answerOf(wire, both, null));
        return post(place.ports, place.session, interrupt);
      },
      [{ name: "slow" }, { name: "read" }],
    );
    expect((await drive(place.ports, place.session, { waiting: "return" })).standing).toBe("interrupted");
    await expectValid(wire, place);
  });

  it("R01 unpaired after interrupt: between the two calls", async () => {
    const place = await begin(wire, answers, [
      { name: "slow", exclusive: true },
      { name: "read", exclusive: true },
    ]);
    let isSent = false;
    const stops = async ({ when, name }: Stop): Promise<void> => {
      if (isSent || when !== "after" || !name.includes("call.settled")) return;
      isSent = true;
      await post(place.ports, place.session, interrupt);
    };
    expect((await drive(place.ports, place.session, { waiting: "return", stops })).standing).toBe("interrupted");
    await expectValid(wire, place);
  });

  it("R02 content after tool_use: what the retry says never follows a call without its result in between", async () => {
    const thinks: readonly Said[] = [{ thought: ["Again."], signature: "c2ln" }, { text: ["Hello."] }];
    const place = await begin(
      wire,
      (response, index) => {
        if (index === 0) return sends(wire, both, "calls")(response, index);
        // Cut behind a thought and some text, then whole.
        return sends(wire, thinks, index === 1 ? null : "stop")(response, index);
      },
      [
        {
          name: "slow",
          run: async () => {
            throw new Error("no answer");
          },
        },
        { name: "read" },
      ],
    );
    expect((await drive(place.ports, place.session, { waiting: "return" })).standing).toBe("unverified");
    expect(place.bodies.length).toBeGreaterThan(2);
    await expectValid(wire, place);
  });
});

it("R15 interrupt id collision: three calls that wait have three approvals, and each answer reaches its own after a restart", async () => {
  const ran: unknown[] = [];
  const three: readonly Said[] = [1, 2, 3].map((n) => ({ call: "ask", input: [`{"n":${n}}`] }));
  const answers: Answer = (response, index) =>
    sends("responses", index === 0 ? three : [{ text: ["Done."] }], index === 0 ? "calls" : "stop")(response, index);
  const policy = () => ({ ...allow, decision: "review" as const });
  const run = async ({ plan }: { plan: { input: unknown } }) => (ran.push(plan.input), done("ran"));
  const place = await begin("responses", answers, [{ name: "ask", run }], { policy });
  const { approvals } = await drive(place.ports, place.session, { waiting: "return" });
  expect(new Set(approvals.map(({ id }) => id)).size).toBe(3);
  const next = portsOf(place.world, 2);
  for (const [index, answer] of [
    [1, "allow"],
    [0, "deny"],
    [2, "allow"],
  ] as const) {
    await post(next, place.session, { type: "approval.answer", approvalId: approvals[index]?.id ?? "", answer, by: "test", note: "" });
  }
  expect((await drive(next, place.session, { waiting: "return" })).standing).toBe("unverified");
  expect(ran.toSorted()).toEqual([{ n: 2 }, { n: 3 }]);
  await expectLaw(place.world.log, place.session);
});

/** What a session is by its order alone: in memory, in the store and in the requests. */
async function orderOf({ ports, session, bodies }: Place): Promise<{ items: string[]; sent: number[] }> {
  const view = await readSession(ports, session);
  const items = view.items.flatMap((item) =>
    item.kind === "user_message" ? item.parts.map((part) => (part.type === "text" ? part.text : "")) : [],
  );
  const last = bodies.at(-1) ?? "";
  return { items, sent: items.map((text) => last.indexOf(`"${text}"`)) };
}

const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((at, index) => at >= 0 && (index === 0 || at > (numbers[index - 1] ?? 0)));

it.each([
  ["R13 non-monotonic ids", [0, 5, -60_000, -59_999]],
  ["R12 clock skew", [600_000, -600_000, 0, 0]],
])("%s: whatever the clock says, the order is that of the log, also in a fork, after a restart, and in the requests", async (_, times) => {
  const answers: Answer = sends("responses", [{ text: ["Hello."] }], "stop");
  let now = 1_700_000_000_000;
  const place = await begin("responses", answers, []);
  const clock: Clock = { ...place.world.clock, now: () => now };
  const start = now;
  for (const [index, time] of times.entries()) {
    now = start + time;
    const ports = { ...portsOf(place.world, index + 1), clock };
    await post(ports, place.session, say(`prompt ${index}`));
    expect((await drive(ports, place.session, { waiting: "return" })).standing).toBe("unverified");
  }
  // One answer each: nobody waits for a later time, or answers twice.
  expect(place.bodies).toHaveLength(times.length);
  const expected = ["do it", ...times.map((__, index) => `prompt ${index}`)];
  const order = await orderOf(place);
  expect(order.items).toEqual(expected);
  expect(isAscending(order.sent)).toBe(true);
  await expectLaw(place.world.log, place.session);
  const { session } = await forkSession({ ...place.ports, clock }, place.session);
  expect((await orderOf({ ...place, session })).items).toEqual(expected);
});

it("R12 clock skew: a thousand messages within a millisecond, by two posters and some of them twice, are taken once each, in the order of their numbers", async () => {
  const place = await begin("responses", sends("responses", [{ text: ["Hello."] }], "stop"), []);
  const posted: string[] = [];
  for (let index = 0; index < 1_000; index += 1) {
    const ports = portsOf(place.world, 1 + (index % 2));
    // Ids that sort against the order in which they come.
    const id = `outside_${String(1_000 - index).padStart(6, "0")}`;
    await post(ports, place.session, say(`m${index}`), id);
    if (index % 7 === 0) await post(ports, place.session, say(`m${index}`), id);
    posted.push(`m${index}`);
  }
  const end = await drive(place.ports, place.session, { waiting: "return" });
  expect(end.standing).toBe("unverified");
  expect((await orderOf(place)).items).toEqual(["do it", ...posted]);
  expect(await place.world.log.inbox(place.session)).toEqual([]);
});

it("R05 orphaned result: a result without its call can't be saved, and one forged into the log is no part of it", async () => {
  const place = await begin("responses", sends("responses", [{ text: ["Hello."] }], "stop"), []);
  await drive(place.ports, place.session, { waiting: "return" });
  const forged: Log = {
    ...place.world.log,
    read: async (session, from, to) => {
      const events = await place.world.log.read(session, from, to);
      const last = events.at(-1);
      if (last === undefined) return events;
      const result = { kind: "tool_result", id: "itm_x", callId: "call_x", status: "completed", text: "", trust: "tool" };
      const payload = JSON.stringify({
        callId: "call_x",
        outcome: { status: "completed", text: "", trust: "tool" },
        result,
        judgement: null,
      });
      return [...events.slice(0, -1), { ...last, type: "call.settled", payload }];
    },
  };
  const ports = { ...portsOf(place.world, 2), log: forged };
  await post(ports, place.session, say("hi"));
  await expect(drive(ports, place.session, { waiting: "return" })).rejects.toMatchObject({ code: "session_corrupt" });
});

it("R05 orphaned result: ten sessions side by side with three calls a step, each killed on the way, pair to the last item", async () => {
  const three: readonly Said[] = [1, 2, 3].map((n) => ({ call: "read", input: [`{"n":${n}}`] }));
  const started = await listen((response, index) =>
    sends("responses", index % 3 === 2 ? [{ text: ["Done."] }] : three, index % 3 === 2 ? "stop" : "calls")(response, index),
  );
  server = started;
  const world = createWorld({ model: connect("responses", { baseUrl: started.baseUrl }), tools: [createTestTool({ name: "read" })] });
  const play = async (n: number): Promise<void> => {
    const session = await newSession(portsOf(world));
    await post(portsOf(world), session, say("go"));
    let left = 3 + n;
    const stops = async (): Promise<void> => {
      if ((left -= 1) === 0) throw new Crash("killed");
    };
    await drive(portsOf(world, 100 + n), session, { waiting: "return", stops }).catch(() => undefined);
    await drive(portsOf(world, 200 + n), session, { waiting: "return" });
    expectPaired((await readSession(world, session)).items);
    await expectLaw(world.log, session);
  };
  await Promise.all(Array.from({ length: 10 }, (_, n) => play(n)));
  for (const body of started.bodies) checkRequest("responses", body);
});
