import type { WorldSection } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { changeSettings, drive, post, readEvent, type Ports } from "../src/index.ts";
import { requestsOf } from "../src/session/requests.ts";
import { createTestModel, createTestTool, createWorld, newSession, portsOf, say } from "./kit.ts";

interface Seen {
  sections: WorldSection[];
  hasMoved: boolean;
  looks: number;
}

/** A world that a test changes, and that says when it has moved. */
function watched(ports: Ports, seen: Seen): Ports {
  return {
    ...ports,
    observer: {
      ...ports.observer,
      world: async () => {
        seen.looks += 1;
        seen.hasMoved = false;
        return seen.sections;
      },
      hasMoved: () => seen.hasMoved,
    },
  };
}

const section = (id: string, text: string): WorldSection => ({ id, trust: "system", text });

async function eventsOf(ports: Ports, session: string) {
  return (await ports.log.read(session, 1)).flatMap((stored) => readEvent(stored) ?? []);
}

function place(onRun: () => void) {
  const model = createTestModel((asked) => (asked % 3 < 2 ? { calls: [{ name: "work", input: { asked } }] } : { text: "done" }));
  const tool = createTestTool({ name: "work", run: async () => (onRun(), { status: "completed", text: "worked", trust: "tool" }) });
  const world = createWorld({ model, tools: [tool] });
  const seen: Seen = { sections: [section("env", "branch main"), section("rules", "be kind")], hasMoved: false, looks: 0 };
  return { model, seen, world, ports: watched(portsOf(world), seen) };
}

test("what moved during a turn is told before the next step; where nothing moved nobody looks", async () => {
  let runs = 0;
  const { model, seen, ports } = place(() => {
    runs += 1;
    if (runs !== 1) return;
    seen.sections = [section("env", "branch other"), section("new", "fresh")];
    seen.hasMoved = true;
  });
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  await drive(ports, session, { waiting: "return" });
  expect(runs).toBe(2);
  expect(seen.looks).toBe(2);
  const events = await eventsOf(ports, session);
  const observed = events.flatMap((event) => (event.type === "world.observed" ? [event.payload] : []));
  expect(observed.map(({ sections, gone }) => [sections.map(({ id }) => id), gone])).toEqual([
    [["env", "rules"], undefined],
    [["env", "new"], ["rules"]],
  ]);
  const kinds = model.requests.at(1)?.items.map(({ kind }) => kind);
  expect(kinds?.slice(-2)).toEqual(["tool_result", "notice"]);
  expect(model.requests[1]?.items.at(-1)).toMatchObject({
    text: "news: env=branch other, new=fresh, rules=gone",
    context: { kind: "world", reason: "it was seen" },
  });
  expect(model.requests[2]?.items.filter(({ kind }) => kind === "notice")).toHaveLength(1);
});

test("who goes on with a session is told everything once, with what passes; what is gone is told as such", async () => {
  const { model, seen, world, ports } = place(() => undefined);
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  await drive(ports, session, { waiting: "return" });
  await post(ports, session, say("again"));
  await drive(ports, session, { waiting: "return" });
  const told = () => model.requests.at(-1)?.items.flatMap((item) => (item.kind === "notice" ? [item.text] : [])) ?? [];
  // The same process had it: nothing changed, nothing is told.
  expect(told()).toEqual([]);
  // Another session in between changes nothing of that: this process was the last to have it.
  const other = await newSession(ports);
  await post(ports, other, say("elsewhere"));
  await drive(ports, other, { waiting: "return" });
  await post(ports, session, say("on"));
  await drive(ports, session, { waiting: "return" });
  expect(told()).toEqual([]);
  const next = watched(portsOf(world, 2), seen);
  await post(next, session, say("elsewhere"));
  await drive(next, session, { waiting: "return" });
  expect(told()).toHaveLength(1);
  expect(told()[0]).toMatch(/^all: env=branch main, rules=be kind, budget=the tokens of this session/);
  seen.sections = [section("env", "branch main")];
  await post(next, session, say("without rules"));
  await drive(next, session, { waiting: "return" });
  expect(told().at(-1)).toBe("news: rules=gone");
  const passing = (await eventsOf(ports, session)).flatMap((event) =>
    event.type === "world.observed" ? [event.payload.passing?.map(({ id }) => id)] : [],
  );
  expect(passing).toEqual([undefined, ["budget"], undefined]);
});

test("a look that fails between steps ends no turn", async () => {
  const { seen, ports } = place(() => (seen.hasMoved = true));
  let looks = 0;
  const failing: Ports = {
    ...ports,
    observer: {
      ...ports.observer,
      world: async (isTrusted) => {
        looks += 1;
        if (looks > 1) throw new Error("git did not come to an end");
        return ports.observer.world(isTrusted);
      },
    },
  };
  const session = await newSession(failing);
  await post(failing, session, say("go"));
  expect((await drive(failing, session, { waiting: "return" })).standing).toBe("unverified");
  expect(looks).toBeGreaterThan(1);
});

test("a request is derived again as it was: its items, tools, world and what its usage says; of an open one what is known", async () => {
  const { model, ports } = place(() => undefined);
  const session = await newSession(ports);
  await expect(requestsOf(ports, session)).rejects.toMatchObject({ code: "usage" });
  await post(ports, session, say("go"));
  await drive(ports, session, { waiting: "return" });
  const { count, found } = await requestsOf(ports, session, [1, 3, 2]);
  expect(count).toBe(3);
  expect(found.map(({ number, step, status }) => [number, step, status])).toEqual([
    [1, 1, "answered"],
    [3, 3, "answered"],
    [2, 2, "answered"],
  ]);
  for (const one of found) {
    expect(one.items).toEqual(model.requests[one.number - 1]?.items);
    expect(one.tools?.map(({ name }) => name)).toEqual(["work"]);
    expect(one.usage).toMatchObject({ inputTokens: 100 });
    expect(one.world.map(({ id }) => id)).toEqual(["env", "rules"]);
    expect(one.items.every(({ id }) => one.origins.has(id))).toBe(true);
  }
  await expect(requestsOf(ports, session, [4])).rejects.toMatchObject({ code: "usage" });
  await changeSettings(ports, session, { effort: "low" });
  const stopping = new Error("stopped");
  await post(ports, session, say("more"));
  const stopped = drive(ports, session, {
    waiting: "return",
    stops: async ({ what, when, name }) => {
      if (what === "effect" && when === "before" && name.startsWith("sample")) throw stopping;
    },
  });
  await expect(stopped).rejects.toBe(stopping);
  const open = await requestsOf(ports, session);
  expect(open.found[0]).toMatchObject({ number: 4, turn: 2, status: "open", usage: null, counted: { tokens: 100 } });
});
