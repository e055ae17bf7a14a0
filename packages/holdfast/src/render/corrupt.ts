import { isHoldfastError } from "@holdfast/protocol/error";
import type { Io } from "../cli/io.ts";
import { sanitize } from "./sanitize.ts";

/** Of several sessions one that can't be read at all is told, and the others are looked at as well: null for it. */
export async function unlessCorrupt<T>(io: Io, session: string, look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (!isHoldfastError(error, "session_corrupt")) throw error;
    const hint = error.hint === undefined ? "" : `; ${error.hint}`;
    io.stderr.write(`${session}: ${sanitize(`${error.message} (${error.code})${hint}`)}\n`);
    return null;
  }
}
