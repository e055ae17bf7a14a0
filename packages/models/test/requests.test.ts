import { describe, expect, it } from "vitest";
import type { Item } from "@holdfast/protocol";
import type { SamplingRequest, ToolSpec } from "@holdfast/runtime";
import { chatWire } from "../src/chat/wire.ts";
import { responsesWire } from "../src/responses/wire.ts";
import type { WireBody } from "../src/wire.ts";
import { requestOf, type WireName } from "./loopback.ts";

const tools: readonly ToolSpec[] = [
  {
    name: "read_file",
    description: "Reads a file.",
    schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
  },
  { name: "search", description: "Finds text.", schema: { type: "object", properties: { pattern: { type: "string" } } } },
];
const pixel = new Uint8Array([137, 80, 78, 71]);
const own = { openai: { provider: "openai", model: "gpt-5" }, chat: { provider: "openai-compatible", model: "qwen" } };

/** A session's items, step by step: each entry is what one step added before its request. */
const steps: readonly (readonly Item[])[] = [
  [
    {
      kind: "user_message",
      id: "i1",
      trust: "user",
      parts: [
        { type: "text", text: "Fix the login bug — 你好 😀\u2028 \ud83d" },
        { type: "image", blob: "b1", mediaType: "image/png" },
        { type: "image", blob: "gone", mediaType: "image/png" },
      ],
    },
    { kind: "notice", id: "i2", trust: "system", text: "The sandbox is on." },
  ],
  [
    {
      kind: "reasoning",
      id: "i3",
      text: "Look first.",
      opaque: { ...own.openai, payload: { encrypted_content: "ENC1", summary: ["Look first."] } },
    },
    {
      kind: "reasoning",
      id: "i4",
      text: "From elsewhere.",
      opaque: { provider: "openai", model: "gpt-4o", payload: { encrypted_content: "OTHER", summary: [] } },
    },
    { kind: "reasoning", id: "i5", text: "Thinking aloud.", opaque: { ...own.chat, payload: { field: "reasoning_content" } } },
    { kind: "assistant_message", id: "i6", text: "I read both.", opaque: { ...own.openai, payload: { phase: "commentary" } } },
    { kind: "tool_call", id: "i7", callId: "call_a", name: "read_file", input: '{"path": "a.ts"}' },
    { kind: "tool_call", id: "i8", callId: "call_b", name: "functions.read file", input: '{"path": "b.t' },
    {
      kind: "tool_call",
      id: "i9",
      callId: "call.c with spaces and much too long for any wire that wants sixty-four characters",
      name: "search",
      input: "",
    },
    { kind: "tool_result", id: "i10", callId: "call_a", status: "completed", trust: "project", text: "const a = 1;\r\n" },
    {
      kind: "tool_result",
      id: "i11",
      callId: "call_b",
      status: "failed",
      trust: "tool",
      text: "not JSON",
      images: [{ blob: "b1", mediaType: "image/png" }],
    },
    {
      kind: "tool_result",
      id: "i12",
      callId: "call.c with spaces and much too long for any wire that wants sixty-four characters",
      status: "denied",
      trust: "tool",
      text: "",
    },
    { kind: "notice", id: "i13", trust: "untrusted", text: "A file changed outside: README.md" },
  ],
  [
    { kind: "assistant_message", id: "i14", text: "Done." },
    { kind: "reasoning", id: "i15", text: "", opaque: { ...own.openai, payload: { encrypted_content: "LEFT OVER", summary: [] } } },
    { kind: "assistant_message", id: "i16", text: " \n" },
    {
      kind: "user_message",
      id: "i17",
      trust: "user",
      parts: [
        { type: "text", text: "And the " },
        { type: "text", text: "empty password?" },
      ],
    },
  ],
];

function requests(more: Partial<SamplingRequest> = {}): SamplingRequest[] {
  const items: Item[] = [];
  return steps.map((step) => {
    items.push(...step);
    return requestOf([...items], { tools, image: async (blob) => (blob === "b1" ? pixel : null), ...more });
  });
}

function wireOf(name: WireName) {
  return name === "responses" ? responsesWire(own.openai) : chatWire(own.chat);
}

function textOf(body: WireBody): string {
  return new TextDecoder().decode(body.bytes);
}

async function bodies(name: WireName, list: readonly SamplingRequest[]): Promise<string[]> {
  const wire = wireOf(name);
  const texts: string[] = [];
  for (const request of list) texts.push(textOf(await wire.body(request)));
  return texts;
}

describe.each(["responses", "chat"] as const)("the %s wire's request", (name) => {
  it("is, byte for byte, what the fixtures hold", async () => {
    for (const [i, body] of (await bodies(name, requests())).entries()) {
      // The fixture is indented for review; JSON.stringify gives its bytes back.
      expect(JSON.stringify(JSON.parse(body))).toBe(body);
      await expect(`${JSON.stringify(JSON.parse(body), null, 2)}\n`).toMatchFileSnapshot(`golden/${name}-step-${i + 1}.json`);
    }
    const [full] = await bodies(name, requests({ effort: "high", maxOutputTokens: 2000, cacheKey: "k".repeat(80) }));
    await expect(`${JSON.stringify(JSON.parse(full ?? ""), null, 2)}\n`).toMatchFileSnapshot(`golden/${name}-with-effort.json`);
    const [bare] = await bodies(name, [requestOf([], { instructions: "", cacheKey: "" })]);
    await expect(`${JSON.stringify(JSON.parse(bare ?? ""), null, 2)}\n`).toMatchFileSnapshot(`golden/${name}-bare.json`);
  });

  it("begins with the bytes of the one before it", async () => {
    const texts = await bodies(name, requests());
    for (const [i, text] of texts.slice(1).entries()) {
      const before = texts[i] ?? "";
      // All but the brackets that close the list and the body.
      expect(text.startsWith(before.slice(0, -2))).toBe(true);
      expect(text.length).toBeGreaterThan(before.length);
    }
  });

  it("is the same from a fresh process as from one that has kept the window", async () => {
    const list = requests();
    const kept = (await bodies(name, list)).at(-1);
    expect((await bodies(name, list.slice(-1))).at(-1)).toBe(kept);
  });

  it("follows a window that was compacted, cut or changed inside", async () => {
    const list = requests();
    const whole = list.at(-1) as SamplingRequest;
    const wire = wireOf(name);
    for (const request of list) await wire.body(request);
    const variants = [
      whole.items.slice(-1),
      whole.items.slice(0, -1),
      whole.items.map((item) => (item.id === "i14" ? ({ ...item, text: "Changed." } as Item) : item)),
    ];
    for (const items of variants) {
      const request = { ...whole, items };
      expect(textOf(await wire.body(request))).toBe(textOf(await wireOf(name).body(request)));
    }
  });

  it("encodes each item and reads each image once", async () => {
    const reads: string[] = [];
    let encodings = 0;
    const items: Item[] = [];
    const wire = wireOf(name);
    for (const step of steps) {
      for (const item of step) {
        // `kind` decides how an item is encoded, so it is read once per encoding.
        items.push(
          new Proxy(item, {
            get: (target, key) => {
              if (key === "kind") encodings += 1;
              return Reflect.get(target, key) as unknown;
            },
          }),
        );
      }
      const image = async (blob: string) => {
        reads.push(blob);
        return blob === "b1" ? pixel : null;
      };
      await wire.body(requestOf([...items], { image }));
    }
    // A window that begins elsewhere, as after a compaction, is put together from what was kept.
    await wire.body(requestOf(items.slice(3)));
    expect(encodings).toBe(items.length);
    expect(reads).toEqual(["b1", "gone", "b1"]);
  });

  it("is whole when two requests for one window are built at the same time", async () => {
    const list = requests();
    const expected = await bodies(name, list);
    const wire = wireOf(name);
    const [first] = list[0]?.items ?? [];
    const slow = list.map((request) => ({
      ...request,
      image: (blob: string) => new Promise<Uint8Array | null>((resolve) => setTimeout(() => resolve(blob === "b1" ? pixel : null), 5)),
    }));
    expect(first).toBe(list[2]?.items[0]);
    const built = await Promise.all(slow.toReversed().map((request) => wire.body(request)));
    expect(built.map(textOf).toReversed()).toEqual(expected);
  });
});

describe("the chat wire", () => {
  it("puts every result directly behind its calls, whatever was logged in between", async () => {
    const call = (id: string): Item => ({ kind: "tool_call", id, callId: id, name: "t", input: "{}" });
    const result = (id: string): Item => ({ kind: "tool_result", id: `r${id}`, callId: id, status: "completed", trust: "tool", text: id });
    const user: Item = { kind: "user_message", id: "u", trust: "user", parts: [{ type: "text", text: "stop that" }] };
    const body = await chatWire(own.chat).body(
      requestOf([call("a"), call("b"), result("b"), user, result("a"), call("c"), result("c")], { instructions: "" }),
    );
    const messages = (JSON.parse(textOf(body)) as { messages: { role: string; tool_call_id?: string }[] }).messages;
    expect(messages.map((message) => message.tool_call_id ?? message.role)).toEqual(["assistant", "b", "a", "user", "assistant", "c"]);
  });
});

describe("the responses wire", () => {
  it("asks for encrypted reasoning only where the model can reason", async () => {
    const ask = async (model: string) =>
      textOf(await responsesWire({ provider: "openai", model }).body(requestOf())).includes("encrypted_content");
    expect([await ask("gpt-5"), await ask("o4-mini"), await ask("gpt-5.3-codex"), await ask("my-own")]).toEqual([true, true, true, true]);
    expect([await ask("gpt-4.1"), await ask("gpt-4o-mini"), await ask("gpt-5-chat-latest"), await ask("chatgpt-4o-latest")]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
