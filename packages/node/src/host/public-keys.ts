import { createHash, createPublicKey, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { KnownKeys } from "@holdfast/runtime";

/** An Ed25519 public key with the name it goes by here. */
export interface PublicKey {
  readonly keyId: string;
  readonly name: string;
  /** SPKI. */
  readonly pem: string;
  readonly key: KeyObject;
}

/** Sixteen hex digits of the SHA-256 over the public key (SPKI, DER). */
export function keyIdOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex")
    .slice(0, 16);
}

/** Null where the text holds no Ed25519 public key. A private key is taken for none: it isn't what should be handed around. */
export function readPublicKey(pem: string, name: string): PublicKey | null {
  if (!/^-----BEGIN PUBLIC KEY-----$/m.test(pem)) return null;
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== "ed25519") return null;
    return { keyId: keyIdOf(key), name, pem: key.export({ type: "spki", format: "pem" }).toString(), key };
  } catch {
    return null;
  }
}

/** Ed25519 over the UTF-8 bytes of `text`; `signature` is base64, of exactly 64 bytes. */
export function holds({ key }: PublicKey, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64");
  return bytes.length === 64 && verify(null, Buffer.from(text, "utf8"), key, bytes);
}

export function knownKeys(keys: readonly PublicKey[]): KnownKeys {
  return {
    async verify(keyId, text, signature) {
      const found = keys.find((key) => key.keyId === keyId);
      return found === undefined ? null : holds(found, text, signature);
    },
  };
}
