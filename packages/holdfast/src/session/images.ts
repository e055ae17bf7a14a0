import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";

/** Providers take no larger ones. */
const mostBytes = 20 * 1024 * 1024;

/** The media type that the first bytes say, whatever the name says. Null for what no provider reads. */
function imageType(bytes: Uint8Array): string | null {
  const ascii = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (bytes[0] === 0x89 && ascii(1, 8) === "PNG\r\n\u001a\n") return "image/png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (ascii(0, 6) === "GIF87a" || ascii(0, 6) === "GIF89a") return "image/gif";
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return "image/webp";
  return null;
}

/** Throws `usage` for what is no image, is missing, or is too large. */
export async function readImage(file: string, cwd: string): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const path = resolve(cwd, file);
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) throw new HoldfastError("usage", `--image: there is no file ${path}`);
  if (found.size > mostBytes) {
    throw new HoldfastError("usage", `--image: ${path} has ${found.size} bytes`, { hint: `at most ${mostBytes} bytes are sent` });
  }
  const bytes = new Uint8Array(await readFile(path));
  const mediaType = imageType(bytes);
  if (mediaType === null) {
    throw new HoldfastError("usage", `--image: ${path} is no PNG, JPEG, GIF or WebP image`, { hint: "convert it to one of these" });
  }
  return { bytes, mediaType };
}
