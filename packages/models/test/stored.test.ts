import type { Item } from "@holdfast/protocol";
import type { Model, ProposedItem } from "@holdfast/runtime";
import { afterEach, expect, test } from "vitest";
import { createBodyDigest, createHttpModel, responsesWire } from "../src/index.ts";
import { collect, listen, type Loopback, requestOf, sse } from "./loopback.ts";

interface Sent {
  readonly input: readonly unknown[];
  readonly instructions: string;
  readonly store: boolean;
  readonly previous_response_id?: string;
}

const identity = { provider: "openai", model: "gpt-5" };
let server: Loopback;
afterEach(() => server.close());

/** Answers each request with a call, and refuses those that `refuse` names, the way it says. */
async function connect(refuse: (index: number, body: Sent) => object | null = () => null): Promise<{ model: Model; sent: () => Sent[] }> {
  server = await listen((response, index) => {
    const refusal = refuse(index, JSON.parse(server.bodies[index] ?? "") as Sent);
    if (refusal !== null) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify(refusal));
      return;
    }
    const id = `resp_${index}`;
    const item = { id: `fc_${index}`, type: "function_call", call_id: `c_${index}`, name: "look", arguments: "{}", status: "completed" };
    const body = { id, object: "response", status: "completed", output: [item], usage: { input_tokens: 9, output_tokens: 1 } };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      [
        { type: "response.created", response: { ...body, status: "in_progress", output: [] } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: body },
      ]
        .map((event) => sse(event))
        .join(""),
    );
  });
  const wire = responsesWire(identity, { isStored: true });
  const model = createHttpModel(wire, { id: "openai/gpt-5", baseUrl: server.baseUrl, apiKey: async () => "key" });
  return { model, sent: () => server.bodies.map((body) => JSON.parse(body) as Sent) };
}

function user(text: string): Item {
  return { kind: "user_message", id: text, trust: "user", parts: [{ type: "text", text }] };
}

/** One step as the runtime takes it: the answer's items go into the window, then their results. */
async function step(model: Model, items: Item[], n: number) {
  const parts = await collect(model, requestOf([...items]));
  const proposed = parts.flatMap((part) => (part.type === "item" ? [part.item] : []));
  for (const item of proposed) items.push({ ...(item as ProposedItem), id: `i${n}`, callId: `call_${n}` } as Item);
  items.push({ kind: "tool_result", id: `r${n}`, callId: `call_${n}`, status: "completed", text: `result ${n}`, trust: "tool" });
  return parts;
}

const forgotten = {
  error: {
    message: "Previous response with id 'resp_1' not found.",
    type: "invalid_request_error",
    param: "previous_response_id",
    code: "previous_response_not_found",
  },
};

test("a request follows on the answer that the provider keeps, and holds only what came since", async () => {
  const { model, sent } = await connect();
  const items = [user("go")];
  for (let n = 0; n < 4; n += 1) await step(model, items, n);
  expect(sent().map(({ previous_response_id: id, input, store }) => ({ id, input: input.length, store }))).toEqual([
    { id: undefined, input: 1, store: true },
    { id: "resp_0", input: 1, store: true },
    { id: "resp_1", input: 1, store: true },
    { id: "resp_2", input: 1, store: true },
  ]);
  expect(sent().at(-1)?.input).toEqual([{ type: "function_call_output", call_id: "c_2", output: "result 2" }]);
  // The protocol doesn't carry them over.
  expect(new Set(sent().map(({ instructions }) => instructions)).size).toBe(1);
});

test("another process goes on from the answer that was kept, and the bytes can be built again from the items", async () => {
  const first = await connect();
  const items = [user("go")];
  await step(first.model, items, 0);
  await server.close();
  const second = await connect();
  const request = requestOf([...items]);
  const [started] = await collect(second.model, request);
  expect(second.sent()[0]?.previous_response_id).toBe("resp_0");
  const sent = started?.type === "started" ? started.sent : undefined;
  expect(sent).toMatchObject({ wire: "responses", isStored: true });
  expect(await createBodyDigest()("openai/gpt-5", sent!, request)).toBe(sent?.digest);
});

test("an answer that the provider no longer knows: the whole conversation goes at once, and the next request follows on again", async () => {
  const { model, sent } = await connect((_, body) => (body.previous_response_id === "resp_1" ? forgotten : null));
  const items = [user("go")];
  let parts: unknown[] = [];
  for (let n = 0; n < 4; n += 1) {
    const given = await step(model, items, n);
    if (n === 2) parts = given;
  }
  expect(parts.filter((part) => (part as { type: string }).type === "failed")).toEqual([]);
  expect(sent().map(({ previous_response_id: id, input }) => [id, input.length])).toEqual([
    [undefined, 1],
    ["resp_0", 1],
    ["resp_1", 1],
    [undefined, 5],
    ["resp_3", 1],
  ]);
  expect(parts.at(0)).toMatchObject({ type: "started", sent: { isWhole: true } });
});

test("a provider that keeps nothing, whatever it is asked, is not asked to follow on for ever", async () => {
  const { model, sent } = await connect((_, body) => (body.previous_response_id === undefined ? null : forgotten));
  const items = [user("go")];
  for (let n = 0; n < 6; n += 1) await step(model, items, n);
  expect(sent().filter(({ previous_response_id: id }) => id !== undefined)).toHaveLength(2);
});

test("any other refusal of a request that follows on is told, not sent again", async () => {
  const { model, sent } = await connect((index) =>
    index === 1 ? { error: { message: "no", type: "invalid_request_error", code: "invalid_prompt" } } : null,
  );
  const items = [user("go")];
  await step(model, items, 0);
  expect((await step(model, items, 1)).at(-1)).toMatchObject({ type: "failed", error: { class: "invalid_request" } });
  expect(sent()).toHaveLength(2);
});

test("a new window, an erased item, another model and a person who lets nothing be kept: each gets the whole conversation", async () => {
  const { model, sent } = await connect();
  const items = [user("go")];
  await step(model, items, 0);
  await step(model, items, 1);
  const wire = responsesWire(identity, { isStored: true });
  const bodyOf = async (list: Item[], of = wire): Promise<Sent> =>
    JSON.parse(new TextDecoder().decode((await of.body(requestOf(list))).bytes)) as Sent;
  expect((await bodyOf([...items])).previous_response_id).toBe("resp_1");
  const newWindow: Item[] = [{ kind: "notice", id: "n", trust: "system", text: "the state" }, ...items.slice(-2)];
  expect((await bodyOf(newWindow)).previous_response_id).toBeUndefined();
  const erased = items.map((item) => (item.id === "go" ? user("[erased]") : item));
  expect((await bodyOf(erased)).previous_response_id).toBeUndefined();
  const other = responsesWire({ provider: "openai", model: "gpt-5-mini" }, { isStored: true });
  expect((await bodyOf([...items], other)).previous_response_id).toBeUndefined();
  const own = await bodyOf([...items], responsesWire(identity));
  expect(own).toMatchObject({ store: false });
  expect(own.previous_response_id).toBeUndefined();
  expect(own.input).toHaveLength(5);
  expect(sent()).toHaveLength(2);
});
