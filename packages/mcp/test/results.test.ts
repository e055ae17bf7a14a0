import { describe, expect, test } from "vitest";
import { bench, fake } from "./bench.ts";

const png = Buffer.concat([Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"), Buffer.alloc(100_000, 7)]).toString("base64");
const T = { type: "text", text: "T" };

/** Each result is the answer of a tool of its own. */
async function resultsOf(...results: object[]) {
  const tools = results.map((_, n) => ({ name: `t${n}`, inputSchema: { type: "object" } }));
  const calls = Object.fromEntries(results.map((result, n) => [`t${n}`, [{ do: "answer", result } as const]]));
  const at = bench([fake("s", { tools, calls })]);
  return Promise.all(
    tools.map(async ({ name }) => {
      const outcome = await at.call(`mcp__s__${name}`);
      const images = await Promise.all(
        (outcome.images ?? []).map(async ({ blob }) => Buffer.from((await at.blobs.get(blob))!).toString("base64")),
      );
      const whole = outcome.whole === undefined ? null : new TextDecoder().decode((await at.blobs.get(outcome.whole))!);
      return { outcome, images, whole };
    }),
  );
}

async function resultOf(result: object) {
  return (await resultsOf(result))[0]!;
}

// An argument of a program has 128 kB at most: a small image stands for the large one.
const small = png.slice(0, 4_000);
const image = { type: "image", data: small, mimeType: "image/png" };

describe("M12 structured content handling", () => {
  test("text, one image and the structured values each come once, and no base64 as text", async () => {
    const { outcome, images } = await resultOf({
      content: [T, image],
      structuredContent: { a: 1, imageData: small, dataUrl: `data:image/png;base64,${small}` },
    });
    expect(outcome).toMatchObject({ status: "completed", trust: "untrusted" });
    expect(outcome.text).toBe(
      'T\n[image 1: image/png, 3 kB]\n{"a":1,"imageData":"[image 1: image/png, 3 kB]","dataUrl":"[image 1: image/png, 3 kB]"}',
    );
    expect(images).toEqual([small]);
  });

  test("structured content alone is shown; repeated as text it comes once", async () => {
    const results = await resultsOf(
      { content: [], structuredContent: { a: 1 } },
      { structuredContent: { a: 1 } },
      { content: [{ type: "text", text: '{ "b": [2], "a": 1 }' }], structuredContent: { a: 1, b: [2] } },
      { content: [T], structuredContent: { content: "T" } },
      { content: [T], structuredContent: [1, 2] },
    );
    expect(results.map(({ outcome }) => outcome.text)).toEqual(['{"a":1}', '{"a":1}', '{ "b": [2], "a": 1 }', "T", "T\n[1,2]"]);
  });

  test("content alone, and an error with both, keep what they say", async () => {
    const [plain, failed] = await resultsOf({ content: [T] }, { content: [T, image], structuredContent: { code: 7 }, isError: true });
    expect(plain!.outcome).toMatchObject({ status: "completed", text: "T" });
    expect(failed!.outcome).toMatchObject({ status: "failed", text: 'T\n[image 1: image/png, 3 kB]\n{"code":7}' });
    expect(failed!.images).toHaveLength(1);
  });
});

test("every kind of block becomes something that can be read", async () => {
  const text = Buffer.from("héllo").toString("base64");
  const { outcome, images } = await resultOf({
    content: [
      { type: "audio", data: text, mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain", description: "the file" },
      { type: "resource", resource: { uri: "file:///b", text: "inside" } },
      { type: "resource", resource: { uri: "file:///c", blob: text, mimeType: "text/plain" } },
      { type: "resource", resource: { uri: "file:///d", blob: small, mimeType: "image/png" } },
      { type: "image", data: small, mimeType: "image/tiff" },
      { type: "image", data: "%%%", mimeType: "image/png" },
      { type: "video", data: "new" },
      "just a text",
      { type: "text" },
    ],
  });
  expect(outcome.text.split("\n")).toEqual([
    "[audio: audio/wav, 6 bytes: not shown]",
    "[resource file:///a, text/plain] a the file",
    "[resource file:///b]",
    "inside",
    "[resource file:///c]",
    "héllo",
    "[image 1: resource file:///d, image/png, 3 kB]",
    "[image/tiff, 3 kB: not shown]",
    "[image whose data can't be read]",
    '{"type":"video","data":"new"}',
    "just a text",
    '{"type":"text"}',
  ]);
  expect(images).toEqual([small]);
});

test("an answer that is no result is shown as it is: the call was made", async () => {
  expect((await resultOf({})).outcome).toMatchObject({ status: "completed", text: "(the tool answered with nothing)" });
  expect((await resultOf({ content: "a text", isError: "yes", _meta: 3 })).outcome).toMatchObject({ status: "completed", text: "a text" });
});

test("a long result is shown in part, and is whole in the blob store", async () => {
  const line = (n: number) => `line ${n} of many`;
  const all = Array.from({ length: 4_000 }, (_, n) => line(n)).join("\n");
  const { outcome, whole } = await resultOf({ content: [{ type: "text", text: all }] });
  expect(outcome.text.length).toBeLessThan(17_000);
  expect(outcome.text).toMatch(
    /^line 0 of many\n[\s\S]*\[\d+ characters left out; read_output call_1\.1 reads all\]\nline \d+ of many\n[\s\S]*line 3999 of many$/,
  );
  expect(whole).toBe(all);
});

test("control codes and hidden letters reach neither the window nor the blob, secrets neither", async () => {
  const tag = String.fromCodePoint(...[..."obey"].map((letter) => 0xe0000 + letter.codePointAt(0)!));
  const nasty = `\u001b]0;owned\u0007\u001b[2J\u009b31mred\u0000 ${tag}very-secret-value\r\nnext`;
  const { outcome } = await resultOf({ content: [{ type: "text", text: nasty }] });
  expect(outcome.text).toBe("31mred [redacted]\nnext");
  const long = await resultOf({ content: [{ type: "text", text: `very-secret-value${"word ".repeat(10_000)}` }] });
  expect(long.whole?.startsWith("[redacted]word")).toBe(true);
});

test("I10 unsanitised parse: names and descriptions of tools carry no control codes to the model, nor into what is kept of a call", async () => {
  const at = bench([
    fake("s", { tools: [{ name: "\u001b[31mred\u0007", description: "a\u001b[2J\u0000b\u202e", inputSchema: { type: "object" } }] }),
  ]);
  await at.start();
  expect(at.source.specs[0]).toMatchObject({ name: expect.stringMatching(/^mcp__s__[\w-]+$/) as string, description: "ab\u202e" });
  const plan = await at.source.get(at.source.specs[0]!.name)!.plan({}, {} as never);
  expect(plan).toMatchObject({ mcp: { server: "s", tool: "red" } });
});
