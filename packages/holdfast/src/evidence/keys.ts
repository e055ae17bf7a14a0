import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { draftKey, publicKeyOf } from "@holdfast/node/host/signer";
import type { PublicKey } from "@holdfast/node/host/public-keys";
import { readPublicKey } from "@holdfast/node/host/public-keys";
import { readBoundedFile } from "../cli/bounded.ts";
import { writeAtomically } from "../config/home.ts";

/** The public keys that count in a home. */
export interface HomeKeys {
  /** Of the key that signs here; null where none was made yet. */
  readonly own: PublicKey | null;
  /** Of keys that signed here before. */
  readonly replaced: readonly PublicKey[];
  /** Of others, by the names they were given here. */
  readonly others: readonly PublicKey[];
}

const mostBytes = 64 * 1024;

export function signingKeyPath(home: string): string {
  return join(home, "keys", "signing.pem");
}

const replacedFolder = (home: string): string => join(home, "keys", "replaced");
const othersFolder = (home: string): string => join(home, "keys", "others");

export async function readKeys(home: string): Promise<HomeKeys> {
  const [pem, replaced, others] = await Promise.all([
    publicKeyOf(signingKeyPath(home)),
    readFolder(replacedFolder(home)),
    readFolder(othersFolder(home)),
  ]);
  return { own: pem === null ? null : readPublicKey(pem, "this home"), replaced, others };
}

/** All that count, each with how it is called where a signature is shown. */
export function allKeys({ own, replaced, others }: HomeKeys): readonly PublicKey[] {
  const before = replaced.map((key) => ({ ...key, name: "this home, a key that was replaced since" }));
  return [...(own === null ? [] : [own]), ...before, ...others];
}

/** A public key from a file that somebody names. Throws `key_invalid`. */
export async function readKeyFile(file: string, cwd: string, name: string): Promise<PublicKey> {
  const path = resolve(cwd, file);
  const bytes = await readBoundedFile(path, mostBytes).catch((error: unknown) => {
    throw new HoldfastError("key_invalid", `${file} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const text = bytes?.toString() ?? "";
  const key = readPublicKey(text, name);
  if (key !== null) return key;
  const isPrivate = text.includes("PRIVATE KEY");
  throw new HoldfastError("key_invalid", `${file} holds ${isPrivate ? "a private key" : "no Ed25519 public key (PEM, SPKI)"}`, {
    hint: isPrivate
      ? "keep it where it is; holdfast keys show, in the home that it signs for, prints the public one"
      : "holdfast keys show, in the other home, prints one",
  });
}

/** Throws `usage` for a name that is no name, `file_exists` where it stands for another key. */
export async function addKey(home: string, name: string, key: PublicKey): Promise<void> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw new HoldfastError("usage", `${JSON.stringify(name)} is no name for a key`, { hint: "letters, digits, ., _ and -, at most 64" });
  }
  const known = (await readFolder(othersFolder(home))).find((one) => one.name === name);
  if (known !== undefined && known.keyId !== key.keyId) {
    throw new HoldfastError("file_exists", `${name} is the key ${known.keyId} here`, {
      hint: `holdfast keys remove ${name} takes it away`,
    });
  }
  await mkdir(othersFolder(home), { recursive: true, mode: 0o700 });
  await writeAtomically(join(othersFolder(home), `${name}.pem`), key.pem, 0o600);
}

/** Takes away a key of others by its name, or one that signed here before by its id. The key in use can only be replaced. */
export async function removeKey(home: string, named: string): Promise<PublicKey> {
  const { replaced, others } = await readKeys(home);
  const other = others.find(({ name }) => name === named);
  const found = other ?? replaced.find(({ keyId }) => keyId === named);
  if (found === undefined) {
    throw new HoldfastError("usage", `there is no key ${JSON.stringify(named)} that could be taken away`, {
      hint: "holdfast keys list shows them; the key that signs here can be replaced: holdfast keys rotate",
    });
  }
  await rm(other === undefined ? join(replacedFolder(home), `${found.keyId}.pem`) : join(othersFolder(home), `${found.name}.pem`));
  return found;
}

/** From now on another key signs here. The public part of the one before is kept, so that what it signed still shows. */
export async function rotateKey(home: string): Promise<PublicKey> {
  const path = signingKeyPath(home);
  const before = await publicKeyOf(path);
  if (before !== null) {
    const key = readPublicKey(before, "");
    await mkdir(replacedFolder(home), { recursive: true, mode: 0o700 });
    if (key !== null) await writeAtomically(join(replacedFolder(home), `${key.keyId}.pem`), key.pem, 0o600);
  }
  const { draft, publicKey } = await draftKey(path);
  await rename(draft, path);
  const made = readPublicKey(publicKey, "this home");
  if (made === null) throw new HoldfastError("internal", "the new key can't be read");
  return made;
}

async function readFolder(folder: string): Promise<PublicKey[]> {
  const names = await readdir(folder).catch(() => []);
  const keys = await Promise.all(
    names
      .filter((name) => name.endsWith(".pem") && !name.startsWith("."))
      .toSorted()
      .map(async (name) => readPublicKey(await readFile(join(folder, name), "utf8").catch(() => ""), name.slice(0, -".pem".length))),
  );
  return keys.flatMap((key) => (key === null ? [] : [key]));
}
