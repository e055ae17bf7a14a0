import { lookAtImage } from "./look.ts";

/** An image as it goes into the window. */
export interface FittedImage {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
  /** Its size before it was scaled down; null where it is as it was. */
  readonly from: { readonly width: number; readonly height: number } | null;
}

/**
 * The longest side that models look at: what is larger they scale down themselves (Anthropic's vision guide names 1,568, OpenAI's
 * 2,048), and it is paid for in bytes at each request.
 */
const longestSide = 1_568;
/** An image is made smaller until it has at most so many bytes. */
const mostBytes = 1_500_000;
/** Decoded, a pixel takes four bytes: larger ones are left as they are. */
const mostPixels = 50_000_000;
const jpegQuality = 82;
const smallestSide = 256;
const pngLevel = 3;

/**
 * A PNG or JPEG scaled down to what models look at; null where it is small enough, of another format, or can't be decoded. Pure,
 * and slow for large ones: some hundred ms for ten million pixels.
 */
export async function fitImage(bytes: Uint8Array): Promise<FittedImage | null> {
  const look = lookAtImage(bytes);
  if (look === null || look.size === null || (look.name !== "PNG" && look.name !== "JPEG")) return null;
  const { width, height } = look.size;
  if (width * height > mostPixels) return null;
  if (Math.max(width, height) <= longestSide && bytes.length <= mostBytes) return null;
  const whole = await decode(look.name, bytes).catch(() => null);
  if (whole === null) return null;
  const isPhoto = look.name === "JPEG";
  let side = Math.min(longestSide, Math.max(width, height));
  for (;;) {
    const made = await encode(scaleDown(whole, side), isPhoto);
    if (made.bytes.length <= mostBytes || side === smallestSide) return { ...made, from: { width, height } };
    // As many bytes a pixel, and some more.
    side = Math.max(smallestSide, Math.floor(side * Math.min(0.8, 0.9 * Math.sqrt(mostBytes / made.bytes.length))));
  }
}

/** Four bytes a pixel: red, green, blue, opacity. */
interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

async function decode(name: "PNG" | "JPEG", bytes: Uint8Array): Promise<Pixels> {
  if (name === "JPEG") {
    const { decode: decodeJpeg } = (await import("jpeg-js")).default;
    return decodeJpeg(bytes, { useTArray: true, maxResolutionInMP: mostPixels / 1_000_000, maxMemoryUsageInMB: 1_024 });
  }
  const { decode: decodePng, convertIndexedToRgb } = await import("fast-png");
  const png = decodePng(bytes);
  const isIndexed = png.palette !== undefined;
  const data = isIndexed ? convertIndexedToRgb(png) : png.data;
  const channels = isIndexed ? data.length / (png.width * png.height) : png.channels;
  return { width: png.width, height: png.height, data: asColour(data, channels, png.depth) };
}

/** Grey or colour, with opacity or without, of one or two bytes a channel. */
function asColour(data: ArrayLike<number>, channels: number, depth: number): Uint8Array {
  const count = data.length / channels;
  const out = new Uint8Array(count * 4);
  const shift = depth === 16 ? 8 : 0;
  const isGrey = channels < 3;
  for (let at = 0; at < count; at += 1) {
    const from = at * channels;
    const to = at * 4;
    out[to] = data[from]! >> shift;
    out[to + 1] = data[isGrey ? from : from + 1]! >> shift;
    out[to + 2] = data[isGrey ? from : from + 2]! >> shift;
    out[to + 3] = channels === 2 || channels === 4 ? data[from + channels - 1]! >> shift : 255;
  }
  return out;
}

/** Each new pixel is the mean of those that it covers, weighed by their opacity. */
function scaleDown(whole: Pixels, side: number): Pixels {
  const ratio = Math.min(1, side / Math.max(whole.width, whole.height));
  if (ratio === 1) return whole;
  const width = Math.max(1, Math.round(whole.width * ratio));
  const height = Math.max(1, Math.round(whole.height * ratio));
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    const top = Math.floor((y * whole.height) / height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * whole.height) / height));
    for (let x = 0; x < width; x += 1) {
      const left = Math.floor((x * whole.width) / width);
      const right = Math.max(left + 1, Math.floor(((x + 1) * whole.width) / width));
      let [red, green, blue, opacity] = [0, 0, 0, 0];
      for (let row = top; row < bottom; row += 1) {
        for (let at = (row * whole.width + left) * 4; at < (row * whole.width + right) * 4; at += 4) {
          const weight = whole.data[at + 3]!;
          red += whole.data[at]! * weight;
          green += whole.data[at + 1]! * weight;
          blue += whole.data[at + 2]! * weight;
          opacity += weight;
        }
      }
      const to = (y * width + x) * 4;
      if (opacity > 0) [data[to], data[to + 1], data[to + 2]] = [red / opacity, green / opacity, blue / opacity];
      data[to + 3] = opacity / ((bottom - top) * (right - left));
    }
  }
  return { width, height, data };
}

/** A photo as JPEG; else as PNG, which keeps text sharp, and as JPEG where that would be too much. What shows through stays PNG. */
async function encode({ width, height, data }: Pixels, isPhoto: boolean): Promise<Omit<FittedImage, "from">> {
  // The JPEG encoder builds on what a browser doesn't have.
  const canJpeg = "Buffer" in globalThis && isOpaque(data);
  const asPng = async (): Promise<Omit<FittedImage, "from">> => {
    const { encode: encodePng } = await import("fast-png");
    const bytes = encodePng({ width, height, data, channels: 4, depth: 8 }, { zlib: { level: pngLevel } });
    return { bytes, mediaType: "image/png", width, height };
  };
  if (!canJpeg || !isPhoto) {
    const png = await asPng();
    if (png.bytes.length <= mostBytes || !canJpeg) return png;
  }
  const { encode: encodeJpeg } = (await import("jpeg-js")).default;
  return { bytes: new Uint8Array(encodeJpeg({ width, height, data }, jpegQuality).data), mediaType: "image/jpeg", width, height };
}

function isOpaque(data: Pixels["data"]): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false;
  return true;
}
