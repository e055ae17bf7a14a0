import { encode as encodePng, decode as decodePng } from "fast-png";
import jpeg from "jpeg-js";
import { describe, expect, test } from "vitest";
import type { Item } from "@holdfast/protocol";
import { fitImage } from "../src/image/fit.ts";
import { lookAtImage } from "../src/image/look.ts";
import { givenWay, seenBefore } from "../src/kernel/window-images.ts";
import { replaySession } from "../src/session/replay.ts";
import { compactionsOf } from "../src/session/compactions.ts";
import { createTestModel, createTestTool, createWorld, done, portsOf, runPrompt } from "./kit.ts";
import { expectLaw, expectPaired } from "./invariants.ts";

/** Left half red, right half blue, with noise where it is to be large as a file. */
function pixels(width: number, height: number, noise = 0) {
  const data = new Uint8Array(width * height * 4);
  let seed = 1;
  for (let at = 0; at < width * height; at += 1) {
    seed = (seed * 48_271) % 2_147_483_647;
    const isLeft = at % width < width / 2;
    data.set([isLeft ? 255 - (seed % (noise + 1)) : 0, seed % (noise + 1), isLeft ? 0 : 255, 255], at * 4);
  }
  return { width, height, data };
}

describe("an image for the window", () => {
  test("that is larger than models look at is scaled down, and shows the same", async () => {
    const fitted = await fitImage(encodePng({ ...pixels(2_000, 1_000), channels: 4, depth: 8 }));
    expect(fitted).toMatchObject({ mediaType: "image/png", width: 1_568, height: 784, from: { width: 2_000, height: 1_000 } });
    const { data } = decodePng(fitted!.bytes);
    expect([...data.slice(0, 4)]).toEqual([255, 0, 0, 255]);
    expect([...data.slice(-4)]).toEqual([0, 0, 255, 255]);
  });

  test("that is large as a file gets smaller until it is not", async () => {
    const bytes = encodePng({ ...pixels(1_100, 1_100, 250), channels: 4, depth: 8 }, { zlib: { level: 1 } });
    expect(bytes.length).toBeGreaterThan(1_500_000);
    const fitted = await fitImage(bytes);
    expect(fitted!.bytes.length).toBeLessThanOrEqual(1_500_000);
    expect(lookAtImage(fitted!.bytes)).toMatchObject({ mediaType: fitted!.mediaType, size: { width: fitted!.width } });
  });

  test("that is a photo stays one", async () => {
    const fitted = await fitImage(new Uint8Array(jpeg.encode(pixels(1_800, 200), 90).data));
    expect(fitted).toMatchObject({ mediaType: "image/jpeg", width: 1_568, height: 174 });
    expect(lookAtImage(fitted!.bytes)).toMatchObject({ mediaType: "image/jpeg", size: { width: 1_568, height: 174 } });
  });

  test("stays as it is where it is small, damaged or of a format that isn't decoded", async () => {
    expect(await fitImage(encodePng({ ...pixels(200, 100), channels: 4, depth: 8 }))).toBeNull();
    expect(await fitImage(encodePng({ ...pixels(2_000, 50), channels: 4, depth: 8 }).slice(0, 200))).toBeNull();
    expect(await fitImage(new TextEncoder().encode("GIF89a"))).toBeNull();
    expect(await fitImage(new Uint8Array())).toBeNull();
  });

  test.each([1, 2, 3])("may have %i channels, or sixteen bits in each", async (channels) => {
    const data = new Uint16Array(1_600 * 2 * channels).fill(0xabcd);
    const fitted = await fitImage(encodePng({ width: 1_600, height: 2, data, channels, depth: 16 }));
    expect(decodePng(fitted!.bytes).data[0]).toBe(0xab);
  });
});

/** Screenshots as results of a tool, each of so many bytes; `blobOf` tells which image it is. */
async function shots(count: number, bytes: number, blobOf = (n: number): string => `blob${n}`, settings: object = {}) {
  let taken = 0;
  const tool = createTestTool({
    name: "shot",
    run: async () => done(`shot ${(taken += 1)}`, { images: [{ blob: blobOf(taken), mediaType: "image/png", bytes }] }),
  });
  let asked = 0;
  const model = createTestModel(() => ((asked += 1) <= count ? { calls: [{ name: "shot", input: { asked } }] } : { text: "done" }));
  const world = createWorld({ model, tools: [tool] });
  const ports = portsOf(world);
  const { session, end } = await runPrompt(ports, settings);
  return { world, ports, session, end, model };
}

const blobsOf = (items: readonly Item[]): string[] =>
  items.flatMap((item) => (item.kind === "tool_result" ? (item.images ?? []).map(({ blob }) => blob) : []));

describe("images in a window", () => {
  test("retained payload (K08): of thirty screenshots of a megabyte a request never shows more than four, and no compaction is needed", async () => {
    const { world, ports, session, end, model } = await shots(30, 1_000_000);
    expect(end.standing).toBe("unverified");
    const shown = model.requests.map(({ items }) => blobsOf(items));
    expect(Math.max(...shown.map(({ length }) => length))).toBe(4);
    for (const [n, blobs] of shown.entries()) if (n > 0) expect(blobs.at(-1)).toBe(`blob${n}`);
    for (const { items } of model.requests) expectPaired(items);
    expect(JSON.stringify(model.requests.at(-1)!.items)).toContain(givenWay);
    expect(await compactionsOf(world, session)).toEqual([]);
    await expectLaw(world.log, session);
    const replayed = await replaySession(
      { log: world.log, blobs: world.blobs, director: ports.director, bodyDigest: async () => null },
      session,
    );
    expect(replayed.departure).toBeNull();
  });

  test("stay, and with them all that was sent before, while there are few", async () => {
    const { model } = await shots(4, 900_000);
    expect(blobsOf(model.requests.at(-1)!.items)).toHaveLength(4);
    const [before, last] = model.requests.slice(-2).map(({ items }) => items);
    expect(last!.slice(0, before!.length).every((item, at) => item === before![at])).toBe(true);
  });

  test("are shown once: the same again comes as a word", async () => {
    const { model } = await shots(3, 10, () => "same");
    const { items } = model.requests.at(-1)!;
    expect(blobsOf(items)).toEqual(["same"]);
    expect(items.filter((item) => item.kind === "tool_result" && item.text.includes(seenBefore))).toHaveLength(2);
  });
});
