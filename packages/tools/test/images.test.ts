import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench();
});
afterEach(() => at.close());

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...part].map((each) => each.charCodeAt(0)) : [...part])));
const png = (width: number, height: number) =>
  bytes([0x89], "PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", [0, 0, width >> 8, width & 255, 0, 0, height >> 8, height & 255, 8, 6, 0, 0, 0]);
const gif = bytes("GIF89a", [3, 0, 2, 0, 0, 0, 0]);
const jpeg = bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc4, 0, 3, 9, 0xff, 0xff, 0xc2, 0, 11, 8, 0, 2, 0, 3, 1, 0, 0, 0]);
const webp = (form: string, rest: readonly number[]) =>
  bytes("RIFF", [0, 0, 0, 0], "WEBP", form, [0, 0, 0, 0], rest, Array(20).fill(0) as number[]);

describe("an image", () => {
  test("is told by its content, whatever its name, and goes along as a blob", async () => {
    for (const [mediaType, content] of [
      ["image/png", png(3, 2)],
      ["image/gif", gif],
      ["image/jpeg", jpeg],
      ["image/webp", webp("VP8X", [0, 0, 0, 0, 2, 0, 0, 1, 0, 0])],
      ["image/webp", webp("VP8L", [0x2f, 0x02, 0x40, 0x00, 0x00])],
      ["image/webp", webp("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 3, 0, 2, 0])],
    ] as const) {
      await at.write("picture.txt", content);
      const outcome = await at.call("view_image", { path: "picture.txt" });
      expect(outcome, `${mediaType} ${outcome.text}`).toMatchObject({ status: "completed", images: [{ mediaType }] });
      expect(outcome.text).toContain("3×2 pixels");
      expect(await at.blobs.get(outcome.images?.[0]?.blob ?? "")).toEqual(content);
    }
  });

  test("that is none, cut off, too large or in an unread format is said to be that, and nothing goes along", async () => {
    const cases: readonly (readonly [string, Uint8Array | string, string])[] = [
      ["a.png", "just text", "is no image"],
      ["empty.png", "", "is no image"],
      ["cut.png", png(3, 2).subarray(0, 20), "damaged or cut off"],
      ["cut.jpg", jpeg.subarray(0, 12), "damaged or cut off"],
      ["odd.jpg", bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0], Array(40).fill(7) as number[]), "damaged or cut off"],
      ["flat.png", png(0, 2), "damaged or cut off"],
      ["wide.png", png(8001, 2), "8001×2 pixels"],
      ["old.bmp", bytes("BM", [1, 0, 0, 0, 0, 0, 0, 0, 0]), "is a BMP image"],
      ["big.gif", new Uint8Array(4_000_000).fill(0).map((_, at) => gif[at] ?? 0), "at most 3750000"],
      ["huge.png", new Uint8Array(40_000_001), "40000000"],
    ];
    for (const [path, content, said] of cases) {
      await at.write(path, content);
      const outcome = await at.call("view_image", { path });
      expect([outcome.status, outcome.text, outcome.images], path).toEqual(["failed", expect.stringContaining(said), undefined]);
    }
    expect((await at.call("view_image", { path: "none.png" })).text).toContain("file_missing");
    expect((await at.call("view_image", { path: "." })).status).toBe("failed");
  });
});
