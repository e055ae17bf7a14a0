import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** What is asked for; an answer in another coding is taken as the bytes it has. */
export const acceptedCodings = "gzip, deflate, br";

/**
 * The body without its content coding. One coding alone is undone: more than one is what a bomb has, and no server needs it.
 * Nothing is read ahead of whoever takes the chunks, so stopping early bounds the memory whatever the ratio is.
 */
export function decompressed(message: IncomingMessage): Readable {
  const coding = (message.headers["content-encoding"] ?? "").trim().toLowerCase();
  const decoder =
    coding === "gzip" || coding === "x-gzip"
      ? createGunzip()
      : coding === "deflate"
        ? createInflate()
        : coding === "br"
          ? createBrotliDecompress()
          : null;
  // The failure of either stream ends the other, and shows where the chunks are taken.
  return decoder === null ? message : pipeline(message, decoder, () => undefined);
}
