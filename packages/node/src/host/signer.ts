import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Signer } from "@holdfast/runtime";
import { ids } from "./ids.ts";

/** The key of this home, made with the first session. Its id is the beginning of the public key's SHA-256. */
export async function openSigner(path: string): Promise<Signer> {
  const found = await readKey(path);
  if (found !== null) return signerWith(found);
  const { privateKey } = generateKeyPairSync("ed25519");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${ids.salt(6)}`;
  try {
    await writeFile(draft, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
    // A link is made only where there is none yet: of two processes that start at once, one key stays.
    await link(draft, path);
    return signerWith(privateKey);
  } catch (error) {
    const other = await readKey(path);
    if (other === null) throw new HoldfastError("store_failed", `can't keep a signing key in ${path}`, { cause: error });
    return signerWith(other);
  } finally {
    await rm(draft, { force: true });
  }
}

export function createPassingSigner(): Signer {
  return signerWith(generateKeyPairSync("ed25519").privateKey);
}

async function readKey(path: string): Promise<KeyObject | null> {
  let pem: string;
  try {
    pem = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new HoldfastError("store_failed", `can't read the signing key ${path}`, { hint: "check its permissions", cause: error });
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new HoldfastError("store_failed", `${path} is damaged: it holds no key`, {
      hint: "move it away; a new key is made, and logs signed with the old one name its id",
      cause: error,
    });
  }
}

function signerWith(key: KeyObject): Signer {
  const publicKey = createPublicKey(key);
  const spki = publicKey.export({ type: "spki", format: "der" });
  return {
    keyId: createHash("sha256").update(spki).digest("hex").slice(0, 16),
    sign: async (text) => sign(null, Buffer.from(text, "utf8"), key).toString("base64"),
    verify: async (text, signature) => verify(null, Buffer.from(text, "utf8"), publicKey, Buffer.from(signature, "base64")),
  };
}
