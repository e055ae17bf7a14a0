import { sha256 as digest } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** A SHA-256 over what comes piece by piece. */
export interface Hasher {
  update(content: string | Uint8Array): void;
  /** Hex, of all that came so far; more can follow. */
  digest(): string;
}

export function createHasher(): Hasher {
  const state = digest.create();
  return {
    update: (content) => void state.update(typeof content === "string" ? utf8ToBytes(content) : content),
    digest: () => bytesToHex(state.clone().digest()),
  };
}

/** Hex SHA-256. Synchronous and the same in every host: a store transaction must not span an await. */
export function sha256(content: string | Uint8Array): string {
  return bytesToHex(digest(typeof content === "string" ? utf8ToBytes(content) : content));
}
