import { createPolicy } from "@holdfast/policy";
import type { Json } from "@holdfast/protocol";
import { drive, readSession, type Ports } from "@holdfast/runtime";
import { createMemoryBlobs } from "@holdfast/stores/memory";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSite, type Site } from "../../runtime/test/network-conformance.ts";
import { Crash, createTestModel, createWorld, portsOf, runPrompt } from "../../runtime/test/kit.ts";
import { createTools } from "../src/index.ts";
import { httpPorts } from "./http-ports.ts";

/** A shop on loopback: each charge that arrives is counted, whatever becomes of its answer. */
let shop: Site;
beforeEach(async () => {
  shop = await openSite();
});
afterEach(() => shop.close());

const keys = () => shop.requests.map(({ headers }) => headers["idempotency-key"]);
const charge = (more: { readonly [key: string]: Json } = {}) => ({
  name: "http_request",
  input: { url: `http://127.0.0.1:${shop.port}/charge`, method: "POST", json: { amount: 100 }, timeout_s: 2, ...more },
});

/** A session whose model proposes these calls one after another, under the real tool and the real policy. */
function session(calls: readonly { readonly name: string; readonly input: Json }[], keyedHosts: readonly string[] = []) {
  const world = createWorld({
    model: createTestModel((asked) => ({ calls: calls[asked] === undefined ? [] : [calls[asked]] })),
    tools: createTools({
      files: {} as Ports["files"],
      blobs: createMemoryBlobs(),
      processes: null,
      isRedacted: () => false,
      http: httpPorts({}, { keyedHosts }),
    }),
  });
  const ports = { ...portsOf(world), policy: createPolicy() };
  const results = async (id: string) =>
    (await readSession(ports, id)).items.flatMap((item) => (item.kind === "tool_result" ? [{ status: item.status, text: item.text }] : []));
  return { world, ports, results };
}
const settings = { network: ["127.0.0.1"] };
const keyed = ["127.0.0.1"];

test("a charge without a key whose answer is lost is in doubt and never repeated; an equal one is asked for", async () => {
  shop.on("/charge", () => undefined);
  const { ports, results } = session([charge(), charge()]);
  const { session: id, end } = await runPrompt(ports, settings);
  expect(shop.requests).toHaveLength(1);
  expect(await results(id)).toMatchObject([{ status: "in_doubt", text: expect.stringContaining("may have happened") as string }]);
  expect(end).toMatchObject({ standing: "waiting", approvals: [{ rule: { id: "builtin:repeats-doubt" } }] });
});

const json = { amount: 100, to: "a" };
/** Ways to write the charge of which one is in doubt. */
const sameCharge: readonly ((url: string) => { readonly [key: string]: Json })[] = [
  (url) => ({ url: `${url}?`, json }),
  (url) => ({ url: `${url}#now`, json }),
  (url) => ({ url: url.replace("charge", "%63harg%65"), json }),
  (url) => ({ url: url.replace("http:", "HTTP:"), json, timeout_s: 1 }),
  (url) => ({ url, body: '{ "to": "a", "amount": 100 }' }),
  (url) => ({ url, json, headers: {}, idempotent: false }),
  (url) => ({ url, json, method: "post", headers: { "content-type": "application/json" } }),
  (url) => ({ url, json: { to: "a", amount: 100 }, headers: { Accept: "text/plain", "User-Agent": "again" } }),
];

test("a charge in doubt is known however it is written, and another is not taken for it", async () => {
  shop.on("/charge", () => undefined);
  const post = (input: { readonly [key: string]: Json }) => ({ name: "http_request", input: { method: "POST", timeout_s: 1, ...input } });
  const url = `http://127.0.0.1:${shop.port}/charge`;
  const ends = sameCharge.map(async (written) => {
    const { ports } = session([post({ url, json }), post(written(url))]);
    return (await runPrompt(ports, settings)).end;
  });
  for (const end of await Promise.all(ends)) expect(end.approvals).toMatchObject([{ rule: { id: "builtin:repeats-doubt" } }]);
  expect(shop.requests).toHaveLength(sameCharge.length);
  const { ports: bare } = session([{}, { body: "" }].map((body) => post({ url, ...body })));
  expect((await runPrompt(bare, settings)).end.approvals).toMatchObject([{ rule: { id: "builtin:repeats-doubt" } }]);
  const others = [{ json: { ...json, to: "b" } }, { json, headers: { "X-Account": "2" } }].map((other) => post({ url, ...other }));
  const { ports } = session([post({ url, json }), ...others]);
  expect((await runPrompt(ports, settings)).end.approvals).toEqual([]);
});

test("a charge with a key is asked for again with the same key, until the answer comes", async () => {
  shop.on("/charge", (request, response) => {
    if (shop.requests.length < 3) request.socket.destroy();
    else response.writeHead(201).end("charged once");
  });
  const { ports, results } = session([charge()], keyed);
  const { session: id } = await runPrompt(ports, settings);
  expect(keys()).toHaveLength(3);
  expect(new Set(keys()).size).toBe(1);
  expect(keys()[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(await results(id)).toMatchObject([{ status: "completed", text: expect.stringContaining("charged once") as string }]);
});

test("a charge with a key that never gets an answer is asked for three times and then in doubt", async () => {
  shop.on("/charge", (_, response) => response.writeHead(504).end("no answer from upstream"));
  const { ports, results } = session([charge()], keyed);
  const { session: id } = await runPrompt(ports, settings);
  expect([keys().length, new Set(keys()).size]).toEqual([3, 1]);
  expect(await results(id)).toMatchObject([{ status: "in_doubt" }]);
});

test("a charge that went out before its target was gone is not called undone", async () => {
  shop.on("/charge", (request) => {
    request.socket.destroy();
    void shop.close();
  });
  const { ports, results } = session([charge()], keyed);
  const { session: id } = await runPrompt(ports, settings);
  expect(await results(id)).toMatchObject([{ status: "in_doubt" }]);
});

test("a charge that never reached anybody failed, and nothing is in doubt", async () => {
  const gone = await openSite();
  await gone.close();
  const { ports, results } = session([charge({ url: `http://127.0.0.1:${gone.port}/charge` })]);
  const { session: id } = await runPrompt(ports, settings);
  expect(await results(id)).toMatchObject([{ status: "failed", text: expect.stringContaining("could not be reached") as string }]);
});

test.each([
  ["without a key, is in doubt", [], 1, "in_doubt"],
  ["with a key, is asked for again with it", keyed, 2, "completed"],
] as const)("a charge that was out when the program was killed, %s", async (_, keyedHosts, times, status) => {
  shop.on("/charge", (__, response) => response.end("charged"));
  const { world, ports, results } = session([charge()], keyedHosts);
  await runPrompt(ports, settings, {
    stops: async ({ when, what, name }) => {
      if (when === "before" && what === "commit" && name.includes("call.settled")) throw new Crash("killed");
    },
  }).catch(() => undefined);
  const id = (await world.log.list({}))[0]?.session ?? "";
  const after = { ...portsOf(world, 2), policy: createPolicy() };
  await drive(after, id, { waiting: "return" });
  expect([keys().length, new Set(keys()).size]).toEqual([times, 1]);
  expect(await results(id)).toMatchObject([{ status }]);
});

test("without a network the charge waits for a person, and nothing is sent before", async () => {
  const { ports } = session([charge()]);
  const { end } = await runPrompt(ports, { network: "none" });
  expect(end).toMatchObject({ standing: "waiting", approvals: [{ scope: { network: [`127.0.0.1:${shop.port}`] } }] });
  expect(shop.requests).toEqual([]);
});

test("that its target knows the key is not taken from the model: a person is asked before it is sent at all", async () => {
  const { ports } = session([charge({ idempotent: true })]);
  const { end } = await runPrompt(ports, settings);
  expect(end).toMatchObject({ standing: "waiting", approvals: [{ rule: { id: "builtin:claimed-key" } }] });
  expect(shop.requests).toEqual([]);
});
