import type { ReadOutput } from "./window.ts";

/** Reads what is in memory as an output is read. */
export function readBytes(bytes: Uint8Array): ReadOutput {
  return async (offset, length) => ({ bytes: bytes.subarray(offset, offset + length), size: bytes.length });
}
