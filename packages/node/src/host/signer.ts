import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { link, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Signer } from "@holdfast/runtime";
import { ids } from "./ids.ts";
import { keyIdOf } from "./public-keys.ts";

/** The key of this home, made with the first session. Its id is the beginning of the public key's SHA-256. */
export async function openSigner(path: string): Promise<Signer> {
  const found = await readKey(path);
  if (found !== null) return signerWith(found);
  const { privateKey } = generateKeyPairSync("ed25519");
  const draft = await writeDraft(path, privateKey);
  try {
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

/** The public part of the key in a home, as PEM (SPKI); null where none was made yet. */
export async function publicKeyOf(path: string): Promise<string | null> {
  const key = await readKey(path);
  return key === null ? null : publicPem(key);
}

/** Whether others than its owner can get at the private key. */
export async function isKeyOpen(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && (found.mode & 0o077) !== 0;
}

/** Makes a new key in a file of its own beside the one in use, only for its owner. Returns the file and the new public key. */
export async function draftKey(path: string): Promise<{ readonly draft: string; readonly publicKey: string }> {
  const { privateKey } = generateKeyPairSync("ed25519");
  return { draft: await writeDraft(path, privateKey), publicKey: publicPem(privateKey) };
}

async function writeDraft(path: string, key: KeyObject): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${ids.salt(6)}`;
  await writeFile(draft, key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  return draft;
}

function publicPem(key: KeyObject): string {
  return createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
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
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== "ed25519") throw new Error("another kind of key");
    return key;
  } catch (error) {
    throw new HoldfastError("store_failed", `${path} is damaged: it holds no Ed25519 key`, {
      hint: "move it away; a new key is made, and logs signed with the old one name its id",
      cause: error,
    });
  }
}

function signerWith(key: KeyObject): Signer {
  const publicKey = createPublicKey(key);
  return {
    keyId: keyIdOf(publicKey),
    sign: async (text) => sign(null, Buffer.from(text, "utf8"), key).toString("base64"),
    verify: async (text, signature) => verify(null, Buffer.from(text, "utf8"), publicKey, Buffer.from(signature, "base64")),
  };
}
