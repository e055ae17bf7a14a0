import { describe, expect, it } from "vitest";
import type { Item } from "@holdfast/protocol";
import type { SamplingRequest, ToolSpec } from "@holdfast/runtime";
import { chatWire } from "../src/chat/wire.ts";
import { responsesWire } from "../src/responses/wire.ts";
import type { WireBody } from "../src/wire.ts";
import { geminiWire, messagesWire, type WireName } from "../src/index.ts";
import { wires } from "./dialects.ts";
import { identities, requestOf, wireOf } from "./loopback.ts";

const tools: readonly ToolSpec[] = [
  {
    name: "read_file",
    description: "Reads a file.",
    schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
  },
  { name: "search", description: "Finds text.", schema: { type: "object", properties: { pattern: { type: "string" } } } },
];
const pixel = new Uint8Array([137, 80, 78, 71]);
const own = { openai: identities.responses, chat: identities.chat, anthropic: identities.messages, google: identities.gemini };

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
    {
      kind: "reasoning",
      id: "i5a",
      text: "Weighing.",
      opaque: { ...own.anthropic, payload: { thinking: "Weighing.", signature: "SIG1" } },
    },
    { kind: "reasoning", id: "i5b", text: "", opaque: { ...own.anthropic, payload: { data: "REDACTED" } } },
    { kind: "reasoning", id: "i5c", text: "Pondering.", opaque: { ...own.google, payload: { thought_signature: "SIG2" } } },
    { kind: "assistant_message", id: "i6", text: "I read both.", opaque: { ...own.openai, payload: { phase: "commentary" } } },
    {
      kind: "tool_call",
      id: "i7",
      callId: "call_a",
      name: "read_file",
      input: '{"path": "a.ts"}',
      opaque: { ...own.google, payload: { thought_signature: "SIG3" } },
    },
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
    { kind: "reasoning", id: "i15a", text: "", opaque: { ...own.anthropic, payload: { thinking: "Cut o", signature: "LEFT OVER" } } },
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

const cacheMark = ',"cache_control":{"type":"ephemeral"}';

function textOf(body: WireBody): string {
  return new TextDecoder().decode(body.bytes);
}

async function bodies(name: WireName, list: readonly SamplingRequest[]): Promise<string[]> {
  const wire = wireOf(name);
  const texts: string[] = [];
  for (const request of list) texts.push(textOf(await wire.body(request)));
  return texts;
}

describe.each(wires)("the %s wire's request", (name) => {
  it("is, byte for byte, what the fixtures hold", async () => {
    for (const [i, body] of (await bodies(name, requests())).entries()) {
      // The fixture is indented for review; JSON.stringify gives its bytes back.
      // Some wires hold the model's own JSON text, its blank too.
      expect(JSON.stringify(JSON.parse(body))).toBe(body.replace('{"path": "a.ts"}', '{"path":"a.ts"}'));
      await expect(`${JSON.stringify(JSON.parse(body), null, 2)}\n`).toMatchFileSnapshot(`golden/${name}-step-${i + 1}.json`);
    }
    const [full] = await bodies(name, requests({ effort: "high", maxOutputTokens: 2000, cacheKey: "k".repeat(80) }));
    await expect(`${JSON.stringify(JSON.parse(full ?? ""), null, 2)}\n`).toMatchFileSnapshot(`golden/${name}-with-effort.json`);
    const [bare] = await bodies(name, [requestOf([], { instructions: "", cacheKey: "" })]);
    await expect(`${JSON.stringify(JSON.parse(bare ?? ""), null, 2)}\n`).toMatchFileSnapshot(`golden/${name}-bare.json`);
  });

  it("begins with the bytes of the one before it", async () => {
    // What can differ from step to step stands behind the list: here the longest answer, as near a limit.
    const list = requests().map((request, step) => ({ ...request, effort: step === 0 ? "low" : "high", maxOutputTokens: 2_000 - step }));
    // Marks of what to cache move on from request to request; they are no part of the prefix.
    const texts = (await bodies(name, list)).map((text) => text.replaceAll(cacheMark, ""));
    for (const [i, text] of texts.slice(1).entries()) {
      const before = texts[i] ?? "";
      // All but what closes the list and the body.
      const end = before.lastIndexOf("]", before.search(/,"(?:reasoning|reasoning_effort|max_tokens|generationConfig)":[^[]*$/));
      expect(end).toBeGreaterThan(before.length - 200);
      expect(text.startsWith(before.slice(0, end))).toBe(true);
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

/** The bodies of a wire's requests, as JSON. */
async function parsed<T>(wire: ReturnType<typeof wireOf>, items: readonly Item[], more: Partial<SamplingRequest> = {}): Promise<T> {
  return JSON.parse(textOf(await wire.body(requestOf(items, more)))) as T;
}
const call = (id: string): Item => ({ kind: "tool_call", id, callId: id, name: "t", input: "{}" });
const result = (id: string): Item => ({ kind: "tool_result", id: `r${id}`, callId: id, status: "completed", trust: "tool", text: id });
const user = (text: string): Item => ({ kind: "user_message", id: `u${text}`, trust: "user", parts: [{ type: "text", text }] });

describe("the messages wire", () => {
  interface Body {
    readonly max_tokens: number;
    readonly thinking?: { readonly type: string; readonly budget_tokens?: number };
    readonly output_config?: { readonly effort: string };
    readonly system?: readonly object[];
    readonly tools?: readonly object[];
    readonly messages: readonly {
      readonly role: string;
      readonly content: readonly { readonly type: string; readonly cache_control?: object }[];
    }[];
  }

  it("marks the instructions and the two latest turns of the user for the cache, and nothing else", async () => {
    const wire = wireOf("messages");
    const items = [user("go"), call("a"), result("a"), call("b"), call("c"), result("b"), result("c")];
    const body = await parsed<Body>(wire, items, { tools });
    expect(body.system?.map((block) => "cache_control" in block)).toEqual([true]);
    expect(body.tools?.map((tool) => "cache_control" in tool)).toEqual([false, false]);
    expect(body.messages.map(({ role, content }) => [role, content.map((block) => block.cache_control !== undefined)])).toEqual([
      ["user", [false]],
      ["assistant", [false]],
      ["user", [true]],
      ["assistant", [false, false]],
      ["user", [false, true]],
    ]);
    const bare = await parsed<Body>(wire, items, { tools, instructions: "" });
    expect(bare.tools?.map((tool) => "cache_control" in tool)).toEqual([false, true]);
  });

  it("makes one turn of what one role says in a row, results first", async () => {
    const items = [user("one"), user("two"), call("a"), call("b"), result("b"), user("stop"), result("a"), user("now")];
    const { messages } = await parsed<Body>(wireOf("messages"), items);
    expect(messages.map(({ role, content }) => `${role} ${content.map((block) => block.type).join(" ")}`)).toEqual([
      "user text text",
      "assistant tool_use tool_use",
      "user tool_result tool_result text text",
    ]);
  });

  it("sends no thoughts that led to nothing, no blank text, no error with an image in it, no format that is refused", async () => {
    const thought: Item = {
      kind: "reasoning",
      id: "t",
      text: "Hm",
      opaque: { ...own.anthropic, payload: { thinking: "Hm", signature: "S" } },
    };
    const images = [
      { blob: "b1", mediaType: "image/png" },
      { blob: "b1", mediaType: "image/tiff" },
    ];
    const items: Item[] = [
      user("go"),
      thought,
      user("really?"),
      user(" \n"),
      call("a"),
      { ...result("a"), status: "failed", text: "", images } as Item,
    ];
    const { messages } = await parsed<Body>(wireOf("messages"), items, { image: async () => pixel });
    expect(messages.map(({ content }) => content)).toMatchObject([
      [
        { type: "text", text: "go" },
        { type: "text", text: "really?" },
      ],
      [{ type: "tool_use" }],
      [{ type: "tool_result", content: [{ type: "image" }, { type: "text", text: expect.stringContaining("image/tiff") as string }] }],
    ]);
    expect(messages[2]?.content[0]).not.toHaveProperty("is_error");
  });

  it.each([
    [
      "claude-opus-5-5",
      "high",
      { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } }, output_config: { effort: "high" } },
    ],
    ["claude-opus-5-5", null, { thinking: { type: "adaptive", display: "summarized" } }],
    ["claude-opus-4-8", "low", { thinking: { type: "adaptive" }, output_config: { effort: "low" } }],
    ["claude-opus-4-8", "none", { output_config: { effort: "low" } }],
    ["claude-opus-4-8", null, {}],
    ["claude-opus-5", "high", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
    ["claude-sonnet-4.6", "xhigh", { thinking: { type: "adaptive" }, output_config: { effort: "max" } }],
    ["anthropic/claude-fable-5", "minimal", { thinking: { type: "adaptive" }, output_config: { effort: "low" } }],
    ["claude-opus-5", "none", { thinking: { type: "adaptive" }, output_config: { effort: "low" } }],
    ["claude-opus-4-5-20251101", "xhigh", { thinking: { type: "enabled", budget_tokens: 32_000 }, output_config: { effort: "high" } }],
    ["claude-haiku-4-5", "medium", { thinking: { type: "enabled", budget_tokens: 10_000 } }],
    ["claude-sonnet-4-20250514", "low", { thinking: { type: "enabled", budget_tokens: 4_096 } }],
    ["claude-3-7-sonnet-latest", "none", {}],
    ["claude-3-5-haiku-20241022", "high", {}],
    ["deepseek-chat", "low", { thinking: { type: "enabled", budget_tokens: 4_096 } }],
  ])("tells %s to think by effort %s in its own way", async (model, effort, expected) => {
    const { thinking, output_config } = await parsed<Body>(messagesWire({ provider: "anthropic", model }), [user("go")], { effort });
    expect({ ...(thinking && { thinking }), ...(output_config && { output_config }) }).toMatchObject(expected);
    expect([thinking === undefined, output_config === undefined]).toEqual([!("thinking" in expected), !("output_config" in expected)]);
  });

  it("asks for no more tokens than the model gives or the session has, and thinks with fewer", async () => {
    const most = async (model: string, maxOutputTokens: number | null, option?: number) =>
      (
        await parsed<Body>(messagesWire({ provider: "anthropic", model }, { maxOutputTokens: option ?? null }), [user("go")], {
          maxOutputTokens,
        })
      ).max_tokens;
    expect(await most("claude-3-haiku-20240307", null)).toBe(4_096);
    expect(await most("claude-opus-4-1", null)).toBe(32_000);
    expect(await most("claude-opus-5-5", null)).toBe(64_000);
    expect(await most("claude-opus-5-5", 100)).toBe(100);
    expect(await most("claude-opus-5-5", 9_000, 8_000)).toBe(8_000);
    const thinking = async (maxOutputTokens: number) =>
      (
        await parsed<Body>(messagesWire({ provider: "anthropic", model: "claude-haiku-4-5" }), [user("go")], {
          effort: "high",
          maxOutputTokens,
        })
      ).thinking;
    expect(await thinking(5_000)).toEqual({ type: "enabled", budget_tokens: 3_976 });
    expect(await thinking(2_000)).toBeUndefined();
  });
});

it.each(["messages", "gemini"] as const)("half a character in a call's input is sent as a whole one by the %s wire", async (name) => {
  const half: Item = { ...call("a"), input: '{"n":12345678901234567890,"text":"\\ud83d","list":[{"\\ud83d":"\\ud83d\\ude00"}]}' } as Item;
  const text = textOf(await wireOf(name).body(requestOf([user("go"), half])));
  expect(text).toContain('"text":"\ufffd","list":[{"\ufffd":"😀"}]');
  const whole: Item = { ...call("a"), input: '{"n": 12345678901234567890}' } as Item;
  expect(textOf(await wireOf(name).body(requestOf([user("go"), whole])))).toContain('{"n": 12345678901234567890}');
});

describe("the gemini wire", () => {
  interface Body {
    readonly generationConfig?: { readonly thinkingConfig?: object; readonly maxOutputTokens?: number };
    readonly contents: readonly { readonly role: string; readonly parts: readonly Record<string, unknown>[] }[];
  }

  it("answers the calls of a turn in a content of its own, by id and name", async () => {
    const items = [user("go"), call("a"), call("b"), result("b"), { ...result("a"), status: "failed" } as Item, user("now")];
    const { contents } = await parsed<Body>(wireOf("gemini"), items);
    expect(contents.slice(2)).toEqual([
      {
        role: "user",
        parts: [
          { functionResponse: { id: "b", name: "t", response: { output: "b" } } },
          { functionResponse: { id: "a", name: "t", response: { error: "a" } } },
        ],
      },
      { role: "user", parts: [{ text: "now" }] },
    ]);
  });

  it("gives a step's first call what stands for a signature where it has none, from version 3 on", async () => {
    const signatures = async (model: string) =>
      (
        await parsed<Body>(geminiWire({ provider: "google", model }), [
          user("go"),
          call("a"),
          call("b"),
          result("a"),
          result("b"),
          call("c"),
        ])
      ).contents
        .flatMap(({ parts }) => parts)
        .filter((part) => "functionCall" in part)
        .map((part) => part["thoughtSignature"] ?? null);
    const stand = "skip_thought_signature_validator";
    expect(await signatures("gemini-3.1-pro-preview")).toEqual([stand, null, stand]);
    expect(await signatures("gemini-flash-latest")).toEqual([stand, null, stand]);
    expect(await signatures("gemini-2.5-flash")).toEqual([null, null, null]);
    expect(await signatures("gemma-4")).toEqual([null, null, null]);
  });

  it.each([
    ["gemini-3.5-flash", "minimal", { thinkingLevel: "low", includeThoughts: true }],
    ["gemini-3.5-flash", "medium", { thinkingLevel: "medium", includeThoughts: true }],
    ["gemini-3-pro-preview", "medium", { thinkingLevel: "high", includeThoughts: true }],
    ["gemini-pro-latest", "xhigh", { thinkingLevel: "high", includeThoughts: true }],
    ["gemini-2.5-flash", "none", { thinkingBudget: 0, includeThoughts: false }],
    ["gemini-2.5-pro", "none", { thinkingBudget: 128, includeThoughts: true }],
    ["gemini-2.5-pro", "max", { thinkingBudget: 24_576, includeThoughts: true }],
    ["gemini-2.0-flash", "high", undefined],
    ["gemma-4", "high", undefined],
    ["gemini-3.5-flash", null, undefined],
  ])("tells %s to think by effort %s in its own way", async (model, effort, expected) => {
    const body = await parsed<Body>(geminiWire({ provider: "google", model }), [user("go")], { effort });
    expect(body.generationConfig?.thinkingConfig).toEqual(expected);
  });

  it("shows an image of a format it doesn't take as words", async () => {
    const gif: Item = { kind: "user_message", id: "g", trust: "user", parts: [{ type: "image", blob: "b1", mediaType: "image/gif" }] };
    const { contents } = await parsed<Body>(wireOf("gemini"), [gif], { image: async () => pixel });
    expect(contents[0]?.parts).toEqual([{ text: expect.stringContaining("image/gif") as string }]);
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
