import { sha256 as digest } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Hex SHA-256. Synchronous and the same in every host: a store transaction must not span an await. */
export function sha256(content: string | Uint8Array): string {
  return bytesToHex(digest(typeof content === "string" ? utf8ToBytes(content) : content));
}
